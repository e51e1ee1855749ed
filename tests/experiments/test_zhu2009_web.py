"""The experiment on web records: what is learnt from is not tested on, and tables are what the page says they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from parsimon.features.columns import Labels
from parsimon.features.tree_columns import tree_columns
from parsimon.tasks.pages.columns import page_tree
from parsimon.tasks.pages.labels import label_page
from parsimon.tasks.pages.page import read_page


@pytest.fixture
def work(load: Callable[[str], Any]) -> Any:
    return load("zhu2009_web_jobs")


@pytest.fixture
def tables(load: Callable[[str], Any]) -> Any:
    return load("zhu2009_web")


@pytest.fixture
def made(work: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Pages of three made sites, in place of those that are kept."""
    rng, pages, records, sites = np.random.default_rng(0), [], [], []
    for site in ("a", "b", "c"):
        for _ in range(12):
            name, height = f"Jo {rng.integers(100)}", f"{rng.integers(5, 8)}-{rng.integers(12)}"
            rows = f"<tr><th>Height</th><td>{height}</td></tr><tr><th>Name</th><td>{name}</td></tr>"
            pages.append(
                read_page(f"<div class={site}><p>Ad</p><p>6-66</p></div><table class={site}>{rows}</table>")
            )
            records.append({"name": [name], "height": [height]})
            sites.append(site)
    X = tree_columns([page_tree(page) for page in pages])
    y = Labels.from_sequences([label_page(page, record) for page, record in zip(pages, records, strict=True)])
    leaf = np.concatenate([[bool(text) for text in page.texts] for page in pages])
    texts = [[page.texts[t] for t in page.leaves] for page in pages]
    found = work.Pages(X, y, leaf, texts, records, sites)
    monkeypatch.setattr(work, "load", lambda limit: found)
    return found


def test_pages_to_learn_from_choose_by_and_test_on_are_not_the_same(work: Any, made: Any) -> None:
    pool, test = work.pool_and_test(made)
    assert len(pool) == 12
    assert sorted([*pool, *test]) == list(range(36))
    for draw in range(3):
        train, rest, scored = work.drawn(made, 0.25, draw)
        assert len(train) == 3
        assert sorted([*train, *rest]) == sorted(pool)
        assert np.array_equal(scored, test)
    assert not np.array_equal(work.drawn(made, 0.25, 0)[0], work.drawn(made, 0.25, 1)[0])


def test_sites_that_are_tested_on_are_new(work: Any, made: Any) -> None:
    train, rest, test = work.drawn_sites(made, 2, 0)
    known = {made.sites[i] for i in train}
    assert len(known) == 2
    assert known.isdisjoint(made.sites[i] for i in test)
    assert known.isdisjoint(made.sites[i] for i in rest)


@pytest.mark.parametrize("structure", ["tree", "flat"])
def test_all_methods_find_records(work: Any, made: Any, structure: str) -> None:
    grid = {
        "CRF": [1e-6],
        "L2-CRF": [0.1],
        "L1-CRF": [0.05],
        "M3N": [1.0],
        "LapM3N": [0.3],
        "L1-M3N": [0.3],
    }
    assert list(grid) == list(work.METHODS)
    told = work.fit(
        structure=structure,
        part={"share": 0.5, "draw": 0},
        on="test",
        grid=grid,
        seconds=60.0,
        threads=1,
        limit=None,
    )
    assert told["pages"] == 6
    for method, (fit,) in told["fits"].items():
        assert fit["f1"] == pytest.approx(np.mean(list(fit["by_attribute"].values())))
        assert fit["f1"] > 0.8, method
        assert 0 < fit["active"] <= told["features"]
    assert told["fits"]["L1-M3N"][0]["active"] < 0.5 * told["fits"]["L2-CRF"][0]["active"]


def test_records_from_labels(work: Any, made: Any) -> None:
    chosen = np.array([3, 20])
    for structure, (_, y) in (("tree", made.trees()), ("flat", made.flat())):
        labels = y[chosen]
        found = work.found(made, chosen, labels.ids, y.names, structure)
        assert [{name: sorted(values) for name, values in record.items()} for record in found] == [
            made.records[3],
            made.records[20],
        ]


def test_strengths_are_those_with_the_highest_f1(tables: Any) -> None:
    class Remembered:
        def outcome(self, job: str, **settings: Any) -> dict[str, Any]:
            fits = {
                method: [{"f1": [0.5, 0.9, 0.9, 0.1][k], "seconds": 0.0} for k in range(len(strengths))]
                for method, strengths in settings.get("grid", {}).items()
            }
            return {"fits": fits}

    asked = tables.Asked(Remembered(), 1, tables.Plan(), False)
    chosen = tables.chosen_strengths(asked)
    assert chosen["tree"]["L1-M3N"] == tables.GRIDS["L1-M3N"][1]
    assert chosen["flat"]["CRF"] == 1e-6
