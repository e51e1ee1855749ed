"""Estimators whose fitted state is a model: they are pickled as its model file, which has no code in it."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.base import BaseEstimator

from parsimon.tasks.model_file import Kind, dump_model, parse_model


class FittedModel(BaseEstimator):
    """An estimator that is fitted once it has a `model_`, of the kind that its class names."""

    model_kind: ClassVar[Kind]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "model_" in state:
            state["model_"] = dump_model(state["model_"])
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        model = state.get("model_")
        if isinstance(model, bytes):
            state = {**state, "model_": parse_model(model, kind=self.model_kind)}
        super().__setstate__(state)
