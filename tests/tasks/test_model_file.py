"""The model file: what goes in comes out; what is broken, or means harm, gives one clear error."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from changed_models import changed, setting, tensor, without
from parsimon.errors import ParsimonError
from parsimon.features import (
    Columns,
    ItemFeatures,
    Labels,
    MatrixFeatures,
    SparseSequences,
    TemplateFeatures,
    TemplateSet,
)
from parsimon.inspect import features, summary
from parsimon.penalties import ElasticNet
from parsimon.tasks.model_file import FORMAT, dump_model, load_model, parse_model, save_model
from parsimon.tasks.sequences.model import SequenceModel
from parsimon.tasks.sequences.training import SequenceTraining

WORDS = [["the", "dog", "ran"], ["a", "Katze", "é"], ["dog"]]
LABELS = Labels.from_sequences([["D", "N", "V"], ["D", "N", "É"], ["N"]])


def inputs(kind: str) -> tuple[Any, Any]:
    if kind == "templates":
        templates = TemplateSet.parse(
            'U\nU0:%x[0,0]\nU1:%x[-1,0]/%x[0,0]\nU2:%f[0,0,"suffix:2"]\nB\nB0:%x[0,0]'
        )
        return TemplateFeatures(templates), Columns.from_sequences(WORDS)
    if kind == "items":
        return ItemFeatures(), [[{"w": w, "n": len(w) / 2} for w in s] for s in WORDS]
    from scipy.sparse import csr_matrix

    dense = np.random.default_rng(0).normal(size=(7, 5))
    return MatrixFeatures(), SparseSequences(csr_matrix(dense), [3, 3, 1])


KINDS = ["templates", "items", "matrix"]


@cache
def trained(kind: str) -> SequenceModel:
    space, X = inputs(kind)
    training = SequenceTraining(penalty=ElasticNet(l1=0.05, l2=0.1), tol=1e-4)
    return training.fit(space, X, LABELS)


@cache
def content_of(kind: str) -> bytes:
    return dump_model(trained(kind))


def use(model: SequenceModel, kind: str) -> None:
    """Everything that is done with a model."""
    _, X = inputs(kind)
    observations = model.observe(X)
    model.decode(observations)
    model.marginals(observations)
    model.kbest(observations, 2)
    features(model)
    summary(model)
    dump_model(model)


@pytest.mark.parametrize("kind", KINDS)
def test_round_trip(kind: str, tmp_path: Path) -> None:
    model = trained(kind)
    assert len(model.weights) > 5
    path = tmp_path / "model"
    save_model(model, path)
    again = load_model(path)
    assert again.labels == model.labels
    assert again.weights.tobytes() == model.weights.tobytes()
    assert features(again) == features(model)
    assert dump_model(again) == path.read_bytes()
    _, X = inputs(kind)
    for ours, theirs in zip(
        model.marginals(model.observe(X)), again.marginals(again.observe(X)), strict=True
    ):
        assert ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_of_nothing(kind: str) -> None:
    space, X = inputs(kind)
    model = SequenceTraining(penalty=ElasticNet(l1=1e6)).fit(space, X, LABELS)
    again = parse_model(dump_model(model))
    assert len(again.weights) == 0
    assert (
        again.decode(again.observe(inputs(kind)[1])).tolist()
        == model.decode(model.observe(inputs(kind)[1])).tolist()
    )


def test_training_history_is_kept() -> None:
    model = trained("templates")
    info = parse_model(content_of("templates")).info
    assert info["objective"] == model.info["objective"]
    assert info["history"][-1]["kkt"] == pytest.approx(model.info["kkt"], abs=1e-6)


def test_float32_halves_the_weights(tmp_path: Path) -> None:
    model = trained("items")
    small = dump_model(model, dtype="float32")
    assert len(small) < len(content_of("items"))
    again = parse_model(small)
    np.testing.assert_array_equal(again.weights, model.weights.astype(np.float32))
    assert again.weights.dtype == np.float64
    with pytest.raises(ParsimonError, match="one of float64, float32, float16, int8, not 'int4'"):
        save_model(model, tmp_path / "model", dtype="int4")
    assert not (tmp_path / "model").exists()


def test_weights_too_small_for_float32_do_not_harm() -> None:
    from dataclasses import replace

    model = replace(trained("items"), weights=np.full_like(trained("items").weights, 1e-60))
    use(parse_model(dump_model(model, dtype="float32")), "items")


def test_weights_too_large_for_float32_are_refused_at_saving() -> None:
    """Better than a file that cannot be loaded again."""
    from dataclasses import replace

    model = replace(trained("items"), weights=np.full_like(trained("items").weights, 1e60))
    with pytest.raises(ParsimonError):
        dump_model(model, dtype="float32")


# ---- writing -----------------------------------------------------------------------------------------------


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model"
    save_model(trained("items"), path)
    before = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(
        ParsimonError, match="model cannot be written: No space left on device; nothing was changed"
    ):
        save_model(trained("templates"), path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["model"]


def test_an_interrupted_write_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        save_model(trained("items"), tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ParsimonError, match="cannot be written: No such file or directory"):
        save_model(trained("items"), tmp_path / "no" / "model")


# ---- broken files ------------------------------------------------------------------------------------------


def test_files_that_are_not_models(tmp_path: Path) -> None:
    with pytest.raises(ParsimonError, match="cannot be read: No such file"):
        load_model(tmp_path / "nothing")
    with pytest.raises(ParsimonError, match="cannot be read"):
        load_model(tmp_path)
    for content in (
        b"",
        b"x",
        b"lCRF" + bytes(100),
        b"\x80\x04K\x01.",
        b"PK\x03\x04" + bytes(50),
        bytes(8),
        b"\xff" * 64,
    ):
        (tmp_path / "file").write_bytes(content)
        with pytest.raises(ParsimonError, match="file is not a Parsimon model, or is damaged"):
            load_model(tmp_path / "file")


def test_other_safetensors_are_not_models(tmp_path: Path) -> None:
    from safetensors.numpy import save

    for metadata in (None, {"format": "pt"}, {"parsimon": "{"}, {"parsimon": "[]"}, {"parsimon": "{}"}):
        with pytest.raises(ParsimonError, match="is not a Parsimon model, or is damaged"):
            parse_model(save({"weights": np.zeros(2)}, metadata=metadata))


def test_a_newer_version() -> None:
    content = changed(content_of("items"), lambda header, tensors: header.update(format=FORMAT + 1))
    with pytest.raises(
        ParsimonError, match=f"has format {FORMAT + 1}, but this version of Parsimon reads up to {FORMAT}"
    ):
        parse_model(content)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60)
@given(data=st.data())
def test_truncations(kind: str, data: Any) -> None:
    content = content_of(kind)
    with pytest.raises(ParsimonError):
        parse_model(content[: data.draw(st.integers(0, len(content) - 1))])


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=300)
@given(data=st.data())
def test_flipped_bytes(kind: str, data: Any) -> None:
    """An error that says so, or a model that can be used: nothing else, wherever the damage is."""
    content = bytearray(content_of(kind))
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    with suppress(ParsimonError):
        use(parse_model(bytes(content)), kind)


@settings(max_examples=100)
@given(st.binary(max_size=200))
def test_random_bytes(content: bytes) -> None:
    with pytest.raises(ParsimonError):
        parse_model(content)
    with pytest.raises(ParsimonError):
        parse_model(len(content).to_bytes(8, "little") + content)


HOSTILE = {
    "no labels": ("items", setting("labels", to=[])),
    "labels that are a number": ("items", setting("labels", to=3)),
    "fewer labels": ("items", setting("labels", to=["D"])),
    "labels that are nothing": ("items", setting("labels", to=None)),
    "labels that are there twice": ("items", setting("labels", to=["D", "D", "D", "D"])),
    "a space of an unknown kind": ("items", setting("space", "kind", to="pickle")),
    "a space whose kind is a list": ("items", setting("space", "kind", to=[])),
    "a space that is a number": ("items", setting("space", to=3)),
    "no space": ("items", without("space")),
    "no labels at all": ("items", without("labels")),
    "no info": ("items", without("info")),
    "info that is a number": ("items", setting("info", to=3)),
    "no weights": ("items", without("weights")),
    "a format that is text": ("items", setting("format", to="1")),
    "a format that is true": ("items", setting("format", to=True)),
    "a negative format": ("items", setting("format", to=-1)),
    "templates that are a number": ("templates", setting("space", "templates", to=5)),
    "templates that are nothing": ("templates", setting("space", "templates", to=None)),
    "templates that are empty": ("templates", setting("space", "templates", to="")),
    "templates with a bad expression": ("templates", setting("space", "templates", to='U:%m[0,0,"("]')),
    "templates that look far away": ("templates", setting("space", "templates", to="U:%x[99999999,0]")),
    "an unknown boundary": ("templates", setting("space", "boundary", to="none")),
    "a boundary that is a list": ("templates", setting("space", "boundary", to=[])),
    "a cutoff that is text": ("items", setting("space", "cutoff", to="many")),
    "a cutoff that is a list": ("items", setting("space", "cutoff", to=[])),
    "an endless cutoff": ("items", lambda h, t: json.dumps(h).replace('"cutoff": 1', '"cutoff": 1e999')),
    "a deep header": ("items", lambda h, t: "[" * 200_000),
    "a deep info": (
        "items",
        lambda h, t: json.dumps(h)[:-1] + ', "info": ' + "[" * 90_000 + "]" * 90_000 + "}",
    ),
    "weights that are not numbers": ("items", tensor("weights", lambda w: w * np.nan)),
    "infinite weights": ("items", tensor("weights", lambda w: w + np.inf)),
    "too few weights": ("items", tensor("weights", lambda w: w[:-1])),
    "weights in a table": ("items", tensor("weights", lambda w: w.reshape(-1, 1))),
    "one weight": ("items", tensor("weights", lambda w: np.float64(1.0))),
    "labels out of range": ("items", tensor("node.column", lambda c: c + 100)),
    "labels in a table": ("items", tensor("node.column", lambda c: c.reshape(-1, 1))),
    "labels below zero": ("items", tensor("node.column", lambda c: c.astype(np.int64) - 5)),
    "labels that do not ascend": ("items", tensor("node.column", lambda c: np.zeros_like(c))),
    "counts below zero": ("items", tensor("node.features", lambda c: -c.astype(np.int64))),
    "counts beyond all memory": ("items", tensor("node.features", lambda c: np.full(len(c), 2**62))),
    "counts that wrap around": (
        "items",
        tensor("node.features", lambda c: np.full(len(c), 2**64 - 1, np.uint64)),
    ),
    "counts that are fractions": ("items", tensor("node.features", lambda c: c + 0.5)),
    "names that are not text": ("items", tensor("space.names.text", lambda b: np.full_like(b, 0xFF))),
    "names that are cut": ("items", tensor("space.names.text", lambda b: b[:-1])),
    "names that are there twice": ("items", tensor("space.names.text", lambda b: np.full_like(b, 65))),
    "lengths below zero": ("items", tensor("space.names.length", lambda n: -n.astype(np.int64))),
    "lengths beyond all memory": ("items", tensor("space.names.length", lambda n: np.full(len(n), 2**61))),
    "strings that are not there": (
        "templates",
        tensor("space.node.tuples", lambda i: i.astype(np.int64) + 2**31),
    ),
    "attributes that are there twice": ("templates", tensor("space.node.tuples", lambda i: i * 0)),
    "columns out of range": ("matrix", tensor("space.columns", lambda c: c.astype(np.int64) + 1000)),
    "columns below zero": ("matrix", tensor("space.columns", lambda c: c.astype(np.int64) - 1000)),
    "columns that are there twice": ("matrix", tensor("space.columns", lambda c: c * 0)),
    "a matrix beyond all memory": ("matrix", setting("space", "n_columns", to=10**18)),
    "a matrix with less than no columns": ("matrix", setting("space", "n_columns", to=-1)),
}


@pytest.mark.parametrize(("kind", "change"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_files(kind: str, change: Any) -> None:
    """An error that says so, or (where the change does no harm) a model that can be used."""
    content, message = changed(content_of(kind), change), ""
    try:
        use(parse_model(content), kind)
    except ParsimonError as error:
        message = str(error)
    assert "\n" not in message


FATAL = [
    "weights in a table",
    "one weight",
    "columns out of range",
    "columns below zero",
    "labels that are there twice",
    "templates that are a number",
    "a deep header",
    "infinite weights",
    "strings that are not there",
]


@pytest.mark.parametrize("name", FATAL)
def test_what_could_only_fail_later_is_found_when_loading(name: str) -> None:
    kind, change = HOSTILE[name]
    with pytest.raises(ParsimonError):
        parse_model(changed(content_of(kind), change))


@pytest.mark.parametrize("source", ["/dev/zero", "/dev/urandom"])
def test_what_is_no_model_is_not_read_to_its_end(source: str) -> None:
    """One begins with no length, the other with one that is too large."""
    with pytest.raises(ParsimonError, match="is not a Parsimon model, or is damaged"):
        load_model(source)
