"""A sequence-labelling corpus that every Python installation includes: the source of the standard library.

A sequence is a logical line, and every token is labelled with its role in the syntax tree (see
`parsimon.data.python_labels` for the labels). Nothing is downloaded.
"""

from __future__ import annotations

import os
import random
import sys
import sysconfig
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from parsimon.data.python_labels import LabelSequences, Sequences, label_python
from parsimon.errors import ParsimonError
from parsimon.files import write_atomically

# Generated code, data tables, and code that is not part of the library itself.
_SKIPPED_FOLDERS = {
    "__phello__",
    "__pycache__",
    "_bundled",
    "dist-packages",
    "encodings",
    "idlelib",
    "lib-dynload",
    "lib2to3",
    "pydoc_data",
    "site-packages",
    "test",
    "tests",
    "turtledemo",
}
_SKIPPED_PREFIXES = ("_sysconfigdata", "_sysconfig_vars", "config-")
_SMALLEST_FILE = 500  # bytes; smaller files contain hardly any code
_LARGEST_FILE = 150_000  # bytes; a larger file would dominate the corpus
_LONGEST_LINE = 500  # tokens; a longer logical line is a data table


@dataclass(frozen=True, repr=False)
class CodeCorpus:
    """Labelled lines of Python: `X[i]` has the (text, type) pairs of a line, `y[i]` its labels.

    `files[i]` is the module that contains the line.

    >>> corpus = load_python_code(3)
    >>> len(corpus.X[0]) == len(corpus.y[0])
    True
    """

    X: Sequences
    y: LabelSequences
    files: list[str]

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        return (
            f"CodeCorpus({len(set(self.files))} modules, {len(self):,} lines, "
            f"{self.n_tokens:,} tokens, {len(self.labels)} labels)"
        )

    @property
    def n_tokens(self) -> int:
        """How many tokens there are."""
        return sum(map(len, self.X))

    @property
    def labels(self) -> list[str]:
        """The labels that occur, sorted."""
        return sorted(set().union(*self.y))

    def split(self, test_size: float = 0.25, seed: int = 0) -> tuple[CodeCorpus, CodeCorpus]:
        """Split into training and test corpora by module, so that no file has lines in both.

        >>> corpus = load_python_code(8)
        >>> train, test = corpus.split()
        >>> len(set(train.files)), len(set(test.files))
        (6, 2)
        """
        modules = sorted(set(self.files))
        if not 0 < test_size < 1:
            raise ParsimonError(f"test_size is {test_size!r}; give the test modules' share, between 0 and 1.")
        if len(modules) < 2:
            raise ParsimonError(
                f"a corpus of {len(modules)} module(s) cannot be split by module; load at least two."
            )
        random.Random(seed).shuffle(modules)
        n_test = min(max(round(test_size * len(modules)), 1), len(modules) - 1)
        test = set(modules[:n_test])
        return self._select(set(modules) - test), self._select(test)

    def _select(self, modules: set[str]) -> CodeCorpus:
        chosen = [i for i, name in enumerate(self.files) if name in modules]
        return CodeCorpus(
            [self.X[i] for i in chosen], [self.y[i] for i in chosen], [self.files[i] for i in chosen]
        )

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write CoNLL columns: tab-separated text, type and label, and a blank line after every sequence."""
        sequences = (
            "".join("\t".join((*token, label)) + "\n" for token, label in zip(tokens, labels, strict=True))
            for tokens, labels in zip(self.X, self.y, strict=True)
        )
        try:
            write_atomically(Path(path), "".join(f"{sequence}\n" for sequence in sequences).encode())
        except OSError as error:
            raise ParsimonError(f"cannot write {path} ({error.strerror}); give a writable path.") from error


def load_python_code(n_modules: int = 60, *, seed: int = 0, max_tokens: int | None = 150_000) -> CodeCorpus:
    """The tokens of a random sample of standard-library modules, labelled with their roles.

    The sample depends only on the Python version and the seed. Test suites, generated tables, files below 500 bytes or
    above 150 kB and logical lines of more than 500 tokens are left out. The sample ends early before it exceeds
    `max_tokens` tokens; None means no limit.

    >>> corpus = load_python_code(5, max_tokens=2000)
    >>> corpus.n_tokens <= 2000
    True
    >>> "function-def" in corpus.labels
    True
    """
    if n_modules < 1:
        raise ParsimonError(f"n_modules is {n_modules}; give at least 1.")
    if max_tokens is not None and max_tokens < 1:
        raise ParsimonError(f"max_tokens is {max_tokens}; give at least 1, or None for no limit.")
    root = Path(sysconfig.get_path("stdlib"))
    paths = sorted(_module_files(root), key=lambda path: path.as_posix())
    if not paths:
        raise ParsimonError(
            f"there is no Python source in {root}; use a Python whose standard library is installed as files."
        )
    random.Random(seed).shuffle(paths)
    left = sys.maxsize if max_tokens is None else max_tokens
    corpus = CodeCorpus([], [], [])
    for module, tokens, labels in _lines(root, paths, n_modules):
        left -= len(tokens)
        if left < 0:
            break
        corpus.files.append(module)
        corpus.X.append(tokens)
        corpus.y.append(labels)
    return corpus


def _lines(
    root: Path, paths: list[Path], n_modules: int
) -> Iterator[tuple[str, list[tuple[str, str]], list[str]]]:
    """The module, tokens and labels of every logical line in the first `n_modules` readable files."""
    for path in paths:
        if n_modules == 0:
            return
        try:
            with tokenize.open(path) as file:
                X, y = label_python(file.read(), path.name)
        except (OSError, SyntaxError, UnicodeError, ParsimonError):
            continue  # not valid source for this version of Python
        n_modules -= bool(X)  # a file with only comments does not count
        module = ".".join(path.relative_to(root).with_suffix("").parts)
        for tokens, labels in zip(X, y, strict=True):
            if len(tokens) <= _LONGEST_LINE:
                yield module, tokens, labels


def _module_files(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if _is_library(name)]
        for name in filter(_is_library, files):
            path = Path(folder, name)
            if (
                path.suffix == ".py"
                and path.is_file()
                and _SMALLEST_FILE <= path.stat().st_size <= _LARGEST_FILE
            ):
                yield path


def _is_library(name: str) -> bool:
    return name not in _SKIPPED_FOLDERS and not name.startswith(_SKIPPED_PREFIXES)
