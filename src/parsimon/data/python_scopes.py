"""Which names a Python module, class, function or comprehension binds, and what a use of a name refers to."""

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
    """The names that a module, class, function or comprehension binds, each with the label of its uses."""

    kind: str  # a key of _USE
    parent: Scope | None = None
    names: dict[str, str] = field(default_factory=dict)
    global_names: set[str] = field(default_factory=set)

    def root(self) -> Scope:
        """The module's scope."""
        return self if self.parent is None else self.parent.root()

    def bind(self, name: str, use: str | None = None) -> str:
        """Bind a name; gives the label of the token that does so."""
        if name in self.global_names:
            return self.root().bind(name, use)
        if use is None:
            self.names.setdefault(name, _USE[self.kind])
        else:
            self.names[name] = use
        return _STORE[self.kind]

    def resolve(self, name: str) -> str:
        """The label of a use of `name` here; the body of a class is not seen from the functions in it."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names and (scope is self or scope.kind != "class"):
                return scope.names[name]
            scope = scope.parent
        return "global"  # a built-in one
