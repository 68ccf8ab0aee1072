"""Tensors that are one of several, depending on the way that was taken.

Where ways meet, a variable that names another tensor on each becomes a new one with the right elements. It has
`Alternative`s: the tensors of before that it may be, each with a flag that says whether it is. Its memory is read anew
where one of them changed since, and what is written into it is written into that one too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor
from xdsl.ir import SSAValue

from cuvil.frontends.graph_memory import memory_of
from cuvil.frontends.strided import Geometry


@dataclass(frozen=True, slots=True)
class Alternative:
    """A tensor that another one is where the flag, a bool tensor, holds."""

    flag: Tensor
    target: FakeTensor


class Versioned(Protocol):
    """The part of the present state that is read here."""

    versions: dict[int, int]
    synced: dict[int, tuple[int, ...]]


class Host(Protocol):
    """What emits operations."""

    memory: Any

    def value_of(self, tensor: Tensor) -> SSAValue: ...
    def written(self, fake: FakeTensor, value: SSAValue) -> None: ...
    def rebase(self, memory: int, value: SSAValue) -> None: ...
    def fresh(self, like: Tensor, value: SSAValue) -> FakeTensor: ...
    def noticing(self) -> Any: ...
    def owner_of(self, memory: int) -> FakeTensor: ...
    def own_value(self, memory: int) -> SSAValue: ...


class Choices:
    """The alternatives of memories, and keeping these and theirs the same."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._of: dict[int, tuple[Alternative, ...]] = {}

    def __bool__(self) -> bool:
        return bool(self._of)

    def of(self, tensor: Tensor) -> tuple[Alternative, ...]:
        """What a tensor may be besides itself."""
        return self._of.get(memory_of(tensor), ())

    def add(self, tensor: FakeTensor, alternatives: list[Alternative]) -> None:
        """Say what a new tensor may be; it has the elements that they have now."""
        if alternatives:
            memory = memory_of(tensor)
            self._of[memory] = tuple(alternatives)
            self._host.memory.synced[memory] = self._versions(memory)

    def refresh(self, memory: int) -> None:
        """Read a memory anew if one of its alternatives changed."""
        alternatives = self._of.get(memory, ())
        if not alternatives:
            return
        for each in alternatives:
            self.refresh(memory_of(each.target))
        before, now = self._host.memory.synced.get(memory), self._versions(memory)
        if before == now:
            return
        # First, for the values below ask again.
        self._host.memory.synced[memory] = now
        value = self._host.own_value(memory)
        for place, each in enumerate(alternatives):
            if before is None or before[place] != now[place]:
                value = self._selected(each.flag, each.target, self._host.value_of(each.target), value)
        self._host.rebase(memory, value)

    def spread(self, memory: int) -> None:
        """Write what a memory has become into the alternative that it is."""
        owner = self._host.owner_of(memory)
        for each in self._of.get(memory, ()):
            new = self._host.own_value(memory)
            old = self._host.value_of(each.target)
            self._host.written(each.target, self._selected(each.flag, owner, new, old))
        if memory in self._of:
            self._host.memory.synced[memory] = self._versions(memory)

    def flag_of(self, tensor: Tensor, candidate: Tensor) -> Tensor | bool:
        """Whether a tensor is another one, of before: known, or as the flags tell."""
        if is_same_place(tensor, candidate):
            return True
        found: Tensor | bool = False
        for each in self.of(tensor):
            if not is_same_place(tensor, self._host.owner_of(memory_of(tensor))):
                continue
            inner = self.flag_of(each.target, candidate)
            if inner is False:
                continue
            with self._host.noticing():
                both = each.flag if inner is True else torch.logical_and(each.flag, inner)
                found = both if found is False else torch.logical_or(found, both)
        return found

    def _selected(self, flag: Tensor, like: Tensor, one: SSAValue, other: SSAValue) -> SSAValue:
        with self._host.noticing():
            left, right = self._host.fresh(like, one), self._host.fresh(like, other)
            return self._host.value_of(torch.where(flag, left, right))

    def _versions(self, memory: int) -> tuple[int, ...]:
        versions = self._host.memory.versions
        return tuple(versions.get(memory_of(each.target), 0) for each in self._of[memory])


def is_same_place(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors are the same elements in the same order."""
    return memory_of(one) == memory_of(other) and Geometry.of(one).is_same(Geometry.of(other))
