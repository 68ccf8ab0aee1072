"""Random programs of symbolic shapes: movement, element-wise operations, reductions and scans, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import strategies as st
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.ir import Block, Operation, Region, SSAValue

from cuvil.dialects import tensor as ct
from cuvil.dialects.base import int_attr
from cuvil.dialects.tensor_symbols import SYMBOLS, symbols_attribute
from cuvil.semantics.dims import Dim, SymbolRange, exact_quotient, product, symbol
from cuvil.semantics.views import dims_of

S0, S1 = symbol("s0"), symbol("s1")
_EXTENTS: tuple[Dim, ...] = (1, 3, 8, 16, 20, S0, S1, S0 + 1, 2 * S1)
_MOST_ELEMENTS = 20000
_SIZES_FOR_LIMIT = {"s0": 40, "s1": 40}


@dataclass
class DynamicDrawer:
    """Draws a function @main of two symbols; every operation reads values drawn before."""

    draw: st.DrawFn
    block: Block = field(init=False)
    values: list[SSAValue] = field(default_factory=list[SSAValue])

    def module(self) -> ModuleOp:
        """The whole program."""
        shapes = [self._shape() for _ in range(self.draw(st.integers(1, 3)))]
        # The last argument tells both symbols, whatever the others are.
        types = [ct.tensor_of(f32, shape) for shape in (*shapes, (S0, S1))]
        self.block = Block(arg_types=types)
        self.values = list(self.block.args)
        for _ in range(self.draw(st.integers(1, 7))):
            rule = self.draw(st.sampled_from(_RULES))
            if (made := rule(self, self.draw(st.sampled_from(self.values)))) is not None:
                self.add(made)
        results = [value for value in self.values if not isinstance(value.owner, Block) and value.first_use is None]
        results = results or self.values[:1]
        self.block.add_op(func.ReturnOp(*results))
        function = func.FuncOp("main", (types, [value.type for value in results]), Region([self.block]))
        if self.draw(st.booleans()):
            least = self.draw(st.integers(0, 1))
            most = self.draw(st.sampled_from((None, 64)))
            function.attributes[SYMBOLS] = symbols_attribute({name: SymbolRange(least, most) for name in ("s0", "s1")})
        module = ModuleOp([function])
        module.verify()
        return module

    def add(self, op: Operation) -> None:
        """Append an operation, unless its result is too large."""
        value = op.results[0]
        size = product(dims_of(value))
        if (size if isinstance(size, int) else size.evaluate(_SIZES_FOR_LIMIT)) <= _MOST_ELEMENTS:
            self.block.add_op(op)
            self.values.append(value)

    def axis(self, value: SSAValue) -> int:
        """One of a value's axes."""
        return self.draw(st.integers(0, len(dims_of(value)) - 1))

    def _shape(self) -> tuple[Dim, ...]:
        return tuple(self.draw(st.lists(st.sampled_from(_EXTENTS), min_size=1, max_size=3)))


def _unary(d: DynamicDrawer, x: SSAValue) -> Operation:
    return ct.UnaryOp(d.draw(st.sampled_from(("neg", "tanh", "abs", "exp"))), _bounded(d, x))


def _bounded(d: DynamicDrawer, x: SSAValue) -> SSAValue:
    """Values near 0, so that exponentials of exponentials stay finite."""
    made = ct.UnaryOp("tanh", x)
    d.block.add_op(made)
    return made.result


def _binary(d: DynamicDrawer, x: SSAValue) -> Operation:
    other = d.draw(st.sampled_from([value for value in d.values if dims_of(value) == dims_of(x)]))
    return ct.BinaryOp(d.draw(st.sampled_from(("add", "sub", "mul", "max"))), x, other)


def _broadcast(d: DynamicDrawer, x: SSAValue) -> Operation | None:
    shape = list(dims_of(x))
    if len(shape) > 3:
        return None
    place = d.draw(st.integers(0, len(shape)))
    axes = [axis + (axis >= place) for axis in range(len(shape))]
    shape.insert(place, d.draw(st.sampled_from((2, 17, S0, S1))))
    return ct.BroadcastOp(x, axes, shape)


def _transpose(d: DynamicDrawer, x: SSAValue) -> Operation | None:
    rank = len(dims_of(x))
    return ct.TransposeOp(x, d.draw(st.permutations(range(rank)))) if rank else None


def _reshape(d: DynamicDrawer, x: SSAValue) -> Operation | None:
    shape = dims_of(x)
    if len(shape) > 1 and d.draw(st.booleans()):
        axis = d.draw(st.integers(0, len(shape) - 2))
        return ct.ReshapeOp(x, (*shape[:axis], shape[axis] * shape[axis + 1], *shape[axis + 2 :]))
    size = product(shape)
    first = d.draw(st.sampled_from((2, 4, S0, S1)))
    rest = exact_quotient(size, first)
    return None if rest is None or size == 0 else ct.ReshapeOp(x, (first, rest))


def _slice(d: DynamicDrawer, x: SSAValue) -> Operation | None:
    shape = dims_of(x)
    starts, sizes = [0] * len(shape), list(shape)
    for axis, extent in enumerate(shape):
        least = extent if isinstance(extent, int) else extent.evaluate({"s0": 0, "s1": 0})
        starts[axis] = d.draw(st.integers(0, min(least, 2)))
        sizes[axis] = extent - starts[axis]
    return ct.SliceOp(x, starts, sizes)


def _reverse(d: DynamicDrawer, x: SSAValue) -> Operation | None:
    return ct.ReverseOp(x, [d.axis(x)]) if dims_of(x) else None


def _concat(d: DynamicDrawer, x: SSAValue) -> Operation | None:
    shape = dims_of(x)
    if not shape:
        return None
    axis = d.axis(x)

    def fits(value: SSAValue) -> bool:
        other = dims_of(value)
        return (*other[:axis], *other[axis + 1 :]) == (*shape[:axis], *shape[axis + 1 :]) and len(other) == len(shape)

    parts = d.draw(st.lists(st.sampled_from([value for value in d.values if fits(value)]), min_size=1, max_size=3))
    return ct.ConcatOp(parts, axis)


def _pad(d: DynamicDrawer, x: SSAValue) -> Operation | None:
    fill = ct.ConstantOp.splat(0.5, ct.tensor_of(f32, ()))
    d.block.add_op(fill)
    counts = [d.draw(st.lists(st.integers(0, 3), min_size=len(dims_of(x)), max_size=len(dims_of(x)))) for _ in "lh"]
    return ct.PadOp(x, fill.results[0], *counts)


def _reduce(d: DynamicDrawer, x: SSAValue) -> Operation | None:
    rank = len(dims_of(x))
    if not rank:
        return None
    axes = sorted(d.draw(st.sets(st.integers(0, rank - 1), min_size=1)))
    return ct.ReduceOp(d.draw(st.sampled_from(("add", "max", "min"))), _bounded(d, x), axes)


def _softmax(d: DynamicDrawer, x: SSAValue) -> Operation | None:
    if not dims_of(x):
        return None
    source = _bounded(d, x)
    axis = int_attr(d.axis(x))
    return ct.SoftmaxOp.create(operands=[source], properties={"axis": axis}, result_types=[source.type])


def _scan(d: DynamicDrawer, x: SSAValue) -> Operation | None:
    return ct.ScanOp("add", x, d.axis(x)) if dims_of(x) else None


_RULES: tuple[Callable[[DynamicDrawer, SSAValue], Operation | None], ...] = (
    _unary,
    _unary,
    _binary,
    _binary,
    _broadcast,
    _transpose,
    _reshape,
    _slice,
    _reverse,
    _concat,
    _pad,
    _reduce,
    _softmax,
    _scan,
)


@st.composite
def dynamic_programs(draw: st.DrawFn) -> ModuleOp:
    """A module whose function @main has symbols s0 and s1."""
    return DynamicDrawer(draw).module()
