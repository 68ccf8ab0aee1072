"""Names: the variables of the functions being read, what they close over, and what compiled code must check again.

A function's Python globals, closure variables and the plain attributes of the objects it uses are constants of what is
compiled; each one read becomes a `Guard`, checked at every call.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CellType, FunctionType
from typing import Any

from torch import Tensor, nn

from cuvil.errors import UnsupportedError
from cuvil.frontends.source.control import Clash
from cuvil.frontends.source.syntax import Source, Syntax

PLAIN = (bool, int, float, str, type(None))
_GUARDED = (Tensor, nn.Module, FunctionType)


@dataclass(frozen=True)
class Guard:
    """A value outside of the function that it was compiled for: a plain one, or the identity of an object."""

    name: str
    read: Callable[[], Any]
    value: Any

    @property
    def is_plain(self) -> bool:
        """Whether a value is guarded, not an identity."""
        return type(self.value) in PLAIN

    def holds(self) -> bool:
        """Whether the value is what it was."""
        try:
            now = self.read()
        except Exception:  # the name or attribute is gone
            return False
        if now is self.value:
            return True
        if type(now) is not type(self.value) or type(now) not in PLAIN:
            return False
        return now == self.value or (now != now and self.value != self.value)


class Guards:
    """The guards of one compilation, each place once."""

    def __init__(self) -> None:
        self.found: dict[tuple[int, str], Guard] = {}
        self.kept: list[Any] = []

    def add(self, holder: Any, name: str, shown: str, read: Callable[[], Any], value: Any) -> None:
        """Guard a value, if it is a plain one, a tensor, a module or a function."""
        if (type(value) in PLAIN or isinstance(value, _GUARDED)) and (id(holder), name) not in self.found:
            self.kept.append(holder)
            self.found[id(holder), name] = Guard(shown, read, value)


@dataclass
class Scope:
    """The names that a function's statements see."""

    source: Source
    names: dict[str, Any]
    guards: Guards
    globals: dict[str, Any]
    cells: dict[str, CellType] = field(default_factory=dict[str, CellType])
    parent: Scope | None = None
    nonlocals: set[str] = field(default_factory=set[str])

    def get(self, name: str) -> Any:
        """The value of a name. Raises `UnsupportedError` for one without a value, or with none that can be carried."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                value = scope.names[name]
                if isinstance(value, Clash):
                    raise UnsupportedError(value.reason)
                return value
            if name in scope.cells:
                return self.closed_over(scope.cells[name], name)
            scope = scope.parent
        if name in self.globals:
            held = self.globals
            self.guards.add(held, name, name, lambda: held[name], held[name])
            return held[name]
        if hasattr(builtins, name):
            return getattr(builtins, name)
        raise UnsupportedError(f"name '{name}' has no value here")

    def closed_over(self, cell: CellType, name: str) -> Any:
        try:
            value = cell.cell_contents
        except ValueError as error:
            raise UnsupportedError(f"name '{name}' has no value yet") from error
        self.guards.add(cell, name, name, lambda: cell.cell_contents, value)
        return value

    def set(self, name: str, value: Any) -> None:
        """Bind a name."""
        scope = self
        while name in scope.nonlocals:
            if scope.parent is None:
                raise UnsupportedError(f"'{name}' belongs to a function outside; return the new value instead")
            scope = scope.parent
        scope.names[name] = value


@dataclass(slots=True)
class ReadFunction:
    """A function defined by a function that is read: its tree, and the scope that it closes over."""

    syntax: Syntax
    scope: Scope
    defaults: tuple[Any, ...]
    keyword_defaults: dict[str, Any]
    call: Callable[..., Any]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.call(self, args, kwargs)


def scope_of(function: FunctionType, syntax: Syntax, guards: Guards) -> Scope:
    """The scope of a call to a Python function, its parameters not yet bound."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    return Scope(syntax.source, {}, guards, function.__globals__, cells)


def bind_parameters(
    syntax: Syntax,
    defaults: tuple[Any, ...],
    keyword_defaults: dict[str, Any],
    args: tuple[Any, ...],
    given: dict[str, Any],
) -> dict[str, Any]:
    """The parameters of a call by name. Raises `UnsupportedError` where they do not fit."""
    parameters = syntax.node.args
    given = dict(given)
    positional = [parameter.arg for parameter in (*parameters.posonlyargs, *parameters.args)]
    bound: dict[str, Any] = dict(zip(positional, args, strict=False))
    if len(args) > len(positional) and parameters.vararg is None:
        raise UnsupportedError(f"it takes {len(positional)} positional arguments, got {len(args)}")
    if parameters.vararg is not None:
        bound[parameters.vararg.arg] = tuple(args[len(positional) :])
    by_default = dict(zip(positional[len(positional) - len(defaults) :], defaults, strict=True)) | keyword_defaults
    for name in [*positional, *(parameter.arg for parameter in parameters.kwonlyargs)]:
        if name in given and name not in bound:
            bound[name] = given.pop(name)
        elif name not in bound:
            if name not in by_default:
                raise UnsupportedError(f"argument '{name}' is missing")
            bound[name] = by_default[name]
    if parameters.kwarg is not None:
        bound[parameters.kwarg.arg] = given
    elif given:
        raise UnsupportedError(f"unexpected keyword argument '{next(iter(given))}'")
    return bound
