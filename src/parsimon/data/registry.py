"""The registered data sets: where to download each, its checksum, and access to its files.

An archive is searched for in `$PARSIMON_DATA/<name>/`, then in the cache (`$PARSIMON_CACHE`, or the user's cache
folder). It is downloaded into the cache only if it is in neither. The checksum is always verified. To add a data
set, add an entry to `REGISTRY`.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal

from parsimon.errors import ParsimonError
from parsimon.files import write_atomically

if TYPE_CHECKING:
    from parsimon.features.columns import Columns, Labels


@dataclass(frozen=True)
class RemoteFile:
    """The URL and checksum of a file.

    Some files are available at their URL only in another form, so they cannot be downloaded automatically. For those,
    `manual_step` says what to do with the file that is there.
    """

    url: str
    sha256: str
    manual_step: str = ""


@dataclass(frozen=True)
class DataSet:
    """A public data set: its archives by file name, a description, and its terms of use."""

    name: str
    files: Mapping[str, RemoteFile]
    description: str
    terms: str


_NLTK = "https://raw.githubusercontent.com/nltk/nltk_data/gh-pages/packages/corpora"
_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/undocumented/connectionist-bench"

REGISTRY: dict[str, DataSet] = {
    data_set.name: data_set
    for data_set in (
        DataSet(
            name="conll2000",
            files={
                "conll2000.zip": RemoteFile(
                    url=f"{_NLTK}/conll2000.zip",
                    sha256="01e65164f268366e7caa0db92332a1955d081908c87016e2c7640c3c5279b7cd",
                )
            },
            description="Chunking of English newswire: word, part of speech and chunk tag (IOB2), "
            "8,936 training and 2,012 test sentences (Tjong Kim Sang and Buchholz 2000).",
            terms="Freely available from the CoNLL-2000 shared task.",
        ),
        DataSet(
            name="conll2002",
            files={
                "conll2002.zip": RemoteFile(
                    url=f"{_NLTK}/conll2002.zip",
                    sha256="64440e49236d0d393e08e0b266284966d68e2d2a82a50cc41b8e96d98c03b5c8",
                )
            },
            description="Named entities in Spanish and Dutch newswire: word, part of speech and entity tag "
            "(IOB2), 8,323 and 15,806 training sentences (Tjong Kim Sang 2002).",
            terms="For research in the context of the CoNLL-2002 shared task only; no commercial use.",
        ),
        DataSet(
            name="nettalk",
            files={
                "nettalk.data.gz": RemoteFile(
                    url=f"{_UCI}/nettalk/nettalk.data",
                    sha256="bcf4ac0236e69814c41cf5fbf34fe392c35bed4a56cdc2db4ae7877084af99ab",
                    manual_step="give the path of that file to load_nettalk",
                )
            },
            description="Pronunciations of 20,008 English words: phonemes, stress and syllables, aligned with "
            "the letters (Sejnowski and Rosenberg 1987).",
            terms="Copyright 1988 Terrence J. Sejnowski; for non-commercial research.",
        ),
        DataSet(
            name="treebank_pos",
            files={
                "treebank.zip": RemoteFile(
                    url=f"{_NLTK}/treebank.zip",
                    sha256="9da92d76c3666cfb6cddeaed0f7e86b344cce0f0928a286d439e555f19c37399",
                )
            },
            description="A sample of the Penn Treebank, English newswire: words, parts of speech and trees of "
            "3,914 sentences (Marcus, Santorini and Marcinkiewicz 1993).",
            terms="A 5 % fragment of the treebank, (C) LDC 1995, under fair use; no commercial use.",
        ),
        DataSet(
            name="brown",
            files={
                "brown.zip": RemoteFile(
                    url=f"{_NLTK}/brown.zip",
                    sha256="9b275f9b3b95d7bd66ccfb7cd259f445a13bbe5d1f4107aba09fd3e8364bafa6",
                )
            },
            description="The Brown corpus of American English, 500 texts in fifteen categories: words and parts "
            "of speech of 57,340 sentences (Francis and Kučera 1964).",
            terms="Redistribution permitted by the copyright holder; no commercial use.",
        ),
        DataSet(
            name="news20",
            files={
                "20news-bydate-8groups.tar.xz": RemoteFile(
                    url="https://qwone.com/~jason/20Newsgroups/20news-bydate.tar.gz",
                    sha256="1ec74c9ad7f4ed48c3e1c350e87e45e20d8cd52ec648852564ec3bc8018c8f50",
                    manual_step="give the path of that file to load_news20",
                )
            },
            description="20 Newsgroups split by date, eight groups for four two-class tasks: 4,631 training and "
            "3,080 test messages with their headers (Lang 1995).",
            terms="None stated; collected from public newsgroups.",
        ),
        DataSet(
            name="movie_reviews",
            files={
                "movie_reviews.zip": RemoteFile(
                    url=f"{_NLTK}/movie_reviews.zip",
                    sha256="a41211ae685019137410268134db6a1a14428c89b671eb83056151a878539008",
                )
            },
            description="2,000 film reviews, half of them positive, in 64,720 tokenised sentences "
            "(Pang and Lee 2004, polarity data set 2.0).",
            terms="CC BY 4.0.",
        ),
        DataSet(
            name="amazon",
            files={
                "amazon_sorted_data_acl_labelled.tar.xz": RemoteFile(
                    url="https://www.cs.jhu.edu/~mdredze/datasets/sentiment/domain_sentiment_data.tar.gz",
                    sha256="e44441901ddd5f98a796836a75a17f2cbcec58284a60477da1cf2422f2e14fc5",
                    manual_step="give the path of that file to load_amazon",
                )
            },
            description="Reviews of books, DVDs, electronics and kitchenware, 1,000 positive and 1,000 negative "
            "reviews of each (Blitzer, Dredze and Pereira 2007).",
            terms="None stated; used for research.",
        ),
        DataSet(
            name="ocr_letters",
            files={
                "letter.data.gz": RemoteFile(
                    url="https://ai.stanford.edu/~btaskar/ocr/letter.data.gz",
                    sha256="4af0262b73aec13811e93213a019fa60cdd476364ebe736329363f5caf7eb5c0",
                    # That file numbers letters and words differently, which makes no difference to the loader.
                    manual_step="give the path of that file to load_ocr_letters",
                )
            },
            description="6,877 handwritten words: 52,152 letters of 16 × 8 pixels, in ten folds "
            "(Kassel 1995; Taskar, Guestrin and Koller 2003).",
            terms="None stated; freely available.",
        ),
        DataSet(
            name="danish_ddt",
            files={
                "cdt_danish_ddt_conll.tar.xz": RemoteFile(
                    url="https://github.com/mbkromann/copenhagen-dependency-treebank",
                    sha256="d6b49679d9e72062f6d06639f51f6aeb38b158ed59ce68efbc00ab6658a365ac",
                    manual_step="read its *-da.conll files with read_treebank",
                )
            },
            description="The Danish Dependency Treebank in its Copenhagen release: 5,638 sentences of 536 texts, "
            "100,195 words with lemma, morphology, head and relation (Kromann 2003).",
            terms="CC BY-SA 4.0, MIT or GPL.",
        ),
        DataSet(
            name="conll2007",
            files={
                "conll2007.zip": RemoteFile(
                    url=f"{_NLTK}/conll2007.zip",
                    sha256="b1e2865b31cdbc016a437c29dc3e190042ef2e237b21ba2a69082b7dc1c007ca",
                )
            },
            description="Spanish and Basque dependency trees from the CoNLL shared tasks: 2,949 and 2,595 training "
            "sentences, 563 and 580 test sentences (Buchholz and Marsi 2006; Nivre et al. 2007).",
            terms="CC BY-NC-ND.",
        ),
        DataSet(
            name="ud",
            files={
                f"UD_{treebank}.tar.xz": RemoteFile(
                    url=f"https://github.com/UniversalDependencies/UD_{treebank.removesuffix('-2023')}",
                    sha256=checksum,
                    manual_step="read its .conllu files with read_treebank",
                )
                for treebank, checksum in (
                    ("English-EWT", "e0b22dc353d4be0a722c4284986731cd09b5ac02cebc59a8cc081e149e7fbb2b"),
                    ("Hungarian-Szeged", "059b86754a4d4bf415e695927fe9f7f59eedf5de3cbb3c19ea30de212ee67edf"),
                    ("Portuguese-Bosque", "2eed328955626d32aa7e8b8cc79cbc4d8d148facae88638d450c8a8d4a4e1e9c"),
                    (
                        "Slovenian-SST-2023",
                        "05576bffe49c427d01cff77a20996194523dd8d2c8d6ae48f49a557ef3d63708",
                    ),
                    ("Turkish-IMST", "0a2490a64bb4c82b94c75c544671529b0f63a1c34f898069468f522d83633cdd"),
                )
            },
            description="Universal Dependencies of English (12,544 training sentences), Portuguese (7,018), Turkish "
            "(3,435), spoken Slovenian (2,078) and Hungarian (910) (Nivre et al. 2020).",
            terms="CC BY-SA 4.0 (English, Portuguese), CC BY-NC-SA 3.0 (Hungarian, Turkish) and 4.0 (Slovenian).",
        ),
        DataSet(
            name="swde",
            files={
                "swde_nbaplayer_60pages_x10sites.tar.xz": RemoteFile(
                    url="https://archive.codeplex.com/?p=swde",
                    sha256="e2d6c18e11f23cbf42ef2a5944b21f7c0e5176fee4f6da4e416a59bb6d07c306",
                    manual_step="give the path of an archive of its nbaplayer pages to load_web_records",
                )
            },
            description="600 web pages about basketball players from ten sites, with the name, team, height and "
            "weight given on each (Hao, Cai, Pang and Zhang 2011).",
            terms="For research.",
        ),
    )
}
"""All data sets by name."""


# -- finding archives --------------------------------------------------------------------------------------


def data_set(name: str) -> DataSet:
    """The registry entry of a data set.

    >>> data_set("conll2000").terms
    'Freely available from the CoNLL-2000 shared task.'
    """
    if name not in REGISTRY:
        raise ParsimonError(f"there is no data set {name!r}; give one of {', '.join(sorted(REGISTRY))}.")
    return REGISTRY[name]


def cache_folder() -> Path:
    """The folder for downloads and extracted files: `$PARSIMON_CACHE`, or the user's cache folder."""
    if folder := os.environ.get("PARSIMON_CACHE"):
        return Path(folder).expanduser()
    import pooch

    return Path(pooch.os_cache("parsimon"))


def _folders(name: str) -> list[Path]:
    """The folders that may have the archives of a data set, in search order."""
    data = os.environ.get("PARSIMON_DATA")
    return [*([Path(data).expanduser() / name] if data else []), cache_folder() / name]


def is_available(name: str) -> bool:
    """Whether all archives of a data set are on this machine, so that no download is needed."""
    files = data_set(name).files
    return all(any((folder / file).is_file() for folder in _folders(name)) for file in files)


def archive(name: str, file: str | None = None) -> Path:
    """The path of a data set's archive, downloaded if necessary; `file` is needed only if there are several."""
    files = data_set(name).files
    if file is None and len(files) == 1:
        file = next(iter(files))
    if file is None or file not in files:
        raise ParsimonError(f"{name} has no archive {file!r}; give one of {', '.join(sorted(files))}.")
    *data, cached = _folders(name)
    for folder in data:
        if (folder / file).is_file():
            return _verified(folder / file, files[file])
    if (cached / file).is_file() and _sha256(cached / file) == files[file].sha256:
        return cached / file
    return _download(name, file, cached)


def _verified(path: Path, remote: RemoteFile) -> Path:
    if _sha256(path) != remote.sha256:
        remedy = (
            f"download {remote.url} and {remote.manual_step}"
            if remote.manual_step
            else f"put the file from {remote.url} there, or remove it"
        )
        raise ParsimonError(
            f"{path} is damaged or a different version: its SHA-256 is not {remote.sha256}; {remedy}."
        )
    return path


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _download(name: str, file: str, folder: Path) -> Path:
    import pooch

    remote = REGISTRY[name].files[file]
    data = os.environ.get("PARSIMON_DATA")
    where = f"$PARSIMON_DATA ({data}/{name})" if data else "$PARSIMON_DATA (not set)"
    missing = f"{file} of the data set {name} is neither in {where} nor in {folder}"
    if remote.manual_step:
        raise ParsimonError(
            f"{missing}, and {remote.url} has it in another form; download that and {remote.manual_step}."
        )
    try:
        pooch.retrieve(remote.url, f"sha256:{remote.sha256}", fname=file, path=folder)
    except (OSError, ValueError) as error:  # no network or disk space; a wrong checksum
        reason = " ".join(str(error).split())
        raise ParsimonError(
            f"{missing}, and its download from {remote.url} failed ({reason}); download it elsewhere, put it in "
            f"a folder called {name}, and set PARSIMON_DATA to the parent of that folder."
        ) from error
    return folder / file


# -- reading files from archives ---------------------------------------------------------------------------


def member(name: str, path: str, file: str | None = None) -> Path:
    """One file of a data set's archive, such as `train.txt`, extracted into the cache.

    `path` is the file's path in the archive or the end of that path: a top-level folder can be left out. The extracted
    file is reused as long as its size is right.
    """
    source = archive(name, file)
    sizes = _sizes(source)
    found = [inner for inner in sizes if inner == path or inner.endswith(f"/{path}")]
    if len(found) != 1:
        what = "several files" if found else "no file"
        raise ParsimonError(f"{source} has {what} {path!r}; give one of {', '.join(sorted(sizes))}.")
    inner = PurePosixPath(found[0])
    if inner.is_absolute() or ".." in inner.parts:
        raise ParsimonError(
            f"{source} has a file {found[0]!r} whose path leads outside the archive; use another archive."
        )
    # The folder is named after the archive's checksum, so that versions are never mixed up.
    version = data_set(name).files[source.name].sha256[:12]
    target = cache_folder() / name / version / inner
    if not target.is_file() or target.stat().st_size != sizes[found[0]]:
        _extract(source, found[0], sizes[found[0]], target)
    return target


def texts(name: str, pattern: str, file: str | None = None, encoding: str = "utf-8") -> dict[str, str]:
    """The text of all files in an archive whose paths match a pattern such as `*.mrg`, by path in sorted order.

    This is for corpora of hundreds of small files: they are read from the archive without extracting them.
    """
    return texts_in(archive(name, file), pattern, encoding)


def texts_in(source: Path, pattern: str, encoding: str = "utf-8") -> dict[str, str]:
    """Like `texts`, for an archive that need not be in the registry."""
    try:
        found = _contents(source, partial(fnmatchcase, pat=pattern))
    except (OSError, EOFError) as error:
        raise ParsimonError(f"{source} cannot be read ({error}); give the path of an archive.") from error
    if not found:
        raise ParsimonError(f"{source} has no file that matches {pattern!r}; use the registered archive.")
    try:
        return {inner: found[inner].decode(encoding) for inner in sorted(found)}
    except UnicodeDecodeError as error:
        raise ParsimonError(
            f"{source} has files that are not valid {encoding} ({error}); use the registered archive."
        ) from error


def _extract(source: Path, inner: str, size: int, target: Path) -> None:
    content = _contents(source, inner.__eq__)[inner]
    if len(content) != size:
        raise ParsimonError(
            f"{inner} in {source} has {len(content)} bytes instead of {size}; download the archive again."
        )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(target, content)
    except OSError as error:
        raise ParsimonError(
            f"cannot write {target} ({error.strerror}); set PARSIMON_CACHE to a writable folder with enough space."
        ) from error


def _sizes(source: Path) -> dict[str, int]:
    """The size of every file in an archive, by path."""
    if zipfile.is_zipfile(source):
        with zipfile.ZipFile(source) as zipped:
            return {info.filename: info.file_size for info in zipped.infolist() if not info.is_dir()}
    if tarfile.is_tarfile(source):
        with tarfile.open(source) as tar:
            return {info.name: info.size for info in tar if info.isfile()}
    # A gzip file such as words.txt.gz contains one file, words.txt, and ends with its size.
    return {source.stem: int.from_bytes(source.read_bytes()[-4:], "little")}


def _contents(source: Path, wanted: Callable[[str], bool]) -> dict[str, bytes]:
    """The content of the wanted files, read in archive order: going back would decompress the archive again."""
    if zipfile.is_zipfile(source):
        with zipfile.ZipFile(source) as zipped:
            names = [info.filename for info in zipped.infolist() if not info.is_dir()]
            return {inner: zipped.read(inner) for inner in names if wanted(inner)}
    if tarfile.is_tarfile(source):
        with tarfile.open(source) as tar:
            return {
                info.name: _regular_file(tar, info) for info in tar if info.isfile() and wanted(info.name)
            }
    with gzip.open(source) as compressed:
        return {source.stem: compressed.read()} if wanted(source.stem) else {}


def _regular_file(tar: tarfile.TarFile, inner: tarfile.TarInfo) -> bytes:
    stream = tar.extractfile(inner)
    assert stream is not None  # it is a regular file
    return stream.read()


# -- loading column files ----------------------------------------------------------------------------------


def load_conll2000(split: Literal["train", "test"] = "train") -> tuple[Columns, Labels]:
    """English chunking: the columns word and part of speech, and chunk tags as labels."""
    if split not in ("train", "test"):
        raise ParsimonError(f"conll2000 has no split {split!r}; give train or test.")
    from parsimon.features.columns import read_labelled

    return read_labelled(member("conll2000", f"{split}.txt"))


def load_conll2002(
    language: Literal["esp", "ned"] = "esp", split: Literal["train", "testa", "testb"] = "train"
) -> tuple[Columns, Labels]:
    """Spanish or Dutch named entities: the columns word and part of speech, and entity tags as labels.

    `testa` is meant for development, `testb` for the final test. The -DOCSTART- lines in the Dutch files, which mark
    the start of an article, are left out; `member` gives the original files.
    """
    if language not in ("esp", "ned"):
        raise ParsimonError(f"conll2002 has no language {language!r}; give esp (Spanish) or ned (Dutch).")
    if split not in ("train", "testa", "testb"):
        raise ParsimonError(f"conll2002 has no split {split!r}; give train, testa or testb.")
    from parsimon.features.columns import read_labelled

    # The shared task published these files in Latin-1; the ones in this archive have been recoded to UTF-8.
    return read_labelled(member("conll2002", f"{language}.{split}"), comment="-DOCSTART-")
