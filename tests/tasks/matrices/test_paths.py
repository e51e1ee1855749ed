"""Which strengths of a matrix there are to choose from."""

from __future__ import annotations

from parsimon.tasks.matrices.paths import families_of


def test_what_is_given_stays_and_the_rest_is_chosen() -> None:
    assert [(each.main, dict(each.fixed)) for each in families_of(2.0, 0.5, 0.25)] == [
        ("alpha", {"l1": 0.5, "l2": 0.25})
    ]
    assert [(each.main, dict(each.fixed)) for each in families_of(0.0, 0.5, 0.0)] == [("l2", {"l1": 0.5})]
    assert [(each.main, dict(each.fixed)) for each in families_of(0.0, 0.0, 0.5)] == [("l1", {"l2": 0.5})]
    assert not families_of(0.0, 0.5, 0.5)


def test_without_any_there_are_lasso_nets_and_ridge() -> None:
    at_one = [each.at(1.0) for each in families_of(0.0, 0.0, 0.0)]
    assert at_one[0] == {"l1": 1.0, "l2": 0.0}
    assert at_one[-1] == {"l2": 1.0, "l1": 0.0}
    assert all(each["l1"] and each["l2"] for each in at_one[1:-1])
