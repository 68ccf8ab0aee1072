"""The part of `plan-memory` for buffers of symbolic sizes: slots, and the host program's arithmetic that lays them out.

Buffers whose sizes are multiples of one expression are packed like those of known sizes, in units of it. Others share
slots (`packing.share_slots`, by their sizes where all symbols are at their greatest). A slot is as large as the largest
of its buffers, whichever that is: one of them if that is so wherever the symbols are in their ranges, else a maximum
that is computed. Slots stand one after the other, behind the buffers of known sizes. Where slots for all buffers take
less, it is these.

    %0 = cuvil_tensor.size "256*s0" : index          where the second slot begins
    %1 = cuvil_fused.arena_view %arena at 64 : ...    a buffer of the first slot, behind 64 bytes of known buffers
    %2 = cuvil_fused.arena_view %arena at 64 + %0 : ...

The arena's size is the sum of all slots: a function of its own, since the caller needs it before the program runs.

    func.func private @main_arena_bytes() -> index { ... func.return %n : index }
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, func
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block, Operation, Region, SSAValue

from cuvil.dialects.tensor import SizeOp
from cuvil.semantics.dims import Dim, DimExpr, ShapeEnvironment, SymbolRange
from cuvil.semantics.packing import Block as Interval
from cuvil.semantics.packing import pack, share_slots

_UNBOUNDED = 1024
"""What a symbol without a greatest value is taken to be where buffers are compared by size."""


@dataclass(frozen=True)
class Place:
    """Where a buffer or slot begins: a known number of bytes, a symbolic one, and slots that are maxima."""

    known: int
    symbolic: Dim = 0
    behind: int = 0
    """How many of the computed maxima stand before it."""


@dataclass(frozen=True)
class SymbolicArena:
    """Packed buffers, then slots one after the other: of one expression first, then the maxima of several."""

    maxima: tuple[tuple[Dim, ...], ...]
    end: Place
    places: tuple[Place, ...]
    """Of each buffer, in the order given."""
    slot_count: int

    def evaluate(self, sizes: Mapping[str, int]) -> int:
        """The bytes of the arena where the symbols have these values."""
        largest = sum(max(_number(size, sizes) for size in maximum) for maximum in self.maxima)
        return self.end.known + _number(self.end.symbolic, sizes) + largest


def _number(dim: Dim, sizes: Mapping[str, int]) -> int:
    return dim if isinstance(dim, int) else dim.evaluate(sizes)


def typical_sizes(ranges: Mapping[str, SymbolRange], symbols: frozenset[str]) -> dict[str, int]:
    """The greatest value of each symbol; a large one where there is none."""
    sizes: dict[str, int] = {}
    for name in symbols:
        known = ranges.get(name, SymbolRange())
        greatest = max(known.minimum, _UNBOUNDED) if known.maximum is None else known.maximum
        sizes[name] = max(greatest // known.multiple_of * known.multiple_of, known.minimum)
    return sizes


@dataclass(frozen=True)
class Buffer:
    """A buffer of symbolic size: when it is live, and its bytes."""

    begin: int
    end: int
    size: DimExpr


def lay_out(
    buffers: Sequence[Buffer], environment: ShapeEnvironment, *, first: int, alignment: int, reuse: bool
) -> SymbolicArena:
    """Places for buffers from the offset `first` on."""
    symbols = frozenset[str]().union(*(buffer.size.symbols() for buffer in buffers))
    typical = typical_sizes(environment.ranges, symbols)
    layout = _Layout(buffers, environment, typical, first, alignment)
    if not reuse:
        return layout.in_slots(list(range(len(buffers))))
    shared = share_slots([Interval(each.begin, each.end, each.size.evaluate(typical)) for each in buffers])
    plans = [layout.in_slots(shared), layout.scaled()]
    return min(plans, key=lambda plan: plan.evaluate(typical))


@dataclass(frozen=True)
class _Layout:
    buffers: Sequence[Buffer]
    environment: ShapeEnvironment
    typical: Mapping[str, int]
    first: int
    alignment: int

    def in_slots(self, slots: Sequence[int]) -> SymbolicArena:
        """The buffers in the slots of these numbers, one slot after the other."""
        return self._arena({}, 0, dict(enumerate(slots)))

    def scaled(self) -> SymbolicArena:
        """Buffers whose sizes are multiples of one expression packed as those of known sizes are; the others in slots.

        128*s0 and 192*s0 bytes stand to each other as 128 and 192 do, whatever s0 is.
        """
        groups: dict[DimExpr, list[tuple[int, int]]] = {}
        others: list[int] = []
        for number, buffer in enumerate(self.buffers):
            factor = math.gcd(*(each for _, each in buffer.size.terms))
            if factor % self.alignment:
                others.append(number)
            else:
                unit = DimExpr(tuple((monomial, each // factor) for monomial, each in buffer.size.terms))
                groups.setdefault(unit, []).append((number, factor))
        places: dict[int, Place] = {}
        offset: Dim = 0
        for unit, members in groups.items():
            packing = pack([Interval(self.buffers[n].begin, self.buffers[n].end, factor) for n, factor in members])
            for (number, _), inside in zip(members, packing.offsets, strict=True):
                places[number] = _place(self.first, offset + unit * inside, 0)
            offset = offset + unit * packing.size
        sizes = [self.buffers[number] for number in others]
        slots = share_slots([Interval(each.begin, each.end, each.size.evaluate(self.typical)) for each in sizes])
        return self._arena(places, offset, dict(zip(others, slots, strict=True)))

    def _arena(self, places: dict[int, Place], offset: Dim, slots: Mapping[int, int]) -> SymbolicArena:
        """The arena of buffers at `places`, which end at `offset`, and of others in slots behind them."""
        members: dict[int, list[DimExpr]] = {}
        for number, slot in slots.items():
            members.setdefault(slot, []).append(self.buffers[number].size)
        extents = {slot: _largest(found, self.environment, self.alignment) for slot, found in members.items()}
        begins: dict[int, Place] = {}
        maxima: list[tuple[Dim, ...]] = []
        for slot, extent in sorted(extents.items(), key=lambda item: (len(item[1]) > 1, item[0])):
            begins[slot] = _place(self.first, offset, len(maxima))
            only, *more = extent
            if more:
                maxima.append(extent)
            else:
                offset = offset + only
        found = {**places, **{number: begins[slot] for number, slot in slots.items()}}
        end = _place(self.first, offset, len(maxima))
        return SymbolicArena(tuple(maxima), end, tuple(found[n] for n in range(len(self.buffers))), len(members))


def _place(first: int, offset: Dim, behind: int) -> Place:
    """The constant part of an offset is as well known before the program runs."""
    constant = offset if isinstance(offset, int) else dict(offset.terms).get((), 0)
    return Place(first + constant, offset - constant, behind)


def _largest(sizes: Sequence[DimExpr], environment: ShapeEnvironment, alignment: int) -> tuple[Dim, ...]:
    """The sizes, aligned, of which one or another is the largest: without those that are certainly none."""
    kept: list[DimExpr] = []
    for size in dict.fromkeys(sizes):
        if any(_is_at_least(other, size, environment) for other in kept):
            continue
        kept = [other for other in kept if not _is_at_least(size, other, environment)]
        kept.append(size)
    return tuple(dict.fromkeys(aligned_dim(size, environment, alignment) for size in kept))


def _is_at_least(one: Dim, other: Dim, environment: ShapeEnvironment) -> bool:
    low, _ = environment.bounds(one - other)
    return low is not None and low >= 0


def aligned_dim(size: Dim, environment: ShapeEnvironment, alignment: int) -> Dim:
    """The next multiple of `alignment`."""
    if environment.is_multiple_of(size, alignment):
        return size
    return (size + (alignment - 1)) // alignment * alignment


class Offsets:
    """Emits the arithmetic of an arena's places at the front of a block; each number is computed once."""

    def __init__(self, arena: SymbolicArena) -> None:
        self.arena = arena
        self.operations: list[Operation] = []
        self._sizes: dict[Dim, SSAValue] = {}
        self._behind: list[SSAValue] = []

    def value(self, place: Place) -> SSAValue | None:
        """The part of a place that only running tells; None where there is none."""
        parts = [self._size(place.symbolic)] if place.symbolic != 0 else []
        if place.behind:
            parts.append(self._maxima(place.behind))
        if len(parts) == 2:
            parts = [self._emit(arith.AddiOp(parts[0], parts[1]))]
        return parts[0] if parts else None

    def total(self) -> SSAValue:
        """The whole arena's bytes."""
        end = self.arena.end
        known = self._emit(arith.ConstantOp(IntegerAttr(end.known, IndexType())))
        rest = self.value(end)
        return known if rest is None else self._emit(arith.AddiOp(known, rest))

    def _maxima(self, count: int) -> SSAValue:
        """The bytes of the first `count` slots that are maxima."""
        while len(self._behind) < count:
            first, *others = (self._size(size) for size in self.arena.maxima[len(self._behind)])
            for other in others:
                first = self._emit(arith.MaxUIOp(first, other))
            self._behind.append(self._emit(arith.AddiOp(self._behind[-1], first)) if self._behind else first)
        return self._behind[count - 1]

    def _size(self, size: Dim) -> SSAValue:
        if size not in self._sizes:
            self._sizes[size] = self._emit(SizeOp(size, IndexType()))
        return self._sizes[size]

    def _emit(self, op: Operation) -> SSAValue:
        self.operations.append(op)
        return op.results[0]


def size_function(name: str, arena: SymbolicArena, symbols: Mapping[str, object]) -> func.FuncOp:
    """`func.func private @name() -> index`: the bytes of the arena."""
    offsets = Offsets(arena)
    total = offsets.total()
    block = Block([*offsets.operations, func.ReturnOp(total)])
    function = func.FuncOp(name, ([], [IndexType()]), Region([block]), visibility="private")
    function.attributes.update(symbols)  # pyright: ignore[reportArgumentType, reportCallIssue]
    return function
