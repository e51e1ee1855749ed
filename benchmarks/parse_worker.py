"""The parts of benchmarks/parsing.py that run in processes of their own. Each prints one JSON object.

parse_worker.py data TREEBANK FOLDER COPIES MOST SIZE ...
parse_worker.py parsimon MODEL INPUT OUTPUT
parse_worker.py udpipe MODEL INPUT OUTPUT BEAM
parse_worker.py udpipe-train TRAIN MODEL OPTIONS
parse_worker.py score GOLD PREDICTED
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

clock = time.perf_counter


# --- Data and scores ----------------------------------------------------------------------------------------


def write_data(name: str, folder: Path, copies: int, most: int, sizes: list[int]) -> dict[str, Any]:
    """A treebank's training and test sentences as files, at most so many; the test words also without heads.

    Both programs read what is written here. Smaller training files are spread evenly over the whole one.
    """
    from parsimon.data import load_treebank
    from parsimon.data.treebank_sets import spread_evenly

    train, test = (load_treebank(name, split)[:most] for split in ("train", "test"))
    chosen = {size: train[spread_evenly(size, len(train))] for size in sizes if size < len(train)}  # type: ignore[call-overload]
    for path, treebank in (
        ("train.conll", train),
        ("test.conll", test),
        *((f"train-{size}.conll", some) for size, some in chosen.items()),
    ):
        (folder / path).write_bytes(in_utf8(treebank))
    bare = test.with_heads(test.heads * 0 - 1)
    (folder / "words.conll").write_bytes(in_utf8(bare) * copies)
    (folder / "one.conll").write_bytes(in_utf8(bare[:1]))
    return {
        "sentences": len(train),
        "tokens": train.n_tokens,
        "test_sentences": len(test),
        "test_tokens": test.n_tokens,
        "single_root": bool((train.n_roots == 1).all()),
        "sizes": list(chosen),
    }


def in_utf8(treebank: Any) -> bytes:
    """The treebank as a file, with an empty line at its end."""
    content: bytes = treebank.to_bytes().decode(treebank.encoding).encode()
    return content.rstrip(b"\n") + b"\n\n"


def score(gold: Path, predicted: Path) -> dict[str, float]:
    """Attachment scores of the first copy of the test sentences, by Parsimon's own evaluation."""
    from parsimon.data import read_treebank
    from parsimon.tasks.parsing.metrics import compare_treebanks

    truth = read_treebank(gold)
    scores = compare_treebanks(truth, read_treebank(predicted, format=truth.format)[: len(truth)])
    words, without = scores.all_words, scores.without_punctuation
    return {
        "uas": words.uas,
        "las": words.las,
        "uas_without_punctuation": without.uas,
        "las_without_punctuation": without.las,
    }


# --- Parsimon -----------------------------------------------------------------------------------------------


def parsimon_parse(path: Path, source: Path, target: Path) -> dict[str, Any]:
    """Heads and relations, one thread; seconds from file to file, and of parsing alone."""
    from parsimon.data import read_treebank
    from parsimon.tasks.model_file import load_model
    from parsimon.tasks.parsing.model import ParserModel

    model = load_model(path, ParserModel)
    began = clock()
    treebank = read_treebank(source, missing_heads=True)
    read = clock()
    parsed = model.parse(treebank, threads=1)
    done = clock()
    parsed.write(target)
    return {
        "tokens": treebank.n_tokens,
        "file_seconds": clock() - began,
        "parse_seconds": done - read,
        "features": len(model.weights),
        "templates": len(model.space.templates),
    }


# --- UDPipe -------------------------------------------------------------------------------------------------


def udpipe_sentences(path: Path) -> Any:
    """The sentences of a CoNLL-U or CoNLL-X file, one after the other."""
    from ufal import udpipe  # type: ignore[import-not-found, import-untyped, unused-ignore]

    reader, problem = udpipe.InputFormat.newConlluInputFormat(), udpipe.ProcessingError()
    reader.setText(path.read_text(encoding="utf-8"))
    while True:
        sentence = udpipe.Sentence()
        if not reader.nextSentence(sentence, problem):
            break
        yield sentence
    if problem.occurred():
        raise SystemExit(f"UDPipe cannot read {path.name}: {problem.message}")


def udpipe_train(train: Path, model: Path, options: str) -> dict[str, Any]:
    """A parser alone, which takes tags as they are; the seconds do not count reading."""
    from ufal import udpipe

    sentences, problem = udpipe.Sentences(), udpipe.ProcessingError()
    for sentence in udpipe_sentences(train):
        sentences.append(sentence)
    none = udpipe.Trainer.NONE
    began = clock()
    trained = udpipe.Trainer.train(
        "morphodita_parsito", sentences, udpipe.Sentences(), none, none, options, problem
    )
    seconds = clock() - began
    if problem.occurred():
        raise SystemExit(f"UDPipe cannot be trained: {problem.message}")
    model.write_bytes(trained)
    return {"seconds": seconds}


def udpipe_parse(path: Path, source: Path, target: Path, beam: int) -> dict[str, Any]:
    """Heads and relations; seconds from file to file, and of the calls of `parse` alone."""
    from ufal import udpipe

    model, problem = udpipe.Model.load(str(path)), udpipe.ProcessingError()
    if model is None:
        raise SystemExit(f"UDPipe cannot load {path}")
    options, writer = f"beam_search={beam}", udpipe.OutputFormat.newConlluOutputFormat()
    tokens, parsing = 0, 0.0
    began = clock()
    with target.open("w", encoding="utf-8") as file:
        for sentence in udpipe_sentences(source):
            now = clock()
            model.parse(sentence, options, problem)
            parsing += clock() - now
            tokens += len(sentence.words) - 1  # the first is the root
            file.write(writer.writeSentence(sentence))
    if problem.occurred():
        raise SystemExit(f"UDPipe cannot parse: {problem.message}")
    return {"tokens": tokens, "file_seconds": clock() - began, "parse_seconds": parsing}


PARTS: dict[str, Callable[..., dict[str, Any]]] = {  # all arguments are text
    "data": lambda name, folder, copies, most, *sizes: write_data(
        name, Path(folder), int(copies), int(most), [int(size) for size in sizes]
    ),
    "parsimon": lambda *paths: parsimon_parse(*map(Path, paths)),
    "udpipe": lambda model, source, target, beam: udpipe_parse(
        Path(model), Path(source), Path(target), int(beam)
    ),
    "udpipe-train": lambda train, model, options: udpipe_train(Path(train), Path(model), options),
    "score": lambda *paths: score(*map(Path, paths)),
}


if __name__ == "__main__":
    print(json.dumps(PARTS[sys.argv[1]](*sys.argv[2:])))
