"""Files of document models: what goes in comes out, and damage is refused."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from changed_models import changed, setting, tensor, without
from parsimon.data.text import TextReader
from parsimon.errors import ParsimonError
from parsimon.features import Columns, Labels, TemplateFeatures, TemplateSet
from parsimon.features.bag_of_words import BagOfWords
from parsimon.penalties import ElasticNet
from parsimon.tasks.documents.explain import explain
from parsimon.tasks.documents.model import DocumentModel
from parsimon.tasks.model_file import dump_model, load_model, parse_model, save_model
from parsimon.tasks.sequences.model import SequenceModel
from parsimon.tasks.sequences.training import SequenceTraining

TEXTS = [
    "The launch was late. The rocket flew, and flew well! Élan.",
    "A doctor came.\n\nShe said: rest, rest and rest.",
    "The doctor flew to the launch of a rocket.",
    "",
    "Nothing known here?",
]


VALUES = ["counts", "binary", "tf-idf"]


LABELS = {1: ("med",), 2: ("med", "space"), 3: ("med", "space", "é")}


@cache
def model_of(values: str, n_labels: int = 2) -> DocumentModel:
    """A model of the first three texts in which about a third of the words have no weight."""
    reader = TextReader()
    bag = BagOfWords(values).fit(reader.read(TEXTS[:3]))  # type: ignore[arg-type]
    rng = np.random.default_rng(0)
    width = 1 if n_labels == 2 else n_labels
    weights = rng.normal(size=(len(bag.words), width)) * (rng.random((len(bag.words), 1)) < 0.67)
    bias = rng.normal(size=width)
    return DocumentModel.from_weights(LABELS[n_labels], bag, weights, bias, reader, {"loss": "log", "n": [1]})


# --- The file -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_labels", [2, 3])
@pytest.mark.parametrize("values", VALUES)
def test_round_trip(values: str, n_labels: int, tmp_path: Path) -> None:
    model = replace(model_of(values, n_labels), reader=TextReader("lines", r"\w+", False))
    save_model(model, tmp_path / "a.model")
    again = load_model(tmp_path / "a.model")
    assert isinstance(again, DocumentModel)
    assert (again.labels, again.words, again.all_words) == (model.labels, model.words, model.all_words)
    assert (again.reader, again.values, again.info) == (model.reader, model.values, model.info)
    np.testing.assert_array_equal(again.weights, model.weights)
    np.testing.assert_array_equal(again.bias, model.bias)
    np.testing.assert_array_equal(again.scores(again.read(TEXTS)), model.scores(model.read(TEXTS)))
    assert dump_model(again) == (tmp_path / "a.model").read_bytes()


def test_words_need_not_be_in_order() -> None:
    model = DocumentModel(
        ("a", "b"),
        ("x", "y"),
        np.array([[1.0], [2.0]]),
        np.zeros(1),
        values="tf-idf",
        all_words=("z", "y", "x"),
        all_idf=np.array([1.0, 2.0, 3.0]),
    )
    again = parse_model(dump_model(model))
    assert again.words == ("x", "y")
    assert again.idf.tolist() == [3.0, 2.0]
    np.testing.assert_array_equal(again.weights, model.weights)


def test_idf_of_the_words_alone_will_do() -> None:
    model = DocumentModel(
        ("a", "b"), ("x", "y"), np.ones((2, 1)), np.zeros(1), values="tf-idf", idf=np.array([3.0, 4.0])
    )
    assert model.scores(model.read(["x y"]))[0, 1] == pytest.approx((3 + 4) / 5)


def test_float32_halves_the_weights() -> None:
    model = model_of("counts")
    small = dump_model(model, dtype="float32")
    assert len(dump_model(model)) - len(small) == pytest.approx(4 * len(model.words), abs=48)
    np.testing.assert_allclose(parse_model(small).weights, model.weights, rtol=1e-6)


def test_a_reader_with_a_function_cannot_be_saved(tmp_path: Path) -> None:
    model = replace(model_of("counts"), reader=TextReader(tokens=str.split))
    with pytest.raises(ParsimonError, match="a reader that finds tokens with a function cannot be saved"):
        save_model(model, tmp_path / "a.model")
    assert not list(tmp_path.iterdir())


def sequence_model() -> SequenceModel:
    training = SequenceTraining(penalty=ElasticNet(l1=0.05), tol=1e-3)
    X, y = Columns.from_sequences([["a", "b"]]), Labels.from_sequences([["A", "B"]])
    return training.fit(TemplateFeatures(TemplateSet.parse("U0:%x[0,0]")), X, y)


def test_one_kind_where_the_other_is_needed(tmp_path: Path) -> None:
    save_model(model_of("counts"), tmp_path / "d.model")
    save_model(sequence_model(), tmp_path / "s.model")
    assert isinstance(load_model(tmp_path / "d.model", DocumentModel), DocumentModel)
    assert isinstance(load_model(tmp_path / "s.model", SequenceModel), SequenceModel)
    with pytest.raises(
        ParsimonError, match=r"d\.model is a document model, but a sequence model is needed here"
    ):
        load_model(tmp_path / "d.model", SequenceModel)
    with pytest.raises(
        ParsimonError, match=r"s\.model is a sequence model, but a document model is needed here"
    ):
        load_model(tmp_path / "s.model", DocumentModel)


def test_a_splitter_that_is_not_installed_is_no_damage(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    content = changed(dump_model(model_of("counts", 3)), setting("reader", "sentences", to="sentencex"))
    monkeypatch.setitem(sys.modules, "sentencex", None)
    with pytest.raises(
        ParsimonError, match="cannot be used: the sentence splitter sentencex is not installed"
    ):
        parse_model(content)


HOSTILE = {
    "an unknown kind": ("counts", setting("kind", to="pickle")),
    "a kind that is a list": ("counts", setting("kind", to=[])),
    "no kind": ("counts", without("kind")),
    "the other kind": ("counts", setting("kind", to="sequence")),
    "no labels": ("counts", setting("labels", to=[])),
    "labels that are there twice": ("counts", setting("labels", to=["a", "a", "b"])),
    "too few labels": ("counts", setting("labels", to=["a", "b"])),
    "labels that are a number": ("counts", setting("labels", to=3)),
    "unknown values": ("counts", setting("values", to="pickle")),
    "values that are a list": ("counts", setting("values", to=[])),
    "tf-idf without idf": ("counts", setting("values", to="tf-idf")),
    "idf without tf-idf": ("tf-idf", setting("values", to="counts")),
    "no reader": ("counts", without("reader")),
    "a reader that is a number": ("counts", setting("reader", to=3)),
    "a reader with an unknown setting": ("counts", setting("reader", "function", to="os.system")),
    "a bad expression": ("counts", setting("reader", "tokens", to="(")),
    "a deep expression": ("counts", setting("reader", "tokens", to="(?:" * 9000 + "a" + ")" * 9000)),
    "tokens that are a list": ("counts", setting("reader", "tokens", to=[])),
    "info that is a number": ("counts", setting("info", to=3)),
    "no weights": ("counts", without("weights")),
    "no bias": ("counts", without("bias")),
    "no words": ("counts", without("words.text")),
    "no places": ("tf-idf", without("weighed")),
    "weights that are not numbers": ("counts", tensor("weights", lambda w: w * np.nan)),
    "weights in a row": ("counts", tensor("weights", lambda w: w.reshape(-1))),
    "too few weights": ("counts", tensor("weights", lambda w: w[:-1])),
    "an endless bias": ("counts", tensor("bias", lambda b: b + np.inf)),
    "biases in a table": ("counts", tensor("bias", lambda b: b[None])),
    "words that are not text": ("counts", tensor("words.text", lambda b: np.full_like(b, 0xFF))),
    "words that are cut": ("counts", tensor("words.text", lambda b: b[:-1])),
    "words that are there twice": ("counts", tensor("words.text", lambda b: np.full_like(b, 65))),
    "lengths below zero": ("counts", tensor("words.length", lambda n: -n.astype(np.int64))),
    "lengths beyond all memory": ("counts", tensor("words.length", lambda n: np.full(len(n), 2**62))),
    "lengths that are fractions": ("counts", tensor("words.length", lambda n: n + 0.5)),
    "places out of range": ("tf-idf", tensor("weighed", lambda i: i.astype(np.int64) + 1000)),
    "places below zero": ("tf-idf", tensor("weighed", lambda i: i.astype(np.int64) - 1000)),
    "places that are there twice": ("tf-idf", tensor("weighed", lambda i: i * 0)),
    "places that are fractions": ("tf-idf", tensor("weighed", lambda i: i + 0.5)),
    "places in a table": ("tf-idf", tensor("weighed", lambda i: i[None])),
    "too few idf": ("tf-idf", tensor("idf", lambda v: v[:-1])),
    "idf that are not numbers": ("tf-idf", tensor("idf", lambda v: v * np.nan)),
}


@pytest.mark.parametrize(("values", "change"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_files(values: str, change: Any) -> None:
    with pytest.raises(ParsimonError) as caught:
        parse_model(changed(dump_model(model_of(values, 3)), change))
    assert "\n" not in str(caught.value)


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_flipped_bytes(data: Any) -> None:
    """An error that says so, or (where the change does no harm) a model that can be used."""
    content = bytearray(dump_model(model_of("tf-idf", 3)))
    content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    try:
        model = parse_model(bytes(content))
    except ParsimonError:
        return
    with np.errstate(all="ignore"):  # a flipped bit may make a weight enormous
        explain(model, TEXTS)
