"""Checkpoints: training that goes on from one."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

from fuzz.material import TRAININGS, inside, training
from fuzz.mutations import change_safetensors
from fuzz.target import Target, command, numbers_only

MARK = b"training: "  # the first line of an input names the training; the checkpoint follows


class Checkpoints(Target):
    name = "checkpoints"

    def made(self) -> list[bytes]:
        files = [(name, file) for name in TRAININGS for file in sorted(self.material.glob(f"{name}.*.ckpt"))]
        return [MARK + name.encode() + b"\n" + file.read_bytes() for name, file in files]

    def change(self, content: bytes, choose: Random) -> bytes:
        first, _, checkpoint = content.partition(b"\n")
        return first + b"\n" + change_safetensors(checkpoint, choose, "parsimon-checkpoint", signed)

    def run(self, content: bytes, folder: Path) -> None:
        first, _, checkpoint = content.partition(b"\n")
        name = first.removeprefix(MARK).decode(errors="replace")
        (folder / "a.model.ckpt").write_bytes(checkpoint)
        (folder / "a.model").unlink(missing_ok=True)
        with inside(self.material):
            arguments = training(name if name in TRAININGS else "sequence")
            numbers_only(command(*arguments, "-m", folder / "a.model", "--resume", "--json"))


def signed(header: str, arrays: dict[str, Any]) -> str:
    """The metadata of a checkpoint whose digest is right, so that the change behind it is seen."""
    from parsimon.tasks.checkpoint import _digest

    return json.dumps({"digest": _digest(header, arrays), "header": header})


TARGETS = [Checkpoints]
