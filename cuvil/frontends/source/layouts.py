"""Tensors whose strides depend on the way that was taken.

Where ways meet, a merged tensor is row-major here, and in eager has the strides of the way that was taken. Those other
layouts are kept as fake tensors beside it; an op on it is asked for each of them what its result would be. So what is
computed from it has the layouts that follow, and where one layout gives a view and another a copy, that is known.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._pytree import tree_flatten, tree_unflatten

from cuvil.errors import UnsupportedError
from cuvil.frontends.aten_types import dim_of
from cuvil.frontends.graph_memory import memory_of

REMEDY = "after a branch or loop this tensor's strides depend on the way that was taken; call .contiguous() on each way"

_MOST = 64
"""Combinations of layouts that an op is asked for."""


class Layouts:
    """The layouts that tensors may have beside their own."""

    def __init__(self) -> None:
        self._of: dict[int, tuple[FakeTensor, list[FakeTensor]]] = {}

    def __bool__(self) -> bool:
        return bool(self._of)

    def of(self, tensor: Tensor) -> list[FakeTensor]:
        """Tensors of the other layouts that one may have."""
        return self._of[id(tensor)][1] if id(tensor) in self._of else []

    def add(self, tensor: FakeTensor, like: Iterable[Tensor]) -> bool:
        """Say that a tensor may lie as these do, and as these may; True if that is new."""
        found = list(self.of(tensor))
        before = len(found)
        known = {_strides(tensor), *(_strides(each) for each in found)}
        for each in (layout for one in like for layout in (one, *self.of(one))):
            if isinstance(each, FakeTensor) and _strides(each) not in known:
                known.add(_strides(each))
                found.append(each)
        if len(found) > before:
            self._of[id(tensor)] = (tensor, found)
        return len(found) > before

    def are_several(self, args: Any) -> bool:
        """Whether an argument may have several layouts."""
        return bool(self._of) and any(id(leaf) in self._of for leaf in tree_flatten(args)[0])

    def results(self, args: Any, kwargs: Any, run: Callable[[Any, Any], Any]) -> list[tuple[list[Any], Any]]:
        """For each other combination of the arguments' layouts, these and what an op gives; None if it fails."""
        leaves, tree = tree_flatten((args, kwargs))
        # A tensor that is given twice has one layout.
        several = list({id(leaf): leaf for leaf in leaves if id(leaf) in self._of}.values())
        options = [[each, *self.of(each)] for each in several]
        if torch.Size(len(each) for each in options).numel() > _MOST:
            raise UnsupportedError(REMEDY)
        found: list[tuple[list[Any], Any]] = []
        for chosen in itertools.islice(itertools.product(*options), 1, None):
            taken = {id(each): layout for each, layout in zip(several, chosen, strict=True)}
            replaced = [taken.get(id(leaf), leaf) for leaf in leaves]
            try:
                result = run(*tree_unflatten(replaced, tree))
            except Exception:  # what the layout does not allow
                result = None
            found.append((replaced, result))
        return found

    def check_question(self, name: str, tensor: Tensor, ask: Callable[[Tensor], Any]) -> None:
        """Refuse a question about a tensor that its layouts answer in different ways."""
        if any(ask(each) != ask(tensor) for each in self.of(tensor)):
            raise UnsupportedError(f"{name}: {REMEDY}")


def shares(result: Any, inputs: Iterable[Any]) -> bool:
    """Whether a result lies in the memory of an input."""
    memory = memory_of(result)
    return any(memory_of(each) == memory for each in inputs if isinstance(each, Tensor))


def _strides(tensor: Tensor) -> tuple[Any, ...]:
    return tuple(dim_of(stride) for stride in tensor.stride())
