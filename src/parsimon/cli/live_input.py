"""Standard input as it comes: in large blocks from a file, at once from whoever waits for an answer."""

from __future__ import annotations

import io
import select

PAUSE = 0.01  # seconds of silence after which what has come so far is handed over


class LiveInput(io.FileIO):
    """Reads a file descriptor; `read` returns early when nothing more comes for a moment.

    So a program that writes one sequence down a pipe gets its labels without closing the pipe first.
    """

    def __init__(self, descriptor: int = 0) -> None:
        super().__init__(descriptor, "rb", closefd=False)
        self._ended = False

    def read(self, size: int | None = -1, /) -> bytes:
        """Up to `size` bytes; none at the end."""
        parts: list[bytes] = []
        room = size if size is not None and size >= 0 else 1 << 30
        while room and not self._ended:
            if parts and not select.select([self.fileno()], [], [], PAUSE)[0]:
                break
            part = super().read(room) or b""
            self._ended = not part
            parts.append(part)
            room -= len(part)
        return b"".join(parts)
