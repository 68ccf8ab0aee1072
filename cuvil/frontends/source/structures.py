"""Values as trees: lists, tuples, dicts and dataclasses with tensors, numbers and constants as leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import is_dataclass
from typing import Any, cast


def is_container(value: Any) -> bool:
    """True for what can be changed in place and is followed where control flow parts."""
    return type(value) in (list, dict) or is_instance_of_dataclass(value)


def is_instance_of_dataclass(value: Any) -> bool:
    """True for an object, not a class, of a dataclass that keeps its fields in a dict."""
    return is_dataclass(value) and not isinstance(value, type) and hasattr(value, "__dict__")


def children(value: Any) -> list[tuple[Any, Any]] | None:
    """The parts of a value by key; None of a leaf."""
    if type(value) is dict:
        return list(cast("dict[Any, Any]", value).items())
    if type(value) is list or isinstance(value, tuple):
        return list(enumerate(cast("Iterable[Any]", value)))
    if is_instance_of_dataclass(value):
        return list(vars(value).items())
    return None


def rebuilt(value: Any, parts: list[Any]) -> Any:
    """A value like this one with other parts."""
    if type(value) is dict:
        return dict(zip(cast("dict[Any, Any]", value), parts, strict=True))
    if isinstance(value, tuple):
        kind = type(cast("tuple[Any, ...]", value))
        return kind(*parts) if hasattr(kind, "_fields") else kind(parts)
    if is_instance_of_dataclass(value):
        made = object.__new__(type(value))
        made.__dict__.update(zip(vars(value), parts, strict=True))
        return made
    return list(parts)


def same_shape(one: Any, other: Any) -> bool:
    """True if two values have the same parts by key, and are not leaves."""
    left, right = children(one), children(other)
    return (
        type(one) is type(other)
        and left is not None
        and right is not None
        and [key for key, _ in left] == [key for key, _ in right]
    )


def leaves(value: Any) -> list[Any]:
    """The leaves of a value, in order."""
    parts = children(value)
    return [value] if parts is None else [leaf for _, part in parts for leaf in leaves(part)]


def mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """The value with a function applied to each leaf."""
    parts = children(value)
    return function(value) if parts is None else rebuilt(value, [mapped(function, part) for _, part in parts])


def contents(container: Any) -> dict[Any, Any]:
    """What a container holds, by key."""
    return dict(children(container) or [])


def refill(container: Any, held: dict[Any, Any]) -> None:
    """Make a container hold this and nothing else."""
    if type(container) is list:
        container[:] = held.values()
        return
    store: dict[Any, Any] = container if type(container) is dict else container.__dict__
    if store.keys() != held.keys() or any(store[key] is not held[key] for key in held):
        store.clear()
        store.update(held)


def containers(roots: Iterable[Any]) -> list[Any]:
    """All containers that can be reached from the roots, once each."""
    found: dict[int, Any] = {}
    waiting = list(roots)
    while waiting:
        value = waiting.pop()
        parts = children(value)
        if parts is None or id(value) in found:
            continue
        if is_container(value):
            found[id(value)] = value
        waiting.extend(part for _, part in parts)
    return list(found.values())
