"""Group lasso on disjoint groups beside group-lasso, skglm and adelie: the same objective, and the time to reach it.

`python benchmarks/disjoint_groups.py` makes logistic-regression problems, solves each with every library that is
installed, all in one process and in turns, and prints a table. All objectives are computed here, from the weights that
a library returns: Σ log(1 + exp(−y Xw)) + α Σ_g √|g| ‖w_g‖. Each library has its own idea of a tolerance; it is given
the loosest of 10⁻¹, 10⁻², … with which it comes within `--accuracy` of the optimum.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from parsimon.report.markdown import replace_blocks, table
from run import say


@dataclass(frozen=True)
class Case:
    """A problem: groups of `size` columns that follow each other."""

    name: str
    X: Any
    y: Any  # −1 or 1
    size: int
    alpha: float

    def objective(self, w: Any) -> float:
        """Σ loss + Ω, whoever found w."""
        norms = np.linalg.norm(np.reshape(w, (-1, self.size)), axis=1)
        loss = np.logaddexp(0, -self.y * np.asarray(self.X @ w).ravel()).sum()
        return float(loss + self.alpha * np.sqrt(self.size) * norms.sum())


def made_up(name: str, n: int, d: int, size: int, share: float, *, density: float | None = None) -> Case:
    """A tenth of the groups matters; `share` of the strength at which none does."""
    from scipy import sparse

    rng = np.random.default_rng(0)
    X: Any = rng.normal(size=(n, d))
    if density is not None:
        X = sparse.random(n, d, density, random_state=0, data_rvs=lambda k: rng.poisson(1.0, k) + 1.0).tocsc()
    true = rng.normal(size=d) * np.repeat(rng.random(d // size) < 0.1, size)
    score = np.asarray(X @ true).ravel()
    y = np.where(score + np.std(score) * 0.3 * rng.normal(size=n) > np.median(score), 1.0, -1.0)
    largest = np.max(
        np.linalg.norm(np.reshape(np.asarray(X.T @ y).ravel() / 2, (-1, size)), axis=1)
    ) / np.sqrt(size)
    return Case(name, X, y, size, float(share * largest))


def parsimon(case: Case, tol: float) -> Any:
    from parsimon.penalties import GroupLasso
    from parsimon.penalties.groups import Groups
    from parsimon.solvers import Weights, choose_solver, drive
    from parsimon.tasks.matrices.flat import flat_problem

    d = case.X.shape[1]
    groups = Groups.consecutive(np.arange(0, d + 1, case.size), d, weight="sqrt")
    problem = flat_problem(case.X, case.y > 0, 2, GroupLasso(case.alpha, groups), bias=False)
    start = Weights.zeros(problem.n_features)
    return drive(choose_solver("auto", problem, tol), problem, start).weights.dense()


def skglm(case: Case, tol: float) -> Any:
    from skglm import GeneralizedLinearEstimator
    from skglm.datafits import LogisticGroup
    from skglm.penalties import WeightedGroupL2
    from skglm.solvers import GroupProxNewton
    from skglm.utils.data import grp_converter

    n, d = case.X.shape
    indices, ptr = grp_converter(case.size, d)
    weights = np.full(d // case.size, np.sqrt(case.size))
    penalty = WeightedGroupL2(case.alpha / n, weights, ptr, indices)  # its loss is a mean
    solver = GroupProxNewton(tol=tol * 1e-2, fit_intercept=False, warm_start=False, max_iter=200)
    return np.ravel(
        GeneralizedLinearEstimator(LogisticGroup(ptr, indices), penalty, solver).fit(case.X, case.y).coef_
    )


def adelie(case: Case, tol: float) -> Any:
    import adelie as ad

    n, d = case.X.shape
    X: Any = (
        np.asfortranarray(case.X)
        if isinstance(case.X, np.ndarray)
        else ad.matrix.sparse(case.X, method="naive")
    )
    state = ad.grpnet(
        X=X,
        glm=ad.glm.binomial(y=(case.y > 0).astype(np.float64)),
        groups=np.arange(0, d, case.size),
        lmda_path=[case.alpha / n],
        intercept=False,
        tol=tol * 1e-3,
        irls_tol=tol * 1e-3,
        progress_bar=False,
        early_exit=False,
    )
    return np.asarray(state.betas.toarray()).ravel()


def group_lasso(case: Case, tol: float) -> Any:
    from group_lasso import LogisticGroupLasso

    n, d = case.X.shape
    model = LogisticGroupLasso(
        groups=np.repeat(np.arange(d // case.size), case.size),
        group_reg=case.alpha / (np.sqrt(2) * n),  # it has two columns of weights, and half a mean loss
        l1_reg=0.0,
        scale_reg="group_size",
        fit_intercept=False,
        n_iter=1_000,
        tol=tol * 1e-2,
        supress_warning=True,
    )
    X = case.X if isinstance(case.X, np.ndarray) else case.X.tocsr()
    model.fit(X, (case.y > 0).astype(int))
    return np.ravel(model.coef_[:, 1] - model.coef_[:, 0])


LONGEST = 30.0  # seconds that a library may take before it is left alone

LIBRARIES: dict[str, Callable[[Case, float], Any]] = {
    "parsimon": parsimon,
    "skglm": skglm,
    "adelie": adelie,
    "group_lasso": group_lasso,
}
CASES: tuple[Callable[[], Case], ...] = (
    lambda: made_up("dense, 1,000 × 2,000, groups of 10, α = 0.2 α_max", 1000, 2000, 10, 0.2),
    lambda: made_up("dense, 1,000 × 2,000, groups of 10, α = 0.05 α_max", 1000, 2000, 10, 0.05),
    lambda: made_up(
        "sparse, 2,000 × 20,000, groups of 5, α = 0.1 α_max", 2000, 20_000, 5, 0.1, density=0.005
    ),
)


def measure(case: Case, accuracy: float, repeats: int) -> list[list[str]]:
    """Finds the tolerance that each library needs, then times all of them in turns."""
    goal = case.objective(parsimon(case, 1e-9)) * (1 + accuracy)
    enough: dict[str, float] = {}
    lowest: dict[str, float] = {}
    for name in (name for name in LIBRARIES if find_spec(name) is not None):
        for power in range(1, 8):
            began = time.perf_counter()
            try:
                value = case.objective(quietly(LIBRARIES[name], case, 10.0**-power))
            except Exception as error:  # a library may refuse sparse matrices, for one
                say(f"{case.name}: {name} fails: {error}")
                break
            say(f"{case.name}: {name}, {10.0**-power:g}: {value:.6f}")
            lowest[name] = min(value, lowest.get(name, np.inf))
            if value <= goal:
                enough[name] = 10.0**-power
            if value <= goal or time.perf_counter() - began > LONGEST:
                break
    times: dict[str, list[float]] = {name: [] for name in enough}
    for _ in range(repeats):
        for name, own in times.items():
            began = time.perf_counter()
            quietly(LIBRARIES[name], case, enough[name])
            own.append(time.perf_counter() - began)
    rows = []
    for name, value in lowest.items():
        took = median(times[name]) if name in times else None
        ratio = "–" if took is None else f"{took / median(times['parsimon']):.1f}×"
        shown = "not reached" if took is None else f"{1e3 * took:.0f} ms"
        rows.append([case.name, name.replace("_", "-"), f"{value:.6f}", shown, ratio])
    return rows


def quietly(library: Callable[[Case, float], Any], case: Case, tol: float) -> Any:
    """Without what libraries have to say about convergence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return library(case, tol)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument(
        "--accuracy", type=float, default=1e-5, help="relative, of the objective (default: 1e-5)"
    )
    parser.add_argument("--repeats", type=int, default=3, help="medians are of so many (default: 3)")
    parser.add_argument(
        "--write", type=Path, metavar="PAGE", help="put the table between the markers `group-lasso`"
    )
    options = parser.parse_args()
    rows = [row for make in CASES for row in measure(make(), options.accuracy, options.repeats)]
    text = table(["", "library", "objective", "time to it", "against Parsimon"], rows)
    print(text)
    if options.write is not None:
        replace_blocks(options.write, {"group-lasso": text})


if __name__ == "__main__":
    main()
