"""What a call of compiled code does besides computing: it changes tensors of the caller's, and gives views of them.

Compiled code takes tensors and gives new ones. A program that changes its arguments, or gives them or parts of them
back, is described by `Effects`: where each input comes from among the tensors *given* (arguments, then the state that
the program reads anew at each call), which of those get new values, and how each result is made.

Results are recipes: `Computed` is a new tensor, `Given` a tensor of the caller's itself, `View` one on the memory of
another, `Either` what a flag says that the running program computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import torch
from torch import Tensor

from cuvil.errors import CuvilRuntimeError
from cuvil.semantics.dims import Dim


@dataclass(frozen=True, slots=True)
class Computed:
    """A result of the compiled code, in memory of its own; with `strides`, laid out so."""

    index: int
    strides: tuple[Dim, ...] | None = None
    is_number: bool = False
    """Whether it is given as a Python number."""


@dataclass(frozen=True, slots=True)
class Given:
    """A tensor that was given, itself."""

    index: int


@dataclass(frozen=True, slots=True)
class View:
    """A tensor on the memory of another; `offset` counts elements from that one's first."""

    of: Recipe
    shape: tuple[Dim, ...]
    strides: tuple[Dim, ...]
    offset: Dim
    tensor: int = 0
    """Which one: views of the same elements may be two tensors."""


@dataclass(frozen=True, slots=True)
class Either:
    """The first where the computed bool at `flag` holds, else the other."""

    flag: int
    then: Recipe
    otherwise: Recipe


@dataclass(frozen=True, slots=True)
class Constant:
    """A value that is the same at each call."""

    value: Any


Recipe: TypeAlias = Computed | Given | View | Either | Constant


@dataclass(frozen=True, slots=True)
class State:
    """A tensor outside of the arguments that is read anew at each call: a module's buffer that the program changes."""

    name: str
    read: Callable[[], Tensor]
    write: Callable[[Tensor], None]


@dataclass(frozen=True, slots=True)
class Source:
    """Where an input of the compiled code comes from: a given tensor, or a run of `count` elements of its memory."""

    given: int
    count: int | None = None
    offset: int = 0
    """Of the run, from the given tensor's first element."""


@dataclass(frozen=True, slots=True)
class Update:
    """An input of the compiled code gets the elements of a result."""

    source: Source
    result: int


@dataclass(frozen=True, slots=True)
class Replacement:
    """State becomes another tensor: `self.buffer = new`."""

    state: int
    value: Recipe


@dataclass(frozen=True, slots=True)
class SizeSource:
    """Where a symbolic size is read: a dim of a given tensor is `factor * size + offset`."""

    given: int
    axis: int
    factor: int = 1
    offset: int = 0

    def read(self, given: Sequence[Tensor]) -> int:
        """The size in a call."""
        return (given[self.given].shape[self.axis] - self.offset) // self.factor


@dataclass(frozen=True)
class Effects:
    """All of it, for one program."""

    sources: tuple[Source, ...]
    updates: tuple[Update, ...] = ()
    replacements: tuple[Replacement, ...] = ()
    results: tuple[Recipe, ...] = ()
    state: tuple[State, ...] = ()
    frozen: tuple[tuple[str, Tensor], ...] = ()
    """Tensors whose values the code holds, by name: a call that changes their memory needs other code."""
    written: frozenset[int] = field(default=frozenset())
    """The given tensors that change."""
    symbols: Mapping[str, SizeSource] = field(default_factory=dict[str, "SizeSource"])
    """Where symbolic sizes are read."""


def inputs_of(effects: Effects, given: Sequence[Tensor]) -> list[Tensor]:
    """What compiled code is called with: contiguous tensors, in order."""
    return contiguous([_part(source, given) for source in effects.sources])


def write_back(effects: Effects, given: Sequence[Tensor], computed: Sequence[Tensor]) -> list[Any]:
    """Change what the program changes, and make its results.

    Raises torch's `RuntimeError` where it does not let a tensor be changed.
    """
    for update in effects.updates:
        _part(update.source, given).copy_(computed[update.result])
    sizes = {name: source.read(given) for name, source in effects.symbols.items()}
    call = _Call(given, computed, sizes)
    results = [call.made(recipe) for recipe in effects.results]
    for replacement in effects.replacements:
        effects.state[replacement.state].write(call.made(replacement.value))
    return results


def _part(source: Source, given: Sequence[Tensor]) -> Tensor:
    tensor = given[source.given]
    if tensor.requires_grad:
        tensor = tensor.detach()
    if source.count is None:
        return tensor
    start = int(tensor.storage_offset()) + source.offset
    return torch.as_strided(tensor, (source.count,), (1,), start)


def contiguous(tensors: Sequence[Tensor]) -> list[Tensor]:
    """The tensors as compiled code reads them: their elements in a row."""
    return [
        tensor if tensor.is_contiguous() and not tensor.is_neg() else tensor.detach().resolve_neg().contiguous()
        for tensor in tensors
    ]


class _Call:
    """The tensors of one call, those that recipes made among them: each once, however often it is asked for."""

    def __init__(self, given: Sequence[Tensor], computed: Sequence[Tensor], sizes: Mapping[str, int]) -> None:
        self.given = given
        self.computed = computed
        self.sizes = sizes
        self._known: dict[Recipe, Any] = {}

    def made(self, recipe: Recipe) -> Any:
        """What a recipe gives."""
        if isinstance(recipe, Given):
            return self.given[recipe.index]
        if isinstance(recipe, Constant):
            return recipe.value
        if isinstance(recipe, Either):
            return self.made(recipe.then if bool(self.computed[recipe.flag]) else recipe.otherwise)
        if recipe not in self._known:
            self._known[recipe] = self.view(recipe) if isinstance(recipe, View) else self.result(recipe)
        return self._known[recipe]

    def view(self, recipe: View) -> Tensor:
        """A view of another recipe's tensor."""
        base = self.made(recipe.of)
        start = int(base.storage_offset()) + self.number(recipe.offset)
        return torch.as_strided(base, self.numbers(recipe.shape), self.numbers(recipe.strides), start)

    def result(self, recipe: Computed) -> Any:
        """What the code computed, as a number or in the strides that it must have."""
        tensor = self.computed[recipe.index]
        if recipe.is_number:
            return tensor.item()
        if recipe.strides is None:
            return tensor
        return torch.empty_strided(tensor.shape, self.numbers(recipe.strides), dtype=tensor.dtype).copy_(tensor)

    def numbers(self, dims: Sequence[Dim]) -> list[int]:
        """Sizes as they are in this call."""
        return [self.number(dim) for dim in dims]

    def number(self, dim: Dim) -> int:
        """A size as it is in this call."""
        return dim if isinstance(dim, int) else dim.evaluate(self.sizes)


class AliasingError(CuvilRuntimeError):
    """Arguments share memory in a way that no code can be made for."""


__all__ = [
    "AliasingError",
    "Computed",
    "Constant",
    "Effects",
    "Either",
    "Given",
    "Recipe",
    "Replacement",
    "SizeSource",
    "Source",
    "State",
    "Update",
    "View",
    "contiguous",
    "inputs_of",
    "write_back",
]
