"""Models as a page: whole, escaped, and in need of nothing else."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pages import Page
from parsimon import SequenceLabeler
from parsimon import inspect as look
from parsimon.errors import ParsimonError
from parsimon.report.model_page import Part, model_page, scores_of

X = [[{"word": "<b>"}, {"word": "&"}], [{"word": "x"}, {"word": "<b>"}, {"word": "y"}]] * 3
Y = [["A<", "B"], ["C", "A<", "B"]] * 3
HISTORY = [
    {"iteration": 0, "objective": 900.0, "active": 0},
    {"iteration": 1, "objective": 20.0, "active": 7, "dev": 0.5},
    {"iteration": 2, "objective": 10.5, "active": 5, "dev": 0.75},
]


@pytest.fixture(scope="module")
def model() -> Any:
    return SequenceLabeler(l1=0.05).fit(X, Y).model_


def shown(text: str) -> list[list[str]]:
    """Weights and attributes (with the label before), label by label."""
    labels = []
    for section in re.findall(r"<section>.*?</section>", text, re.DOTALL):
        page = Page(section)
        labels.append([told.strip() for _, told in page.of("weight")])
    return labels


def test_every_label_has_its_heaviest_features(model: Any) -> None:
    text = model_page("What <it> has learnt", [("model", "a & b")], [Part("", model)], top=2, history=HISTORY)
    page = Page(text)
    assert "What &lt;it&gt; has learnt" in text
    assert "<b>x" not in text
    assert "a &amp; b" in text
    assert not re.search(r'(src|href)="|@import|url\(', text)
    heaviest = look.heaviest_by_label(model, 2)
    assert list(heaviest) == list(model.labels)
    expected = [[f"{f.weight:+.2f}".replace("-", "−") for f in found] for found in heaviest.values()]
    assert shown(text) == expected
    bars = [a for name, a, _ in page.found if name == "i" and a.get("class") in ("towards", "against")]
    assert len(bars) == sum(map(len, expected))
    widths = [float(re.sub(r"[^\d.]", "", a["style"] or "")) for a in bars]
    assert max(widths) == 50.0


@pytest.mark.parametrize("label", [None, "B"])
def test_a_page_without_features(model: Any, label: str | None) -> None:
    text = model_page("T", [], [Part("", model)], top=0, label=label)
    assert "Templates, by weight" in text
    assert "Heaviest features" not in text


def test_templates_stand_by_their_weight(model: Any) -> None:
    text = model_page("T", [], [Part("arcs", model)])
    shares = sorted(look.template_shares(model), key=lambda share: -share.total)
    (templates,) = [told for a, told in Page(text).of("templates")]
    names = re.findall(r"<code>(.*?)</code></td>\s*<td class=\"track\">", text)
    assert names == [share.name for share in shares if share.features]
    assert "Templates of arcs" in text
    assert f"{100 * shares[0].total / sum(s.total for s in shares):.1f} %" in templates


def test_templates_that_were_chosen_have_their_scores(model: Any) -> None:
    name = model.space.template_names()[0]
    scores = scores_of({"selection": {"name": "sparseptron", "templates": [[name, 12.345]]}})
    text = model_page("T", [], [Part("", model, scores)])
    assert "selection score" in text
    assert "<td>12.3</td>" in text
    assert "selection score" not in model_page("T", [], [Part("", model, scores_of({"selection": None}))])


def test_one_label_and_one_template(model: Any) -> None:
    text = model_page("T", [], [Part("", model)], label="B")
    assert len(shown(text)) == 1
    assert "Label pairs" not in text
    name = model.space.template_names()[0]
    assert shown(model_page("T", [], [Part("", model)], template=name))
    with pytest.raises(ParsimonError, match="the model has no label 'Z'"):
        model_page("T", [], [Part("", model)], label="Z")


def test_label_pairs_are_a_matrix_or_a_list(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = look.transitions(model)
    assert weights.any()
    text = model_page("T", [], [Part("", model)])
    (pairs,) = [told for a, told in Page(text).of("pairs")]
    assert all(f"{w:+.1f}".replace("-", "−") in pairs for w in weights[weights != 0])
    monkeypatch.setattr("parsimon.report.model_page.MATRIX", 2)
    monkeypatch.setattr("parsimon.report.model_page.LISTED", 1)
    text = model_page("T", [], [Part("", model)])
    x, y = np.unravel_index(np.abs(weights).argmax(), weights.shape)
    (listed,) = [told for a, told in Page(text).of("listed")]
    assert f"{model.labels[x]} → {model.labels[y]}" in listed
    assert f"and {np.count_nonzero(weights) - 1} more" in text


def test_curves_of_training(model: Any) -> None:
    text = model_page("T", [], [Part("", model)], history=HISTORY)
    assert "900 → 10.5 over 2 iterations (log scale)" in text
    assert "0 → 5 over 2 iterations, at most 7" in text
    assert "0.5 → 0.75 over 2 iterations" in text
    assert text.count("<polyline") == 3
    assert "0.0,0.0 320.0,102.6 640.0,120.0" in text
    assert "Training history" not in model_page("T", [], [Part("", model)], history=HISTORY[:1])


def test_features_whose_weights_are_zero(model: Any) -> None:
    none = replace(model, weights=model.weights * 0)
    text = model_page("T", [], [Part("", none)])
    assert "width: 0.0" in text or "width:0.0" in text


def test_a_model_without_weights() -> None:
    model = SequenceLabeler(l1=1e6, penalize_bias=True).fit(X, Y).model_
    assert "No template has a weight." in model_page("T", [], [Part("", model)])
