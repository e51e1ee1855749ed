"""Four learners of one model, the L1-M3N: table 1, figures 5 and 6."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from parsimon.report.markdown import table
from results import panels_of, percent, whole
from zhu2009_fits import decimal, fits, mean_of, objective_of, seconds_of
from zhu2009_plan import Asked

STRENGTHS = (120.0, 90.0, 70.0, 50.0, 40.0, 20.0)  # ρ = 1/C where learners are compared
OCR_STRENGTHS = (6.0, 3.0, 1.7, 1.0, 0.6, 0.3)
FROM = 1.0  # the least strength at which the cutting plane's linear programs are tried on words


@dataclass(frozen=True)
class Learner:
    """A learner of the L1-M3N: what came of it by strength, and the constants that stand for these strengths."""

    title: str
    constants: list[float]
    outcomes: list[dict[str, Any] | None]

    @property
    def fits(self) -> list[list[dict[str, Any]]]:
        """Of every fold, by strength; none where it was not run."""
        return [[] if one is None else one["fits"][0] for one in self.outcomes]

    @property
    def weights(self) -> list[Any]:
        """State weights, averages over folds, by strength; None where it was not run."""
        return [None if one is None else np.array(one["weights"][0])[:-4] for one in self.outcomes]

    def l1_objectives(self, strengths: Sequence[float]) -> list[float | None]:
        """Σ hinge + ρ‖w‖₁, means over folds."""
        return [
            float(np.mean([fit["loss"] + strength * fit["norm"] for fit in of])) if of else None
            for strength, of in zip(strengths, self.fits, strict=True)
        ]


@dataclass(frozen=True)
class Comparison:
    """Data on which learners are compared: at which strengths, on how many folds, how exactly EM is run."""

    data: dict[str, Any]
    strengths: list[float]
    folds: int
    em_tol: float
    planes: Callable[[float], int]  # on how many folds the cutting plane is run, by strength

    def run(
        self, asked: Asked, method: str, constants: Sequence[float], folds: Callable[[float], int]
    ) -> list[dict[str, Any] | None]:
        """What comes of a learner with these constants, which stand for the strengths."""
        tol = {"tol": self.em_tol} if method.startswith("EM") else {}
        which = [k for k, strength in enumerate(self.strengths) if folds(strength)]
        wanted = [
            fits(self.data, method, [(constants[k],)], range(folds(self.strengths[k])), **tol) for k in which
        ]
        told = dict(zip(which, asked.outcomes("fit", wanted), strict=True))
        return [told.get(k) for k in range(len(constants))]

    def learners(self, asked: Asked) -> list[Learner]:
        """Four with the same solutions.

        They go by different constants: ρ = 1/C; the radius of a ball; and K = Σ τ, of which 1/K is the strength of a
        squared L1 norm. EM with ρ comes first, and the norms N of what it finds say which radius (N) and which K
        (N/ρ) have nearly the same solution.
        """

        def everywhere(strength: float) -> int:
            return self.folds

        own = self.strengths
        em = Learner("EM", own, self.run(asked, "EM", own, everywhere))
        radii = [three_digits(max(mean_of(of, "norm") or 0.0, 1e-3)) for of in em.fits]
        squared = [three_digits(rho / radius) for rho, radius in zip(own, radii, strict=True)]
        return [
            Learner("cutting plane", own, self.run(asked, "cutting plane", own, self.planes)),
            em,
            Learner(
                "EM, Σ τ = K", [1 / s for s in squared], self.run(asked, "EM, Σ τ = K", squared, everywhere)
            ),
            Learner("projected subgradient", radii, self.run(asked, "subgradient", radii, everywhere)),
        ]


def three_digits(value: float) -> float:
    """Rounded."""
    return float(f"{value:.3g}")


def on_first_set(asked: Asked) -> Comparison:
    """The first synthetic set."""
    k = asked.plan.parts_of_first
    return Comparison(asked.made(0, k), asked.strengths(STRENGTHS), k, 1e-5, lambda rho: k)


def on_words(asked: Asked) -> Comparison:
    """OCR100."""
    plan = asked.plan

    def planes(rho: float) -> int:
        return plan.folds_of_planes if rho >= FROM else 0

    return Comparison(
        asked.drawn_words(plan.words[0]), asked.strengths(OCR_STRENGTHS), plan.folds, 1e-3, planes
    )


def columns_of(strengths: Sequence[float]) -> list[str]:
    """The head of a table by strengths."""
    return [f"ρ = {rho:g}" for rho in strengths]


def table1(asked: Asked) -> str:
    """Weights that are not zero, and how many of these are irrelevant, against the constant."""
    comparison = on_first_set(asked)
    truth = asked.outcome("truth", asked.drawn(0))
    if truth is None:
        return ""
    relevant = np.array(truth["relevant"])[:-4]
    rows = []
    for learner in comparison.learners(asked):
        rows.append([f"{learner.title}: constant", *(f"{c:.3g}" for c in learner.constants)])
        for title, of in (("total", np.ones(len(relevant), bool)), ("irrelevant", ~relevant)):
            counts = [None if w is None else np.count_nonzero(w[of]) for w in learner.weights]
            rows.append([f"– {title}", *map(whole, counts)])
        rows.append(["– of one fold (all 204)", *(decimal(mean_of(f, "active")) for f in learner.fits)])
        rows.append(["– support outputs", *(decimal(mean_of(f, "support")) for f in learner.fits)])
    return table(["", *columns_of(comparison.strengths)], rows)


def figure5(asked: Asked) -> str:
    """Error and time of the learners against the constant, first synthetic set."""
    return compared(asked, "zhu2009-figure5", on_first_set(asked))


def figure6(asked: Asked) -> str:
    """The same on OCR100."""
    return compared(asked, "zhu2009-figure6", on_words(asked))


def compared(asked: Asked, name: str, comparison: Comparison) -> str:
    """Errors, times and objectives, as a table and as a figure."""
    strengths, learners = comparison.strengths, comparison.learners(asked)
    rows = []
    for learner in learners:
        own = learner.fits
        rows.append([f"{learner.title}: error, %", *(percent(mean_of(f, "error")) for f in own)])
        rows.append(["– seconds a fold", *(seconds_of(mean_of(f, "processors")) for f in own)])
        rows.append(["– objective", *map(objective_of, learner.l1_objectives(strengths))])
        rows.append(["– weights that are not zero", *(decimal(mean_of(f, "active")) for f in own)])
        rows.append(["– folds", *(str(len(f)) for f in own)])

    def draw(axes: Any) -> None:
        upper, lower = panels_of(axes, 2, 1, sharex=True)
        for learner in learners:
            points = [(1 / rho, f) for rho, f in zip(strengths, learner.fits, strict=True) if f]
            for panel, of, times in ((upper, "error", 100), (lower, "processors", 1)):
                means = [times * (mean_of(f, of) or 0.0) for _, f in points]
                panel.plot([c for c, _ in points], means, "o-", label=learner.title)
        upper.set(xscale="log", ylabel="error, %")
        lower.set(xscale="log", yscale="log", ylabel="processor seconds a fold", xlabel="C = 1/ρ")
        lower.set_xticks([1 / rho for rho in strengths], [f"{1 / rho:.2g}" for rho in strengths])
        lower.minorticks_off()
        upper.legend(fontsize=8)
        for panel in (upper, lower):
            panel.grid(alpha=0.3)

    return table(["", *columns_of(strengths)], rows) + asked.figure(name, draw, 7.0, 6.5)
