"""Model files whose parts are changed one by one."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load, save

from parsimon.errors import ParsimonError
from parsimon.tasks.model_file import dump_model, parse_model
from parsimon.tasks.packed_arrays import unpack

WRONG: list[Any] = [None, [], {}, "text", -1, 1.5, True, [None], {"a": None}, 10**400]


def changed(model: Any, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> bytes:
    """A model's file with another header or other arrays."""
    content = dump_model(model)
    length = int.from_bytes(content[:8], "little")
    header = json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["parsimon"])
    tensors = unpack(load(content), header.pop("packed"), len(content))  # nothing has to be packed
    change(header, tensors)
    return bytes(save(tensors, {"parsimon": json.dumps(header)}))


def refused(model: Any, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> str:
    """What a file that was changed is refused with."""
    with pytest.raises(ParsimonError) as error:
        parse_model(changed(model, change))
    assert "\n" not in str(error.value)
    return str(error.value)


def survives_any_header(model: Any) -> None:
    """Wrong types anywhere in a header, or arrays left out, give one sentence or a model; no other exception."""
    content = dump_model(model)
    length = int.from_bytes(content[:8], "little")
    header = json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["parsimon"])
    for name in header:
        for wrong in WRONG:
            value = copy.deepcopy(wrong)
            try:
                back = parse_model(changed(model, lambda h, t, n=name, v=value: h.update({n: v})))  # type: ignore[misc]
            except ParsimonError as error:
                if "\n" in str(error):
                    raise AssertionError(name, wrong) from error
            else:
                assert np.isfinite(back.weights).all()
    for name in load(content):
        assert "is damaged" in refused(model, lambda h, t, n=name: t.pop(n))  # type: ignore[misc]
