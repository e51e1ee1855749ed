"""Name resolution in the scopes of Python."""

from __future__ import annotations

import pytest

from parsimon.data.python_scopes import Scope


@pytest.mark.parametrize(
    ("kind", "store", "use"),
    [
        ("module", "global-store", "global"),
        ("class", "attribute-store", "attribute"),
        ("function", "local-store", "local"),
        ("comprehension", "loop-variable", "loop-variable"),
    ],
)
def test_each_kind_of_scope_has_its_labels(kind: str, store: str, use: str) -> None:
    scope = Scope(kind)
    assert scope.bind("x") == store
    assert scope.resolve("x") == use


def test_inner_names_hide_outer_ones_and_built_ins_are_global() -> None:
    module = Scope("module")
    function = Scope("function", module)
    module.bind("os", "module")
    module.bind("x")
    function.bind("x")
    assert [function.resolve(name) for name in ("x", "os", "len")] == ["local", "module", "global"]


def test_functions_do_not_see_names_of_the_class_around_them() -> None:
    module = Scope("module")
    body = Scope("class", module)
    method = Scope("function", body)
    body.bind("x")
    assert (body.resolve("x"), method.resolve("x")) == ("attribute", "global")


def test_global_names_are_bound_in_the_module() -> None:
    module = Scope("module")
    inner = Scope("function", Scope("function", module))
    inner.global_names.add("n")
    assert inner.bind("n") == "global-store"
    assert "n" in module.names
    assert inner.root() is module


def test_an_import_keeps_its_label_when_the_name_is_bound_again() -> None:
    module = Scope("module")
    module.bind("ssl", "module")
    module.bind("ssl")
    assert module.resolve("ssl") == "module"
