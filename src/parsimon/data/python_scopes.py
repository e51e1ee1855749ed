"""Python scopes: the names that a module, class, function or comprehension binds, and name resolution."""

from __future__ import annotations

from dataclasses import dataclass, field

_USE = {"module": "global", "class": "attribute", "function": "local", "comprehension": "loop-variable"}
_STORE = {
    "module": "global-store",
    "class": "attribute-store",
    "function": "local-store",
    "comprehension": "loop-variable",
}


@dataclass
class Scope:
    """The names that a module, class, function or comprehension binds, with the label for uses of each."""

    kind: str  # a key of _USE
    parent: Scope | None = None
    names: dict[str, str] = field(default_factory=dict)
    global_names: set[str] = field(default_factory=set)

    def root(self) -> Scope:
        """The module's scope."""
        return self if self.parent is None else self.parent.root()

    def bind(self, name: str, use: str | None = None) -> str:
        """Bind a name and return the label of the token that binds it."""
        if name in self.global_names:
            return self.root().bind(name, use)
        if use is None:
            self.names.setdefault(name, _USE[self.kind])
        else:
            self.names[name] = use
        return _STORE[self.kind]

    def resolve(self, name: str) -> str:
        """The label of a use of `name` in this scope; functions do not see the names in an enclosing class body."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names and (scope is self or scope.kind != "class"):
                return scope.names[name]
            scope = scope.parent
        return "global"  # a built-in
