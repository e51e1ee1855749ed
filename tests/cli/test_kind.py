"""Kinds as the commands see them: what each has, and what is refused in a sentence that follows from that."""

from __future__ import annotations

from typing import Any

import click
import pytest

from parsimon.cli import program
from parsimon.cli.commands import evaluate, explain, inspect, predict
from parsimon.cli.kind import Evaluated, Kind, all_kinds, is_kind, kind_named
from parsimon.cli.options import Asked
from parsimon.errors import ParsimonError
from parsimon.tasks.kinds import kinds

EVERYWHERE = {
    "predict": predict.EVERYWHERE,
    "evaluate": evaluate.EVERYWHERE,
    "inspect": inspect.EVERYWHERE,
    "explain": explain.EVERYWHERE,
}


def flags(command: str) -> dict[str, str]:
    """The flags of a command, by the names of its options."""
    options = program.commands[command].params
    return {str(each.name): each.opts[-1] for each in options if isinstance(each, click.Option)}


def has(kind: Kind, command: str) -> frozenset[str]:
    return getattr(kind, f"{command}s")


CASES = [
    (kind, command, name)
    for kind in all_kinds()
    for command in EVERYWHERE
    for name in flags(command)
    if name not in EVERYWHERE[command]
]


@pytest.mark.parametrize(
    ("kind", "command", "name"),
    CASES,
    ids=lambda value: value.name if isinstance(value, Kind) else str(value),
)
def test_options_are_taken_or_refused(kind: Kind, command: str, name: str) -> None:
    job = Asked({"model": "a.model", name: "x"}, frozenset({"model", name}))
    flag = flags(command)[name]
    if name in has(kind, command):
        kind.check_options(job, command, EVERYWHERE[command], flags(command))
        return
    with pytest.raises(ParsimonError) as refusal:
        kind.check_options(job, command, EVERYWHERE[command], flags(command))
    said = str(refusal.value)
    assert said.startswith(f"a.model is {kind.noun}, and {flag} is for ")
    assert said.endswith("; leave it out.")
    for other in all_kinds():
        assert (other.noun in said.split(" is for ")[1]) == (name in has(other, command))


def test_the_sentence() -> None:
    job = Asked({"model": "X", "kbest": 3}, frozenset({"model", "kbest"}))
    with pytest.raises(ParsimonError) as refusal:
        kind_named("document").check_options(job, "predict", EVERYWHERE["predict"], flags("predict"))
    assert str(refusal.value) == (
        "X is a document model, and --kbest is for a sequence model, a model of trees or a parser; leave it out."
    )


def test_defaults_are_not_refused() -> None:
    job = Asked({"model": "X", "kbest": None}, frozenset({"model"}))
    kind_named("document").check_options(job, "predict", EVERYWHERE["predict"], flags("predict"))


@pytest.mark.parametrize("command", list(EVERYWHERE))
def test_kinds_name_options_that_there_are_and_every_option_has_a_kind(command: str) -> None:
    known = set(flags(command)) | set(EVERYWHERE[command])
    taken: set[str] = set()
    for kind in all_kinds():
        assert has(kind, command) <= known, kind.name
        taken |= has(kind, command)
    assert known - EVERYWHERE[command] <= taken


def test_names() -> None:
    for registered in kinds():
        kind = kind_named(registered.name)
        assert kind.name == registered.name
        assert kind.noun.split()[0] in ("a", "an")
    assert is_kind("tree")
    assert not is_kind("treee")
    with pytest.raises(
        ParsimonError, match="there is no kind of model called 'treee'; choose from sequence, tree"
    ):
        kind_named("treee")


def test_scores_are_numbers_and_details_the_rest() -> None:
    found = Evaluated.split({"accuracy": 0.5, "rows": 4, "scored": "rows", "labels": ["a"]}, "text")
    assert found.scores == {"accuracy": 0.5, "rows": 4}
    assert found.details == {"scored": "rows", "labels": ["a"]}


def test_what_a_kind_cannot_do() -> None:
    network: Any = kind_named("network")
    job = Asked({"model": "X"}, frozenset({"model"}))
    with pytest.raises(ParsimonError, match="X is a Markov network; explain is for a document model"):
        network.explain(None, job)
