"""Estimates of the time left, on histories whose end is known."""

from __future__ import annotations

import math

import pytest

from parsimon.report.time_left import TimeLeft
from parsimon.solvers.base import Event


def event(iteration: int, seconds: float, kkt: float | None = None) -> Event:
    return Event(iteration, seconds, objective=1.0, active=1, evaluations=iteration + 1, kkt=kkt)


def test_nothing_is_said_without_ground():
    left = TimeLeft(end=lambda first: 1e-5 * first)
    assert left.seconds(0.0) is None
    for i in range(50):
        left.see(event(i, i))
    assert left.seconds(50.0) is None


def test_a_time_limit_is_certain():
    left = TimeLeft(time_limit=60)
    assert left.seconds(20.0) == 40
    assert left.seconds(70.0) == 0


def test_iterations_go_by_their_pace():
    left = TimeLeft(max_iter=100)
    for i in range(41):
        left.see(event(i, 10 + 0.5 * i))
    assert left.seconds(30.0) == pytest.approx(30.0)


def test_convergence_goes_by_the_trend_of_the_residuals():
    left = TimeLeft(end=lambda first: 1e-5 * first)
    for i in range(20):
        seconds = 2.0 * i
        left.see(event(i, seconds, kkt=500 * math.exp(-0.1 * seconds) if i % 2 == 0 else None))
    assert left.seconds(40.0) == pytest.approx(-math.log(1e-5) / 0.1 - 40.0)


def test_a_trend_that_was_wrong_is_not_told():
    left = TimeLeft(end=lambda first: 1e-5 * first)
    for i in range(10):
        left.see(event(i, float(i), kkt=math.exp(-i)))
    assert left.seconds(9.0) == pytest.approx(-math.log(1e-5) - 9.0)
    assert left.seconds(20.0) is None


def test_residuals_that_do_not_fall_tell_nothing():
    left = TimeLeft(end=lambda first: 1e-5 * first)
    for i in range(10):
        left.see(event(i, float(i), kkt=100.0))
    assert left.seconds(10.0) is None


def test_the_first_limit_counts():
    left = TimeLeft(max_iter=1000, time_limit=30)
    for i in range(10):
        left.see(event(i, float(i)))
    assert left.seconds(10.0) == pytest.approx(20.0)


def test_a_new_fit_is_unknown_again():
    left = TimeLeft(max_iter=10)
    for i in range(5):
        left.see(event(i, float(i)))
    left.fit(None, None)
    assert left.seconds(5.0) is None


def test_many_parts_go_by_the_time_that_those_before_took():
    left = TimeLeft()
    left.phase(10.0, 0.0)
    assert left.seconds(11.0) is None
    left.phase(14.0, 0.25)
    left.fit(100, 1e-5)
    left.see(event(0, 15.0))
    assert left.seconds(16.0) == pytest.approx(10.0)
    left.phase(30.0, None)
    assert left.seconds(31.0) is None
