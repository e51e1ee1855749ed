"""The same weights give the same objective, probabilities and marginals as python-crfsuite."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parsimon.features.columns import Labels
from parsimon.features.item_features import ItemFeatures
from parsimon.penalties import ElasticNet
from parsimon.solvers import Weights
from parsimon.tasks.sequences.training import SequenceTask, SequenceTraining

pycrfsuite = pytest.importorskip("pycrfsuite")

C1, C2 = 0.15, 0.02


def make_data(seed: int = 0, n: int = 40) -> tuple[list[Any], list[list[str]]]:
    """Sentences whose labels depend on words, on a real number and on the label before."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        labels = ["O"]
        for _ in range(rng.integers(1, 8)):
            follow = {"O": ["O", "B", "O"], "B": ["I", "O", "I"], "I": ["I", "O", "B"]}[labels[-1]]
            labels.append(str(rng.choice(follow)))
        labels = labels[1:]
        tokens = []
        for label in labels:
            word = f"{label}{rng.integers(6)}" if rng.random() < 0.8 else f"x{rng.integers(9)}"
            tokens.append(
                {"w": word, "first": word[0], "n": float(rng.normal() + (label == "O")), "bias": 1.0}
            )
        X.append(tokens)
        y.append(labels)
    return X, y


def exact_weights(path: Path) -> list[tuple[int, int, int, float]]:
    """(kind, source, target, weight) of every feature of a CRFsuite model file, in full precision.

    `Tagger.info()` prints six digits; the file has doubles. Layout (crfsuite's crf1d_model.c): a header of
    twelve 32-bit words, the eighth of which is where the features are: "FEAT", size, number, 20 bytes each.
    """
    raw = path.read_bytes()
    assert raw[:4] == b"lCRF"
    (at,) = struct.unpack_from("<I", raw, 28)
    assert raw[at : at + 4] == b"FEAT"
    (number,) = struct.unpack_from("<I", raw, at + 8)
    return [struct.unpack_from("<IIId", raw, at + 12 + 20 * i) for i in range(number)]


@dataclass(frozen=True)
class Peer:
    X: list[Any]
    y: list[list[str]]
    path: Path
    loss: float  # as printed, six decimals
    task: SequenceTask
    w: Any


@pytest.fixture(scope="module", params=["all", "seen"])
def peer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Peer:
    X, y = make_data()
    everything = request.param == "all"
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.select("lbfgs")
    trainer.set_params({
        "c1": C1, "c2": C2, "max_iterations": 60,
        "feature.possible_states": everything, "feature.possible_transitions": everything,
    })  # fmt: skip
    for tokens, labels in zip(X, y, strict=True):
        trainer.append(tokens, labels)
    path = tmp_path_factory.mktemp("crfsuite") / "model.crfsuite"
    trainer.train(str(path))
    # CRFsuite's c2 has no ½.
    training = SequenceTraining(penalty=ElasticNet(l1=C1, l2=2 * C2), candidates=request.param)
    task = training.prepare(ItemFeatures(), X, Labels.from_sequences(y))
    w = translated(path, task)
    return Peer(X, y, path, trainer.logparser.last_iteration["loss"], task, w)


def translated(path: Path, task: SequenceTask) -> Any:
    """CRFsuite's weights in Parsimon's numbering."""
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    info = tagger.info()
    label = {int(number): task.labels.index(name) for name, number in info.labels.items()}
    attribute = {int(number): name for name, number in info.attributes.items()}
    space, index = task.space, task.index
    number = {name: a for a, name in enumerate(space.node_names(np.arange(space.n_node)))}
    w = np.zeros(task.problem.n_features)
    for kind, source, target, weight in exact_weights(path):
        if kind == 0:
            place = index.node.find(
                np.array([number[attribute[source]]]), np.array([label[target]], np.int32)
            )[0]
        else:
            column = label[source] * len(task.labels) + label[target]
            place = index.pair.find(np.array([0]), np.array([column], np.int32))[0] + index.node.n_features
        assert place >= 0
        w[place] = weight
    return w


@pytest.fixture
def tagger(peer: Peer) -> Any:
    tagger = pycrfsuite.Tagger()
    tagger.open(str(peer.path))
    yield tagger
    tagger.close()


def test_the_weights_are_theirs(peer: Peer, tagger: Any) -> None:
    info = tagger.info()
    printed = [*info.state_features.values(), *info.transitions.values()]
    assert np.count_nonzero(peer.w) == len(printed) > 20
    np.testing.assert_allclose(sorted(peer.w[peer.w != 0]), sorted(printed), atol=1e-6)


def test_log_likelihood(peer: Peer, tagger: Any) -> None:
    theirs = 0.0
    for tokens, labels in zip(peer.X, peer.y, strict=True):
        tagger.set(tokens)
        theirs -= float(np.log(tagger.probability(labels)))
    ours, _ = peer.task.problem.loss_and_gradient(peer.w)
    assert ours == pytest.approx(theirs, rel=1e-8)


def test_objective(peer: Peer, tagger: Any) -> None:
    """Their printed objective (six decimals), and the same from their probabilities to full precision."""
    ours = peer.task.problem.objective(peer.w)
    assert ours == pytest.approx(peer.loss, abs=2e-6)
    theirs = C1 * np.abs(peer.w).sum() + C2 * (peer.w @ peer.w)
    for tokens, labels in zip(peer.X, peer.y, strict=True):
        tagger.set(tokens)
        theirs -= float(np.log(tagger.probability(labels)))
    assert ours == pytest.approx(theirs, rel=1e-8)


def test_marginals_and_labels(peer: Peer, tagger: Any) -> None:
    task = peer.task
    model = task.model(_result(peer), {})
    observations = model.observe(peer.X)
    marginals, _ = model.marginals(observations)
    decoded = list(model.as_labels(model.decode(observations), observations.lengths))
    at = 0
    for tokens, ours in zip(peer.X, decoded, strict=True):
        tagger.set(tokens)
        for t in range(len(tokens)):
            theirs = [tagger.marginal(name, t) for name in model.labels]
            np.testing.assert_allclose(marginals[at], theirs, rtol=1e-8, atol=1e-12)
            at += 1
        assert ours == tagger.tag(tokens)


def _result(peer: Peer) -> Any:
    from parsimon.solvers import Result, Status

    return Result(Weights(peer.w, None, len(peer.w)), Status.CONVERGED, 0.0)


def test_our_optimum_is_not_above_theirs(peer: Peer) -> None:
    training = SequenceTraining(penalty=ElasticNet(l1=C1, l2=2 * C2), tol=1e-6)
    ours = training.solve(peer.task, Weights.zeros(peer.task.problem.n_features))
    theirs = peer.task.problem.objective(peer.w)
    assert ours.objective <= theirs * (1 + 1e-9)
    assert ours.objective == pytest.approx(theirs, rel=1e-3)
