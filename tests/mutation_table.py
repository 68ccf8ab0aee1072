"""Tables of programs that change tensors or give them back, and how each is compared with eager PyTorch.

A program takes its arguments, or a module and arguments. What must be as in eager PyTorch: results, arguments and
buffers afterwards, which results are arguments or buffers themselves, and who shares memory with whom.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils import _pytree as pytree


@dataclass(frozen=True)
class Program:
    """A function, the arguments of a call, and the module that is its first argument, if it has one."""

    function: Callable[..., Any]
    arguments: Callable[[], tuple[Any, ...]]
    model: Callable[[], nn.Module] | None = None
    doors: frozenset[str] = frozenset({"export", "source", "dynamo"})

    @property
    def name(self) -> str:
        return self.function.__name__


class Programs(list[Program]):
    """A table of programs."""

    def add(
        self,
        arguments: Callable[[], tuple[Any, ...]],
        model: Callable[[], nn.Module] | None = None,
        doors: str = "export source dynamo",
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Put a function into the table."""

        def put(function: Callable[..., Any]) -> Callable[..., Any]:
            self.append(Program(function, arguments, model, frozenset(doors.split())))
            return function

        return put


def x34(dtype: torch.dtype = torch.float32) -> Tensor:
    return (torch.arange(12).reshape(3, 4) - 5).to(dtype)


def one() -> tuple[Any, ...]:
    return (x34(),)


def two() -> tuple[Any, ...]:
    return x34(), x34() * 0.5 + 1


def square() -> tuple[Any, ...]:
    return (torch.arange(16.0).reshape(4, 4),)


def compare(case: Program, compiled: Callable[..., Any], model: nn.Module | None, calls: int = 2) -> None:
    """Call what was compiled of a program with `model`, and eager PyTorch with a copy of it: all must be as there."""
    twin = copy.deepcopy(model)
    for _ in range(calls):
        given = case.arguments()
        expected_given = copy.deepcopy(given)
        expected = case.function(*([] if twin is None else [twin]), *expected_given)
        got = compiled(*given)
        compare_call(expected, got, (expected_given, _buffers(twin)), (given, _buffers(model)))


def compare_call(expected: Any, got: Any, expected_held: Any, held: Any) -> None:
    """Compare results, what was given, and how they lie in memory."""
    _close(expected, got, "results")
    _close(expected_held, held, "arguments and buffers")
    one, other = _tensors(expected), _tensors(got)
    one_held, other_held = _tensors(expected_held), _tensors(held)
    for place, (left, right) in enumerate(zip(one, other, strict=True)):
        for number, (mine, yours) in enumerate(zip([*one_held, *one], [*other_held, *other], strict=True)):
            assert (left is mine) == (right is yours), f"result {place} is {number}: {left is mine}"
            assert _distance(left, mine) == _distance(right, yours), f"memory of result {place} and {number}"
        shares = any(_distance(left, mine) is not None for mine in one_held)
        assert not shares or left.stride() == right.stride(), f"strides of result {place}"


def _distance(one: Tensor, other: Tensor) -> int | None:
    """How many bytes apart tensors on one memory begin; None of tensors on two."""
    if not one.numel() or not other.numel():
        return None
    same = one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()
    return one.data_ptr() - other.data_ptr() if same else None


def _tensors(tree: Any) -> list[Tensor]:
    return [leaf for leaf in pytree.tree_leaves(tree) if isinstance(leaf, Tensor)]


def _buffers(model: nn.Module | None) -> list[Tensor]:
    return [] if model is None else [tensor for _, tensor in model.named_buffers(remove_duplicate=False)]


def _close(expected: Any, got: Any, what: str) -> None:
    assert pytree.tree_structure(expected) == pytree.tree_structure(got), what
    for left, right in zip(pytree.tree_leaves(expected), pytree.tree_leaves(got), strict=True):
        if isinstance(left, Tensor):
            torch.testing.assert_close(right, left, equal_nan=True, msg=lambda text: f"{what}: {text}")
        else:
            assert left == right, what
