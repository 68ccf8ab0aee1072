"""Evaluating a kernel's region at a point: the common part of every emitter.

A *point* of a tensor value is one `Coordinate` a dim. `PointEvaluator.evaluate(value, point)` emits the code that
computes that element, or `width` elements at once: a coordinate with a non-zero `step` differs from lane to lane.
Movement ops are coordinate arithmetic and cost no code where the arithmetic folds; a value whose coordinates all have
step 0 is computed once, as a scalar, and splat where a vector is needed.

Coordinates of several dims may come from one flat position (`FlatGroup`): a load that reads those dims in row-major
order then uses the flat position as it is, and no division is emitted. A group that carries the lanes cannot be taken
apart (`CannotFlatten`). What has no vector form raises `CannotVectorize`; a concat or pad whose boundary falls inside
the lanes' loop raises `NeedsCut` with the position at which the loop must be cut. Emitters catch these and choose
another loop shape.

Extents are dims: a symbolic one is of any size that the builder's environment allows, 0 and 1 included.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IndexType, IntegerType, VectorType
from xdsl.ir import Attribute, Operation, SSAValue

from cuvil.codegen.loops import Index, LoopBuilder, vector_of, width_of
from cuvil.codegen.scalar_lowering import emit_cast, emit_scalar, storage_type
from cuvil.dialects import tensor as ct
from cuvil.errors import CuvilError
from cuvil.semantics.dims import Dim
from cuvil.semantics.splats import is_splat
from cuvil.semantics.views import contiguous_strides, dims_of, reshape_groups, static_shape

_INDEX = IndexType()
_I64 = IntegerType(64)


class CannotVectorize(Exception):
    """The lanes would need something that has no vector form; use width 1."""


class CannotFlatten(Exception):
    """A flat group of dims that carries the lanes would have to be taken apart; loop over fewer dims."""


class NeedsCut(Exception):
    """The loop of the lanes must be cut at `position`, so that each part reads from one side of a boundary."""

    def __init__(self, position: Dim):
        super().__init__(position)
        self.position = position


@dataclass(eq=False)
class FlatGroup:
    """Dims of a row-major shape whose position is known as one flat number; lanes advance it by `step`."""

    flat: Index
    shape: tuple[Dim, ...]
    step: Dim = 0
    _parts: dict[int, list[Index]] = field(default_factory=dict[int, list[Index]])
    _known: list[Index] | None = None

    @classmethod
    @contextmanager
    def of_row(cls, b: LoopBuilder, flat: Index, shape: tuple[Dim, ...]) -> Generator[FlatGroup]:
        """The dims of a loop's rows, for the inside of a `with`: they are parted here, if at all, since nothing takes
        the divisions out of the loops inside.
        """
        group, last = cls(flat, shape), b.block.last_op
        wide = [dim for dim, extent in enumerate(shape) if extent != 1]
        if len(wide) > 1:
            parts = dict(zip(wide, b.delinearize(flat, [shape[dim] for dim in wide]), strict=True))
            group._known = [parts.get(dim, 0) for dim in range(len(shape))]
        divisions = b.ops_since(last)
        yield group
        b.discard_unused(divisions)

    def part(self, b: LoopBuilder, dim: int) -> Index:
        """The coordinate along one dim, by division; once a block."""
        if sum(extent != 1 for extent in self.shape) <= 1:
            return self.flat if self.shape[dim] != 1 else 0
        if self._known is not None:
            return self._known[dim]
        if self.step:
            raise CannotFlatten
        key = id(b.block)
        if key not in self._parts:
            self._parts[key] = b.delinearize(self.flat, self.shape)
        return self._parts[key][dim]

    def coordinates(self) -> list[Coordinate]:
        """One coordinate for each dim of the group; dims of 1 stay out of it, so that they cannot part its other
        dims.
        """
        wide = [extent for extent in self.shape if extent != 1]
        lone = len(wide) <= 1
        if not lone and len(wide) < len(self.shape):
            group = FlatGroup(self.flat, tuple(wide), self.step)
            if self._known is not None:
                group._known = [part for part, extent in zip(self._known, self.shape, strict=True) if extent != 1]
            inner = iter(group.coordinates())
            return [ZERO if extent == 1 else next(inner) for extent in self.shape]
        return [
            Coordinate(None, self.step if (not lone or extent != 1) else 0, 0, extent, group=self, dim=dim)
            for dim, extent in enumerate(self.shape)
        ]


@dataclass(frozen=True, eq=False)
class Coordinate:
    """A position along one dim: lane l is at `base + l * step`, all lanes within [low, high).

    `base` is None where it is a part of a flat `group`. `loop_offset` says base == loop variable of the lanes + it.
    """

    base: Index | None
    step: Dim = 0
    low: Dim = 0
    high: Dim = 1 << 62
    group: FlatGroup | None = None
    dim: int = 0
    loop_offset: Dim | None = None

    def at(self, b: LoopBuilder) -> Index:
        """The first lane's position."""
        if self.base is not None:
            return self.base
        assert self.group is not None
        return self.group.part(b, self.dim)

    def moved(self, b: LoopBuilder, offset: Dim) -> Coordinate:
        """The coordinate plus a dim."""
        if offset == 0:
            return self
        loop_offset = None if self.loop_offset is None else self.loop_offset + offset
        return Coordinate(
            b.add(self.at(b), offset), self.step, self.low + offset, self.high + offset, loop_offset=loop_offset
        )

    def scaled(self, b: LoopBuilder, factor: int, offset: Dim) -> Coordinate:
        """The coordinate times a constant plus a dim."""
        if factor == 1:
            return self.moved(b, offset)
        base = b.add(b.mul(self.at(b), factor), offset)
        first, last = self.low * factor + offset, (self.high - 1) * factor + offset
        low, high = (first, last) if factor > 0 else (last, first)
        return Coordinate(base, self.step * factor, low, high + 1)

    def flipped(self, b: LoopBuilder, extent: Dim) -> Coordinate:
        """The coordinate counted from the end of a dim."""
        return self.scaled(b, -1, extent - 1)


ZERO = Coordinate(0, 0, 0, 1)
Point = tuple[Coordinate, ...]
Bound = Callable[[Point], SSAValue]


@dataclass
class PointEvaluator:
    """Emits the elements of a region's values at points, `width` lanes at once, through `b`.

    `buffers` has the flat buffer of each block argument. `bound` overrides values that something else computes: an
    anchor's accumulators, a row's reductions. `mask` says which lanes exist where some do not; others are never
    loaded. `aligned` says that the lanes' loop starts at 0 and advances by the width, so that a vector stays within a
    multiple of it. `contiguous` refuses (`CannotVectorize`) what each lane would have to load for itself.
    """

    b: LoopBuilder
    width: int
    buffers: dict[SSAValue, SSAValue]
    mask: SSAValue | None = None
    aligned: bool = True
    contiguous: bool = False
    bound: dict[SSAValue, Bound] = field(default_factory=dict[SSAValue, Bound])
    _memo: dict[tuple[object, ...], SSAValue] = field(default_factory=dict[tuple[object, ...], SSAValue])

    def vector(self, value: SSAValue, point: Point) -> SSAValue:
        """As `evaluate`, splat to the full width."""
        return self.b.broadcast(self.evaluate(value, point), self.width)

    def evaluate(self, value: SSAValue, point: Point) -> SSAValue:
        """The element(s) of `value` at `point`: a scalar where no coordinate depends on the lane."""
        if (bound := self.bound.get(value)) is not None:
            return bound(point)
        key = (value, *(id(coordinate) for coordinate in point), id(self.b.block))
        if (known := self._memo.get(key)) is None:
            known = self._emit(value, point)
            self._memo[key] = known
            # The memo keys coordinates by identity: keep them alive as long as it lives.
            self._alive.append(point)
        return known

    @property
    def lane_width(self) -> int:
        """The width for splitting a dim among lanes: more than any extent where vectors may cross its multiples."""
        return self.width if self.aligned or self.width == 1 else 1 << 62

    _alive: list[Point] = field(default_factory=list[Point])

    def _emit(self, value: SSAValue, point: Point) -> SSAValue:
        b = self.b
        if value in self.buffers:
            return self.load(self.buffers[value], dims_of(value), point)
        op = value.owner
        match op:
            case ct.ElementwiseOp():
                return self._elementwise(op, point)
            case ct.CastOp():
                operand = self.evaluate(op.input, point)
                return emit_cast(b, operand, ct.element_of(op.input), ct.element_of(op.result))
            case ct.ConstantOp():
                return self._constant(op, point)
            case ct.BroadcastOp():
                inner = [
                    ZERO if dim == 1 else point[axis]
                    for dim, axis in zip(dims_of(op.input), ct.numbers(op.axes), strict=True)
                ]
                return self.evaluate(op.input, tuple(inner))
            case ct.TransposeOp():
                inner = [ZERO] * len(point)
                for place, axis in enumerate(ct.numbers(op.input_order)):
                    inner[axis] = point[place]
                return self.evaluate(op.input, tuple(inner))
            case ct.ReshapeOp():
                inner = reshape_point(b, self.lane_width, point, dims_of(value), dims_of(op.input))
                return self.evaluate(op.input, inner)
            case ct.SliceOp():
                starts, steps = ct.numbers(op.starts), ct.numbers(op.steps)
                moved = [c.scaled(b, step, start) for c, start, step in zip(point, starts, steps, strict=True)]
                return self.evaluate(op.input, tuple(moved))
            case ct.ReverseOp():
                axes, shape = ct.numbers(op.axes), dims_of(value)
                turned = [c.flipped(b, shape[axis]) if axis in axes else c for axis, c in enumerate(point)]
                return self.evaluate(op.input, tuple(turned))
            case ct.ConcatOp():
                return self._concat(op, point)
            case ct.PadOp():
                return self._pad(op, point)
            case ct.GatherOp():
                return self._gather(op, point)
            case ct.IotaOp():
                return self._iota(op, point)
            case ct.SizeOp():
                size = b.cast_index(b.index(op.value), _I64)
                return emit_cast(b, size, _I64, ct.element_of(op.result))
            case ct.PackOp():
                return self._packed(op, point)
            case ct.UnpackOp():
                return self._unpacked(op, point)
            case _:
                name = op.name if isinstance(op, Operation) else "a block argument"
                raise CuvilError(f"{name}: has no element-wise meaning inside a kernel")

    # -- leaves ------------------------------------------------------------------------------------------------------

    def load(self, buffer: SSAValue, shape: Sequence[Dim], point: Point) -> SSAValue:
        """The element(s) of a row-major buffer."""
        position, step = linear_position(self.b, shape, point)
        return self.load_at(buffer, position, step)

    def load_at(self, buffer: SSAValue, position: Index, step: Dim) -> SSAValue:
        """Element(s) `position + lane * step` of a flat buffer."""
        b = self.b
        if step == 0 or self.width == 1:
            return b.load(buffer, position)
        if step == 1:
            if self.mask is None:
                return b.load(buffer, position, self.width)
            return b.masked_load(buffer, position, self.mask, self.width)
        if self.contiguous:
            raise CannotVectorize
        lanes = [b.load(buffer, self._safe(position, lane, b.add(position, lane * step))) for lane in range(self.width)]
        return self._pack_lanes(lanes)

    def _safe(self, first: Index, lane: int, position: Index) -> Index:
        """The position that a lane may load from: that of the first lane, which there is, where the mask leaves it
        out.
        """
        b = self.b
        if self.mask is None or lane == 0:
            return position
        return b.select(b.extract(self.mask, lane), b.index(position), b.index(first))

    def _pack_lanes(self, lanes: Sequence[SSAValue]) -> SSAValue:
        vector = self.b.broadcast(lanes[0], self.width)
        for lane, value in enumerate(lanes[1:], 1):
            vector = self.b.insert_lane(value, vector, lane)
        return vector

    def _constant(self, op: ct.ConstantOp, point: Point) -> SSAValue:
        value = op.value
        assert isinstance(value, DenseIntOrFPElementsAttr)
        element = ct.element_of(op.result)
        if not is_splat(op):
            raise CuvilError(f"{op.name}: only a splat can stand inside a kernel; others are operands")
        number = value.get_values()[0]
        return self.b.constant(number, storage_type(element))  # pyright: ignore[reportArgumentType]

    def _iota(self, op: ct.IotaOp, point: Point) -> SSAValue:
        b, element = self.b, ct.element_of(op.result)
        coordinate = point[op.axis.value.data]
        base = b.cast_index(b.index(coordinate.at(b)), _I64)
        if coordinate.step and self.width > 1:
            if not isinstance(coordinate.step, int):
                raise CannotVectorize
            lanes = DenseIntOrFPElementsAttr.from_list(
                VectorType(_I64, [self.width]), [lane * coordinate.step for lane in range(self.width)]
            )
            offsets = b.op(arith.ConstantOp, result=lanes.type, value=lanes)
            base = b.int_op(arith.AddiOp, b.broadcast(base, self.width), offsets)
        return emit_cast(b, base, _I64, element)

    # -- inner nodes -------------------------------------------------------------------------------------------------

    def _elementwise(self, op: ct.ElementwiseOp, point: Point) -> SSAValue:
        operands = [self.evaluate(operand, point) for operand in op.operands]
        width = max(width_of(operand.type) for operand in operands)
        data = op.operands[1] if op.function.rule == "second" else op.operands[0]
        aligned = [self.b.broadcast(operand, width) for operand in operands]
        return emit_scalar(self.b, op.kind.data, ct.element_of(data), aligned)

    def select(self, condition: SSAValue, true: SSAValue, false: SSAValue) -> SSAValue:
        """A choice by a scalar condition, of values that may be scalars or vectors."""
        width = max(width_of(true.type), width_of(false.type))
        return self.b.select(condition, self.b.broadcast(true, width), self.b.broadcast(false, width))

    def _within(self, coordinate: Coordinate, boundary: Dim) -> None:
        """Raise if lanes may lie on both sides of `boundary`; scalars are chosen by a select instead."""
        if not coordinate.step or self.width == 1:
            return
        if not self.b.is_at_least(coordinate.low, boundary) and not self.b.is_at_least(boundary, coordinate.high):
            if coordinate.loop_offset is None:
                raise CannotVectorize
            raise NeedsCut(boundary - coordinate.loop_offset)

    def _concat(self, op: ct.ConcatOp, point: Point) -> SSAValue:
        b, axis = self.b, op.axis.value.data
        coordinate = point[axis]
        start: Dim = 0
        parts: list[tuple[SSAValue, Dim, Dim]] = []
        for operand in op.inputs:
            extent = dims_of(operand)[axis]
            if not self._is_apart(coordinate, start, extent):
                self._within(coordinate, start)
                self._within(coordinate, start + extent)
                if b.is_at_least(coordinate.low, start) and b.is_at_least(start + extent, coordinate.high):
                    inner = coordinate.moved(b, -start)
                    return self.evaluate(operand, (*point[:axis], inner, *point[axis + 1 :]))
                parts.append((operand, start, extent))
            start = start + extent
        assert parts, "a concat is only evaluated at points that exist"
        if any(not isinstance(extent, int) for _, _, extent in parts):
            if (found := self._part_by_address(point, axis, parts)) is not None:
                return found
        if all(b.is_at_least(extent, 1) for _, _, extent in parts):
            return self._selected_part(point, axis, parts)
        return self._branched_part(point, axis, parts)

    def _is_apart(self, coordinate: Coordinate, start: Dim, extent: Dim) -> bool:
        """Whether no lane can be in [start, start + extent)."""
        apart = ((coordinate.low, coordinate.high), (start, coordinate.high), (coordinate.low, start + extent))
        return extent == 0 or any(self.b.is_at_least(one, other) for one, other in apart)

    def _part_by_address(self, point: Point, axis: int, parts: Sequence[tuple[SSAValue, Dim, Dim]]) -> SSAValue | None:
        """The element of a concat of buffers, read once from where it is; None where parts are read in other ways."""
        b, coordinate = self.b, point[axis]
        places: list[tuple[SSAValue, Index, Index]] = []
        steps: set[Dim] = set()
        for operand, start, extent in parts:
            if operand not in self.buffers or operand in self.bound:
                return None
            inside = Coordinate(coordinate.moved(b, -start).at(b), 0, 0, extent)
            moved = (*point[:axis], inside, *point[axis + 1 :])
            position, step = linear_position(b, dims_of(operand), moved)
            places.append((b.open_buffer(self.buffers[operand]), position, start + extent))
            steps.add(step)
        if len(steps) != 1 or not steps <= {0, 1}:
            return None
        buffer, position, _ = places[-1]
        for other, other_position, end in reversed(places[:-1]):
            here = b.compare_index("slt", coordinate.at(b), end)
            buffer = b.select(here, other, buffer)
            position = b.select(here, b.index(other_position), b.index(position))
        return self.load_at(buffer, position, steps.pop())

    def _selected_part(self, point: Point, axis: int, parts: Sequence[tuple[SSAValue, Dim, Dim]]) -> SSAValue:
        """The element of a concat, of all parts' elements at the nearest place."""
        b, coordinate = self.b, point[axis]
        result: SSAValue | None = None
        for operand, start, extent in parts:
            inner = coordinate.moved(b, -start)
            clamped = b.max(b.min(inner.at(b), extent - 1), 0)
            safe = Coordinate(clamped, 0, 0, extent)
            part = self.evaluate(operand, (*point[:axis], safe, *point[axis + 1 :]))
            here = b.compare_index("sge", coordinate.at(b), start)
            result = part if result is None else self.select(here, part, result)
        assert result is not None, "a concat has parts"
        return result

    def _branched_part(self, point: Point, axis: int, parts: Sequence[tuple[SSAValue, Dim, Dim]]) -> SSAValue:
        """The element of a concat, read from its part alone: others may have no element at all."""
        b, coordinate = self.b, point[axis]
        (operand, start, extent), *others = parts
        inner = coordinate.moved(b, -start)
        inside = Coordinate(inner.at(b), 0, 0, extent)

        def this() -> SSAValue:
            return self.vector(operand, (*point[:axis], inside, *point[axis + 1 :]))

        if not others:
            return this()
        result = vector_of(storage_type(ct.element_of(operand)), self.width)
        here = b.compare_index("slt", inside.at(b), extent)
        return b.choose(here, this, lambda: self._branched_part(point, axis, others), result)

    def _pad(self, op: ct.PadOp, point: Point) -> SSAValue:
        shape, low = dims_of(op.input), ct.numbers(op.low)
        for coordinate, extent, before in zip(point, shape, low, strict=True):
            self._within(coordinate, before)
            self._within(coordinate, before + extent)
        moved = [coordinate.moved(self.b, -before) for coordinate, before in zip(point, low, strict=True)]
        return self._inside(op.input, moved, lambda: self.evaluate(op.fill, ()))

    def _inside(self, value: SSAValue, point: Sequence[Coordinate], fill: Callable[[], SSAValue]) -> SSAValue:
        """`value` where the point lies in its shape, `fill` outside."""
        b, shape = self.b, dims_of(value)
        inner: list[Coordinate] = []
        tested: list[Dim] = []
        inside: SSAValue | None = None
        if any(self._is_apart(c, 0, extent) for c, extent in zip(point, shape, strict=True)):
            return fill()
        for coordinate, extent in zip(point, shape, strict=True):
            if b.is_at_least(coordinate.low, 0) and b.is_at_least(extent, coordinate.high):
                inner.append(coordinate)
                continue
            if coordinate.step and self.width > 1:
                raise CannotVectorize
            position = coordinate.at(b)
            for predicate, bound in (("sge", 0), ("slt", extent)):
                test = b.compare_index(predicate, position, bound)
                inside = test if inside is None else b.int_op(arith.AndIOp, inside, test)
            inner.append(Coordinate(b.max(b.min(position, extent - 1), 0), 0, 0, extent))
            tested.append(extent)
        if inside is None:
            return self.evaluate(value, tuple(inner))
        if all(b.is_at_least(extent, 1) for extent in tested):
            return self.select(inside, self.evaluate(value, tuple(inner)), fill())
        result = vector_of(storage_type(ct.element_of(value)), self.width)
        filled = lambda: b.broadcast(fill(), self.width)  # noqa: E731
        return b.choose(inside, lambda: self.vector(value, tuple(inner)), filled, result)

    def _packed(self, op: ct.PackOp, point: Point) -> SSAValue:
        """The element of a tile, 0 in the padding."""
        b, order = self.b, ct.numbers(op.input_order)
        inner = [point[order.index(dim)] for dim in range(len(order))]
        tiles = zip(ct.numbers(op.axes), ct.numbers(op.tiles), point[len(order) :], strict=True)
        for axis, tile, within in tiles:
            outer = inner[axis]
            inner[axis] = Coordinate(
                b.add(b.mul(outer.at(b), tile), within.at(b)),
                outer.step * tile + within.step,
                0,
                dims_of(op.result)[order.index(axis)] * tile,
            )
        element = storage_type(ct.element_of(op.result))
        return self._inside(op.input, inner, lambda: b.constant(0, element))

    def _unpacked(self, op: ct.UnpackOp, point: Point) -> SSAValue:
        b, order, packed = self.b, ct.numbers(op.input_order), dims_of(op.input)
        outer, within = list(point), list[Coordinate]()
        for axis, tile in zip(ct.numbers(op.axes), ct.numbers(op.tiles), strict=True):
            count = packed[order.index(axis)]
            first, last = reshape_point(b, self.lane_width, (point[axis],), (count * tile,), (count, tile))
            outer[axis] = first
            within.append(last)
        return self.evaluate(op.input, (*(outer[dim] for dim in order), *within))

    def _gather(self, op: ct.GatherOp, point: Point) -> SSAValue:
        axes, shape = ct.numbers(op.axes), dims_of(op.input)
        count = len(dims_of(op.indices[0]))
        places = iter(point[count:])
        inner: list[Coordinate] = [ZERO if axis in axes else next(places) for axis in range(len(shape))]
        picked = [self.evaluate(index, point[:count]) for index in op.indices]
        if any(width_of(index.type) > 1 for index in picked):
            return self._gather_lanes(op, point, picked)
        for axis, index, operand in zip(axes, picked, op.indices, strict=True):
            inner[axis] = Coordinate(self._wrapped(index, ct.element_of(operand), shape[axis]), 0, 0, shape[axis])
        return self.evaluate(op.input, tuple(inner))

    def _wrapped(self, index: SSAValue, element: Attribute, extent: Dim) -> SSAValue:
        """A scalar index as a position: negative ones count from the end."""
        return position_of(self.b, emit_cast(self.b, index, element, _I64), extent)

    def _gather_lanes(self, op: ct.GatherOp, point: Point, picked: Sequence[SSAValue]) -> SSAValue:
        """Indices that differ from lane to lane: each lane loads for itself, from a buffer only."""
        if op.input not in self.buffers or self.contiguous:
            raise CannotVectorize
        b, axes, shape = self.b, ct.numbers(op.axes), dims_of(op.input)
        strides, count = contiguous_strides(shape), len(dims_of(op.indices[0]))
        rest = [axis for axis in range(len(shape)) if axis not in axes]
        lanes: list[SSAValue] = []
        first: Index = 0
        for lane in range(self.width):
            position: Index = 0
            for axis, index, operand in zip(axes, picked, op.indices, strict=True):
                scalar = b.extract(index, lane) if width_of(index.type) > 1 else index
                place = self._wrapped(scalar, ct.element_of(operand), shape[axis])
                position = b.add(position, b.mul(place, strides[axis]))
            for axis, coordinate in zip(rest, point[count:], strict=True):
                place = b.add(coordinate.at(b), lane * coordinate.step)
                position = b.add(position, b.mul(place, strides[axis]))
            first = position if lane == 0 else first
            lanes.append(b.load(self.buffers[op.input], self._safe(first, lane, position)))
        return self._pack_lanes(lanes)


def position_of(b: LoopBuilder, place: SSAValue, extent: Dim) -> SSAValue:
    """An i64 that picks along a dim, as a position: negative ones count from the end.

    What is out of range is undefined, and yet no position outside of the buffer: it is the last one.
    """
    size, last = (
        b.constant(count, _I64) if isinstance(count, int) else b.cast_index(b.index(count), _I64)
        for count in (extent, extent - 1)
    )
    negative = b.compare_int("slt", place, b.constant(0, _I64))
    place = b.select(negative, b.int_op(arith.AddiOp, place, size), place)
    return b.cast_index(b.select(b.compare_int("ult", place, size), place, last), _INDEX)


def known_shape(value: SSAValue) -> tuple[int, ...]:
    """The shape of a value as numbers, for those who need numbers; an error where it is symbolic."""
    shape = static_shape(value)
    if shape is None:
        raise CuvilError(f"native code for symbolic dims is not available here: {value.type}; give the dim a number")
    return shape


def linear_position(b: LoopBuilder, shape: Sequence[Dim], point: Point) -> tuple[Index, Dim]:
    """The flat position of a point in a row-major buffer, and how far it moves from lane to lane."""
    return strided_position(b, shape, contiguous_strides(shape), point)


def strided_position(b: LoopBuilder, shape: Sequence[Dim], strides: Sequence[Dim], point: Point) -> tuple[Index, Dim]:
    """The position `sum(coordinate * stride)` of a point, and how far it moves from lane to lane."""
    # Dims of 1 add nothing, and must not part the run of a flat group.
    wide = [dim for dim, extent in enumerate(shape) if extent != 1]
    point = tuple(point[dim] for dim in wide)
    shape, strides = [shape[dim] for dim in wide], [strides[dim] for dim in wide]
    position: Index = 0
    step: Dim = 0
    dim = 0
    while dim < len(point):
        coordinate = point[dim]
        run = _group_run(point, dim, shape, strides)
        if run is not None:
            group, stride, count = run
            position = b.add(position, b.mul(group.flat, stride))
            step = step + group.step * stride
            dim += count
            continue
        position = b.add(position, b.mul(coordinate.at(b), strides[dim]))
        step = step + coordinate.step * strides[dim]
        dim += 1
    return position, step


def _group_run(
    point: Sequence[Coordinate], first: int, shape: Sequence[Dim], strides: Sequence[Dim]
) -> tuple[FlatGroup, Dim, int] | None:
    """Whether the dims from `first` on are all of one flat group, in its order and with row-major strides."""
    group = point[first].group
    if group is None or point[first].dim != 0 or first + len(group.shape) > len(point):
        return None
    count = len(group.shape)
    stride: Dim | None = None
    expected: Dim = 0
    for dim in reversed(range(count)):
        coordinate = point[first + dim]
        if coordinate.group is not group or coordinate.dim != dim or shape[first + dim] != group.shape[dim]:
            return None
        if group.shape[dim] == 1:
            continue
        if stride is None:
            stride = expected = strides[first + dim]
        if strides[first + dim] != expected:
            return None
        expected = expected * group.shape[dim]
    return group, 0 if stride is None else stride, count


def reshape_point(b: LoopBuilder, width: int, point: Point, source: Sequence[Dim], result: Sequence[Dim]) -> Point:
    """The coordinates in shape `result` of the element that has `point` in shape `source` (both row-major)."""
    coordinates: list[Coordinate] = [ZERO] * len(result)
    for old_dims, new_dims in reshape_groups(source, result):
        old = [dim for dim in old_dims if source[dim] != 1]
        new = [dim for dim in new_dims if result[dim] != 1]
        if len(old) == 1 and len(new) == 1:
            coordinates[new[0]] = point[old[0]]
        elif new:
            shape = [source[dim] for dim in old]
            flat, step = strided_position(b, shape, contiguous_strides(shape), tuple(point[dim] for dim in old))
            _split(b, width, flat, step, [result[dim] for dim in new], new, coordinates)
    return tuple(coordinates)


def _split(
    b: LoopBuilder,
    width: int,
    flat: Index,
    step: Dim,
    shape: list[Dim],
    dims: list[int],
    coordinates: list[Coordinate],
) -> None:
    """Take a flat position apart into `shape`; the lanes must stay within the last dim."""
    lanes = step != 0 and width > 1
    if lanes and len(shape) > 1 and (step != 1 or not b.environment.is_multiple_of(shape[-1], width)):
        group = FlatGroup(flat, tuple(shape), step)
        for dim, coordinate in zip(dims, group.coordinates(), strict=True):
            coordinates[dim] = coordinate
        return
    if not lanes:
        group = FlatGroup(flat, tuple(shape))
        for dim, coordinate in zip(dims, group.coordinates(), strict=True):
            coordinates[dim] = coordinate
        return
    # Vectors start at multiples of the width (or are masked within one), so that they stay inside the last dim.
    parts = b.delinearize(flat, shape)
    for dim, part, extent in zip(dims, parts, shape, strict=True):
        coordinates[dim] = Coordinate(part, 0, 0, extent)
    coordinates[dims[-1]] = replace(coordinates[dims[-1]], step=step)
