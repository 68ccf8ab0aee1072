"""Random functions of core `cuvil_tensor` ops, drawn by hypothesis: a DAG whose values are read by several ops.

Values stay of moderate size, and nothing in a program turns rounding into another result: comparisons read only what
is exact at every level (inputs, positions), orders give values and not places.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

from hypothesis import strategies as st
from xdsl.dialects import func
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp, TensorType, f32, f64, i1, i64
from xdsl.ir import Block, Operation, Region, SSAValue

from cuvil.dialects import tensor as ct

EXTENTS = (1, 2, 3, 4, 5, 8, 16, 17, 24, 33)
LARGEST = 3000
"""Elements of a value: enough for several vectors and a tail, few enough for the interpreter."""

MAIN = "main"
_UNARY = ("neg", "relu", "tanh", "sigmoid", "abs", "erf", "exp", "square")
_BINARY = ("add", "sub", "mul", "max", "min")


@st.composite
def tensor_programs(draw: st.DrawFn, longest: int = 14) -> ModuleOp:
    """A module with the function `@main` and the globals that it reads."""
    program = _Program(draw)
    for _ in range(draw(st.integers(1, 3))):
        program.argument(program.shape(), f32)
    for _ in range(draw(st.integers(1, longest))):
        getattr(program, "_" + draw(st.sampled_from(STEPS)))()
    return program.module()


STEPS = (
    *("unary", "binary", "binary", "softmax_step", "reduce", "reduce", "broadcast", "transpose", "reshape", "slice"),
    *("concat", "pad", "reverse", "gather", "contract", "contract", "linear", "convolution", "pool", "norm", "softmax"),
    *("select", "cast", "scan", "sort", "topk", "spread_back", "spread_back", "argument_step", "scatter", "arg_reduce"),
)


@dataclass
class _Program:
    draw: st.DrawFn
    values: list[SSAValue] = field(default_factory=list[SSAValue])
    block: Block = field(default_factory=Block)
    globals: list[Operation] = field(default_factory=list[Operation])

    def module(self) -> ModuleOp:
        """The program so far, whose results are its last value and some others."""
        computed = [value for value in self.values if isinstance(value.owner, Operation)] or self.values
        results = [computed[-1]]
        for _ in range(self.draw(st.integers(0, 2))):
            results.append(self.draw(st.sampled_from(computed)))
        self.block.add_op(func.ReturnOp(*results))
        inputs = [argument.type for argument in self.block.args]
        outputs = [value.type for value in results]
        return ModuleOp([*self.globals, func.FuncOp(MAIN, (inputs, outputs), Region(self.block))])

    # -- drawing -------------------------------------------------------------------------------------------------------

    def add(self, op: Operation) -> SSAValue:
        """Append an op whose first result may be read later."""
        value = self.made(op)
        if prod(shape_of(value)) <= LARGEST:
            self.values.append(value)
        return value

    def made(self, op: Operation) -> SSAValue:
        """Append an op; its first result."""
        self.block.add_op(op)
        return op.results[0]

    def argument(self, shape: tuple[int, ...], element: object) -> SSAValue:
        value = self.block.insert_arg(TensorType(element, shape), len(self.block.args))  # pyright: ignore
        if element == f32:
            self.values.append(value)
        return value

    def parameter(self, shape: tuple[int, ...]) -> SSAValue:
        name = f"w{len(self.globals)}"
        self.globals.append(ct.GlobalOp(name, TensorType(f32, shape)))
        return self.made(ct.ParameterOp(name, TensorType(f32, shape)))

    def shape(self, rank: int | None = None) -> tuple[int, ...]:
        rank = self.draw(st.integers(0, 4)) if rank is None else rank
        extents: list[int] = []
        for _ in range(rank):
            room = [extent for extent in EXTENTS if extent * prod(extents) <= LARGEST // 2]
            extents.append(self.draw(st.sampled_from(room)))
        return tuple(extents)

    def value(self, least_rank: int = 0) -> SSAValue:
        """One of the values, the latest ones more often; a new argument if none has that rank."""
        fitting = [value for value in self.values if len(shape_of(value)) >= least_rank]
        if not fitting:
            return self.argument(self.shape(self.draw(st.integers(least_rank, 4))), f32)
        back = self.draw(st.integers(0, len(fitting) - 1))
        return fitting[-1 - back]

    def axes(self, value: SSAValue, least: int = 1) -> list[int]:
        rank = len(shape_of(value))
        return sorted(self.draw(st.sets(st.integers(0, rank - 1), min_size=least, max_size=rank)))

    def like(self, shape: tuple[int, ...]) -> SSAValue:
        """A value of this shape: one there is, a broadcast one, a weight or a constant."""
        choices = [value for value in self.values if shape_of(value) == shape]
        kind = self.draw(st.sampled_from(("same", "broadcast", "parameter", "constant", "row")))
        if kind == "same" and choices:
            return self.draw(st.sampled_from(choices))
        if kind == "broadcast":
            placed = ((value, _fitting_axes(shape_of(value), shape)) for value in self.values)
            fitting = [(value, axes) for value, axes in placed if axes is not None]
            if fitting:
                value, axes = self.draw(st.sampled_from(fitting))
                return self.made(ct.BroadcastOp(value, axes, shape))
        if kind == "row" and shape:
            return self.made(ct.BroadcastOp(self.parameter(shape[-1:]), [len(shape) - 1], shape))
        if kind == "constant":
            number = self.draw(st.sampled_from((0.0, -0.0, 1.0, 0.5, -2.0)))
            return self.made(ct.ConstantOp.splat(number, TensorType(f32, shape)))
        return self.parameter(shape)

    # -- steps ---------------------------------------------------------------------------------------------------------

    def _argument_step(self) -> None:
        self.argument(self.shape(), f32)

    def _unary(self) -> None:
        kind, value = self.draw(st.sampled_from(_UNARY)), self.value()
        if kind in ("exp", "square"):
            value = self.made(ct.UnaryOp("tanh", value))
        self.add(ct.UnaryOp(kind, value) if kind != "square" else ct.BinaryOp("mul", value, value))

    def _binary(self) -> None:
        value = self.value()
        other = self.like(shape_of(value))
        kind = self.draw(st.sampled_from(_BINARY))
        if kind == "mul":
            value = self.made(ct.UnaryOp("tanh", value))
        first, second = (value, other) if self.draw(st.booleans()) else (other, value)
        self.add(ct.BinaryOp(kind, first, second))

    def _select(self) -> None:
        value = self.value()
        shape = shape_of(value)
        if shape and self.draw(st.booleans()):
            axis = self.draw(st.integers(0, len(shape) - 1))
            positions = self.made(ct.IotaOp(axis, i64, shape))
            bound = self.made(ct.ConstantOp.splat(self.draw(st.integers(0, 4)), TensorType(i64, shape)))
            condition = self.made(ct.BinaryOp("le", positions, bound))
        else:
            condition = self.argument(shape, i1)
        self.add(ct.TernaryOp("select", condition, value, self.like(shape)))

    def _cast(self) -> None:
        value = self.value()
        wide = self.made(ct.CastOp(value, f64))
        self.add(ct.CastOp(self.made(ct.UnaryOp("tanh", wide)), f32))

    def _reduce(self) -> None:
        value = self.value(1)
        kind = self.draw(st.sampled_from(("add", "max", "min")))
        self.add(ct.ReduceOp(kind, value, self.axes(value), keepdims=self.draw(st.booleans())))

    def _spread_back(self) -> None:
        """What softmax and norms do: a reduction read again by the elements that it reduced."""
        value = self.value(1)
        axes = self.axes(value)
        if self.draw(st.booleans()):
            axes = list(range(len(shape_of(value)) - len(axes), len(shape_of(value))))
        shape = shape_of(value)
        reduced = self.add(ct.ReduceOp(self.draw(st.sampled_from(("add", "max"))), value, axes))
        if self.draw(st.booleans()):
            reduced = self.add(ct.UnaryOp("tanh", reduced))
        kept = [axis for axis in range(len(shape)) if axis not in axes]
        spread = self.made(ct.BroadcastOp(reduced, kept, shape))
        self.add(ct.BinaryOp("sub", value, spread))

    def _softmax_step(self) -> None:
        value = self.value(1)
        self.add(ct.SoftmaxOp(value, self.draw(st.integers(0, len(shape_of(value)) - 1))))

    _softmax = _softmax_step

    def _norm(self) -> None:
        value = self.value(1)
        rank = len(shape_of(value))
        count = self.draw(st.integers(1, rank))
        axes = list(range(rank - count, rank))
        weight = self.parameter(shape_of(value)[rank - count :]) if self.draw(st.booleans()) else None
        if self.draw(st.booleans()):
            self.add(ct.RmsNormOp(value, axes, 1e-3, weight))
        else:
            self.add(ct.LayerNormOp(value, axes, 1e-2, weight))

    def _broadcast(self) -> None:
        value = self.value()
        shape, axes = list(shape_of(value)), list(range(len(shape_of(value))))
        if len(shape) < 5:
            place, extent = self.draw(st.integers(0, len(shape))), self.draw(st.sampled_from((1, 2, 3, 16)))
            shape.insert(place, extent)
            axes = [axis + (axis >= place) for axis in axes]
        ones = [axis for axis in axes if shape[axis] == 1]
        if ones and self.draw(st.booleans()):
            shape[self.draw(st.sampled_from(ones))] = self.draw(st.sampled_from((2, 5, 16)))
        if prod(shape) <= LARGEST:
            self.add(ct.BroadcastOp(value, axes, shape))

    def _transpose(self) -> None:
        value = self.value(2)
        self.add(ct.TransposeOp(value, self.draw(st.permutations(range(len(shape_of(value)))))))

    def _reshape(self) -> None:
        value = self.value()
        left, shape = prod(shape_of(value)), []
        for _ in range(self.draw(st.integers(0, 3))):
            extent = self.draw(st.sampled_from([number for number in range(1, left + 1) if left % number == 0]))
            shape.append(extent)
            left //= extent
        if left != 1 or self.draw(st.booleans()):
            shape.append(left)
        self.add(ct.ReshapeOp(value, shape))

    def _slice(self) -> None:
        value = self.value(1)
        starts, sizes, steps = [], [], []
        for extent in shape_of(value):
            step = self.draw(st.sampled_from((1, 1, 2)))
            start = self.draw(st.integers(0, extent - 1))
            starts.append(start)
            steps.append(step)
            sizes.append(self.draw(st.integers(1, (extent - 1 - start) // step + 1)))
        self.add(ct.SliceOp(value, starts, sizes, steps))

    def _concat(self) -> None:
        value = self.value(1)
        axis = self.draw(st.integers(0, len(shape_of(value)) - 1))
        parts = [value]
        for _ in range(self.draw(st.integers(0, 2))):
            shape = list(shape_of(value))
            fitting = [
                other
                for other in self.values
                if len(shape_of(other)) == len(shape)
                and all(a == b for dim, (a, b) in enumerate(zip(shape_of(other), shape, strict=True)) if dim != axis)
            ]
            parts.append(self.draw(st.sampled_from(fitting)))
        self.add(ct.ConcatOp(parts, axis))

    def _pad(self) -> None:
        value = self.value(1)
        fill = self.made(ct.ConstantOp.splat(self.draw(st.sampled_from((0.0, 1.5))), TensorType(f32, [])))
        low = [self.draw(st.integers(-1 if extent > 2 else 0, 2)) for extent in shape_of(value)]
        high = [self.draw(st.integers(-1 if extent > 2 else 0, 2)) for extent in shape_of(value)]
        self.add(ct.PadOp(value, fill, low, high))

    def _reverse(self) -> None:
        value = self.value(1)
        self.add(ct.ReverseOp(value, self.axes(value)))

    def _indices(self, shape: tuple[int, ...], extent: int) -> SSAValue:
        if self.draw(st.booleans()):
            return self.argument(shape, i64)
        numbers = [self.draw(st.integers(-extent, extent - 1)) for _ in range(prod(shape))]
        return self.made(ct.ConstantOp(DenseIntOrFPElementsAttr.from_list(TensorType(i64, shape), numbers)))

    def _gather(self) -> None:
        value = self.value(1)
        axes = self.axes(value)[:2]
        shape = self.draw(st.sampled_from(((), (3,), (5, 2), (17,))))
        rest = prod(extent for axis, extent in enumerate(shape_of(value)) if axis not in axes)
        if prod(shape) * rest > LARGEST:
            return
        indices = [self._indices(shape, shape_of(value)[axis]) for axis in axes]
        self.add(ct.GatherOp(value, indices, axes))

    def _scatter(self) -> None:
        value = self.value(1)
        axis = self.draw(st.integers(0, len(shape_of(value)) - 1))
        index = self._indices((3,), shape_of(value)[axis])
        rest = tuple(extent for dim, extent in enumerate(shape_of(value)) if dim != axis)
        updates = self.like((3, *rest))
        self.add(ct.ScatterOp(self.draw(st.sampled_from(("assign", "add", "max"))), value, updates, [index], [axis]))

    def _contract(self) -> None:
        lhs = self.value(1)
        shape = shape_of(lhs)
        places = list(self.draw(st.permutations(range(len(shape)))))
        summed = sorted(places[: self.draw(st.integers(1, min(2, len(shape))))])
        batch = sorted(place for place in places[len(summed) :] if self.draw(st.integers(0, 3)) == 0)
        others = [value for value in self.values if _ends_match(shape_of(value), shape, batch, summed)]
        count = len(batch) + len(summed)
        if others and self.draw(st.booleans()):
            rhs = self.draw(st.sampled_from(others))
        else:
            free = tuple(self.draw(st.sampled_from((1, 4, 16, 17))) for _ in range(self.draw(st.integers(0, 2))))
            rhs = self.parameter((*(shape[axis] for axis in (*batch, *summed)), *free))
        free_size = prod(shape_of(rhs)[count:]) * prod(e for axis, e in enumerate(shape) if axis not in summed)
        if free_size > LARGEST:
            return
        axes = list(range(count))
        if self.draw(st.booleans()):
            order = list(self.draw(st.permutations(range(len(shape_of(rhs))))))
            rhs, axes = self.made(ct.TransposeOp(rhs, order)), [order.index(axis) for axis in axes]
        lhs = self.made(ct.UnaryOp("tanh", lhs)) if self.draw(st.booleans()) else lhs
        self.add(
            ct.ContractOp(
                lhs,
                rhs,
                lhs_batch=batch,
                rhs_batch=axes[: len(batch)],
                lhs_contract=summed,
                rhs_contract=axes[len(batch) :],
            )
        )

    def _linear(self) -> None:
        value = self.value(1)
        out = self.draw(st.sampled_from((1, 3, 16, 33)))
        if prod(shape_of(value)[:-1]) * out > LARGEST:
            return
        weight = self.parameter((out, shape_of(value)[-1]))
        bias = self.parameter((out,)) if self.draw(st.booleans()) else None
        self.add(ct.LinearOp(value, weight, bias))

    def _images(self) -> SSAValue:
        """A value of rank 3 or 4 as channels-first images."""
        fitting = [value for value in self.values if len(shape_of(value)) in (3, 4)]
        if not fitting or self.draw(st.booleans()):
            spatial = (6, 7)[: self.draw(st.integers(1, 2))]
            return self.argument((self.draw(st.integers(1, 2)), self.draw(st.sampled_from((3, 4, 16))), *spatial), f32)
        return self.draw(st.sampled_from(fitting))

    def _convolution(self) -> None:
        source = self._images()
        shape = shape_of(source)
        spatial = shape[2:]
        kernel = tuple(self.draw(st.integers(1, min(3, extent))) for extent in spatial)
        groups = self.draw(st.sampled_from([g for g in (1, 1, 2, shape[1]) if shape[1] % g == 0]))
        out = groups * self.draw(st.sampled_from((1, 2, 5)))
        strides = [self.draw(st.sampled_from((1, 1, 2))) for _ in spatial]
        pad = [self.draw(st.integers(0, 1)) for _ in spatial]
        weight = self.parameter((out, shape[1] // groups, *kernel))
        op = ct.ConvolutionOp(source, weight, strides=strides, low=pad, high=pad, groups=groups)
        value = self.add(op)
        if self.draw(st.booleans()):
            bias = self.made(ct.BroadcastOp(self.parameter((out,)), [1], shape_of(value)))
            self.add(ct.BinaryOp("add", value, bias))
        elif self.draw(st.booleans()):
            mean, variance = self.parameter((out,)), self.parameter((out,))
            self.add(ct.BatchNormOp(value, mean, variance, 1, 1.0))

    def _pool(self) -> None:
        source = self._images()
        kernel = [self.draw(st.integers(1, min(3, extent))) for extent in shape_of(source)[2:]]
        if self.draw(st.integers(0, 3)) == 0:
            kernel = list(shape_of(source)[2:])
        pad = [self.draw(st.integers(0, extent // 2)) for extent in kernel]
        kind = self.draw(st.sampled_from(("max", "add")))
        strides = [self.draw(st.integers(1, 2)) for _ in kernel]
        self.add(ct.PoolOp(kind, source, kernel=kernel, strides=strides, low=pad, high=pad))

    def _scan(self) -> None:
        value = self.value(1)
        axis = self.draw(st.integers(0, len(shape_of(value)) - 1))
        self.add(ct.ScanOp(self.draw(st.sampled_from(("add", "max"))), value, axis, exclusive=False))

    def _sort(self) -> None:
        value = self.value(1)
        self.add(ct.SortOp(value, self.draw(st.integers(0, len(shape_of(value)) - 1))))

    def _topk(self) -> None:
        value = self.value(1)
        axis = self.draw(st.integers(0, len(shape_of(value)) - 1))
        self.add(ct.TopkOp(value, self.draw(st.integers(1, shape_of(value)[axis])), axis))

    def _arg_reduce(self) -> None:
        exact = [value for value in self.values if not isinstance(value.owner, Operation) and shape_of(value)]
        if exact:
            value = self.draw(st.sampled_from(exact))
            axis = self.draw(st.integers(0, len(shape_of(value)) - 1))
            places = self.made(ct.ArgReduceOp("max", value, axis, self.draw(st.booleans())))
            self.add(ct.CastOp(places, f32))


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """The shape of a value of this module's programs, which is always known."""
    assert isinstance(value.type, TensorType)
    return tuple(value.type.get_shape())


def _fitting_axes(source: tuple[int, ...], result: tuple[int, ...]) -> list[int] | None:
    """The last places in `result` that `source` can be broadcast to, keeping the order of its dims."""
    axes: list[int] = []
    place = len(result) - 1
    for extent in reversed(source):
        while place >= 0 and extent not in (1, result[place]):
            place -= 1
        if place < 0:
            return None
        axes.append(place)
        place -= 1
    return axes[::-1]


def _ends_match(rhs: tuple[int, ...], lhs: tuple[int, ...], batch: list[int], summed: list[int]) -> bool:
    wanted = tuple(lhs[axis] for axis in (*batch, *summed))
    return rhs[: len(wanted)] == wanted
