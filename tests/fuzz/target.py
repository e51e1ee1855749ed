"""What is attacked: where inputs come from, what is done with one, and which answers are right."""

from __future__ import annotations

import re
import traceback
import zlib
from abc import ABC, abstractmethod
from pathlib import Path
from random import Random
from typing import ClassVar

from click.testing import CliRunner

from parsimon.cli import program
from parsimon.errors import ParsimonError

CORPUS = Path(__file__).parent / "corpus"
NO_NUMBER = re.compile(r"(?<![\w.-])[-+]?(?:nan|inf|infinity)\b", re.IGNORECASE)


class Wrong(Exception):
    """An answer that is not allowed, such as a message of several lines."""


class Target(ABC):
    """A way into the program. `material` is a folder with data and models of every kind (material.py)."""

    name: ClassVar[str]
    allowed: ClassVar[tuple[type[BaseException], ...]] = (ParsimonError,)

    def __init__(self, material: Path) -> None:
        self.material = material

    def inputs(self) -> list[bytes]:
        """What mutations begin with: the files of the corpus, and what is made on the spot."""
        return [*self.made(), *self.corpus()]

    def corpus(self) -> list[bytes]:
        """What was answered wrongly before."""
        return [path.read_bytes() for path in sorted((CORPUS / self.name).glob("*"))]

    def made(self) -> list[bytes]:
        """Inputs that are no files of the corpus, such as models, which are those of this version."""
        return []

    @abstractmethod
    def change(self, content: bytes, choose: Random) -> bytes:
        """One mutation."""

    @abstractmethod
    def run(self, content: bytes, folder: Path) -> None:
        """Uses an input. Files may be written in the folder. What else depends on the input is drawn from it."""

    def input(self, seed: int, number: int) -> bytes:
        """The input of that number, always the same for a seed."""
        choose = Random(f"{self.name} {seed} {number}")
        content = choose.choice(self.inputs())
        for _ in range(choose.choice([1, 1, 2, 4])):
            content = self.change(content, choose)
        return content

    def finding(self, content: bytes, folder: Path) -> str | None:
        """What is wrong with the answer to an input: in the first line what and where, then all of it."""
        try:
            self.run(content, folder)
        except self.allowed:
            return None
        except Wrong as wrong:
            return str(wrong)
        except (Exception, SystemExit) as error:
            at = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{type(error).__name__} at {Path(at.filename).name}:{at.lineno}"
            return where + "\n" + "".join(traceback.format_exception(error))
        return None


def drawn_from(content: bytes) -> Random:
    """Choices that go with an input, so that the file alone says what happens."""
    return Random(zlib.crc32(content))


def command(*arguments: object, quiet: bool = False) -> str:
    """Runs a command here. It must end well, or with code 2 and one line about the input."""
    result = CliRunner().invoke(program, [str(each) for each in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    said = result.stderr.strip()
    if result.exit_code not in (0, 2):
        raise Wrong(f"exit code {result.exit_code} of {arguments[0]}\n{result.output}")
    sentences = all(
        line.startswith("parsimon: ") for line in said.splitlines()
    )  # notices may come before the error
    if result.exit_code == 2 and not sentences and "Try 'parsimon" not in said:
        raise Wrong(f"a message of {len(said.splitlines())} lines from {arguments[0]}\n{said}")
    if "not enough memory" in said:
        raise Wrong(f"memory without end in {arguments[0]}\n{said}")
    if result.exit_code == 2:
        raise ParsimonError(said)
    return result.stdout


def numbers_only(shown: str, content: bytes = b"") -> None:
    """What a command prints has no NaN and no infinity in it, unless the input has."""
    given = (content.decode(encoding, "replace") for encoding in ("latin-1", "utf-8"))
    if NO_NUMBER.search(shown) and not any(map(NO_NUMBER.search, given)):
        raise Wrong(f"a number that is none is printed\n{shown[:2000]}")
