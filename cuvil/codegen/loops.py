"""Building loop-level IR: scf, arith, vector and memref on flat buffers.

The *loop level* is the dialect set that kernels are written in once their schedule is fixed: `func`, `scf` (for, if,
while, parallel), `arith`, `math`, `vector` (rank 1) and `memref` (rank 1, identity layout; a buffer of any logical
shape is seen flat). `lower-loops-to-llvm` takes exactly what this builder makes.

An `Index` is a Python int where the number is known, a `DimExpr` where it is an expression of the function's symbols,
and an `index` SSA value where only a loop knows it; arithmetic on it folds (dims as polynomials), so that one emitter
serves static and symbolic shapes. A dim becomes a value when it meets one, once a function: what computes it from the
symbols stands at the function's entry (`finish` puts it there). Offsets and strides are in elements, never in bytes.

Operations are made with `Operation.create`, not through their constructors: a kernel is thousands of operations and the
generic constructor costs twice as much. The verifier still sees all of them at the end of the lowering.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, lru_cache
from math import isfinite
from typing import Any, ClassVar, TypeAlias

from xdsl.dialects import arith, math, memref, scf, vector
from xdsl.dialects.arith import CMPF_COMPARISON_OPERATIONS
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    VectorType,
    i1,
)
from xdsl.dialects.utils.fast_math import FastMathFlag
from xdsl.dialects.vector import CombiningKindAttr, CombiningKindFlag
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation

from cuvil.codegen.loop_dims import DimValues
from cuvil.dialects import vector as lanes
from cuvil.semantics.dims import Dim, DimExpr, ShapeEnvironment, exact_quotient

Index: TypeAlias = int | DimExpr | SSAValue
"""A number of elements: an int if known at compile time, a dim if the symbols say it, else an `index` value."""

_INDEX = IndexType()
_NO_FASTMATH = arith.FastMathFlagsAttr("none")
_NO_OVERFLOW = arith.IntegerOverflowAttr("none")

_LANE_WISE: dict[type[IRDLOperation], type[IRDLOperation]] = {
    arith.CmpfOp: lanes.CmpfOp,
    arith.CmpiOp: lanes.CmpiOp,
    arith.ExtSIOp: lanes.ExtSIOp,
    arith.ExtUIOp: lanes.ExtUIOp,
    arith.FPToSIOp: lanes.FPToSIOp,
    arith.FPToUIOp: lanes.FPToUIOp,
    arith.IndexCastOp: lanes.IndexCastOp,
    arith.SIToFPOp: lanes.SIToFPOp,
    arith.TruncIOp: lanes.TruncIOp,
    arith.UIToFPOp: lanes.UIToFPOp,
}
"""The arith ops that xDSL has for scalars only => their place-takers on vectors (a select goes by its condition)."""


def vector_of(element_type: Attribute, width: int) -> Attribute:
    """`vector<width x element_type>`, or the scalar type itself where `width` is 1."""
    return element_type if width == 1 else _vector_type(element_type, width)


# Making an attribute verifies it, which costs more than the operation that takes it: the frequent ones are kept.


@cache
def _vector_type(element_type: Attribute, width: int) -> VectorType:
    return VectorType(element_type, [width])


@lru_cache(4096)
def _index_attribute(number: int) -> IntegerAttr:
    return IntegerAttr(number, _INDEX)


@cache
def _predicate(number: int) -> IntegerAttr:
    return IntegerAttr(number, 64)


@lru_cache(4096)
def _scalar_attribute(text: str, element_type: Attribute) -> Attribute:
    """The number that `text` spells; a text, because 0.0 and -0.0 are equal, and so are 1 and True."""
    if isinstance(element_type, AnyFloat):
        return FloatAttr(float(text), element_type)
    assert isinstance(element_type, IntegerType | IndexType)
    return IntegerAttr(int(text), element_type, truncate_bits=True)


@lru_cache(4096)
def _splat_attribute(text: str, element_type: Attribute, width: int) -> Attribute:
    scalar = _scalar_attribute(text, element_type)
    assert isinstance(scalar, FloatAttr | IntegerAttr)
    return DenseIntOrFPElementsAttr.from_list(_vector_type(element_type, width), [scalar.value.data])  # pyright: ignore


def element_type_of(value_type: Attribute) -> Attribute:
    """The element type of a vector or memref type; a scalar type itself."""
    if isinstance(value_type, VectorType | MemRefType):
        return value_type.element_type
    return value_type


def width_of(value_type: Attribute) -> int:
    """The number of lanes of a rank-1 vector type; 1 for a scalar type."""
    return value_type.get_shape()[0] if isinstance(value_type, VectorType) else 1


def _is_misread_in_dense(number: float) -> bool:
    """True for floats that xDSL prints by their bits; in `dense<...>` its parser takes those for an integer's value."""
    return not isfinite(number) or (number.is_integer() and abs(number) >= 1e6)


@dataclass
class LoopBuilder:
    """Appends loop-level operations at the end of `block`; `for_`, `if_` and `parallel` nest."""

    block: Block
    symbols: Mapping[str, SSAValue] = field(default_factory=dict[str, SSAValue])
    """The `index` values of the symbols that dims are expressions of."""
    environment: ShapeEnvironment = field(default_factory=ShapeEnvironment)
    """What is known of the symbols."""
    grain: ClassVar[int] = 1 << 15
    """Element operations below which a kernel runs on one thread: entering a parallel region costs about as much."""
    _constants: list[dict[Any, SSAValue]] = field(default_factory=lambda: [{}])
    _dims: DimValues = field(init=False)

    def __post_init__(self) -> None:
        self._entry = self.block
        self._dims = DimValues(self.symbols, self.environment)

    def finish(self) -> None:
        """Put what computes dims from the symbols at the beginning of the block that the builder began with."""
        self._dims.insert_at_start(self._entry)

    # -- inserting ---------------------------------------------------------------------------------------------------

    def insert(self, op: Operation) -> SSAValue:
        """Append `op` and return its first result."""
        self.block.add_op(op)
        return op.results[0]

    def op(
        self, op_class: type[IRDLOperation], *operands: SSAValue, result: Attribute, **properties: Attribute
    ) -> SSAValue:
        """Append `op_class` made by `create`, which skips the constructor's generic work.

        Where the result is a vector and upstream's op takes scalars only, the lane-wise op of that name replaces it.
        """
        if isinstance(result, VectorType):
            op_class = _LANE_WISE.get(op_class, op_class)
        made = op_class.create(operands=operands, result_types=(result,), properties=properties)
        self.block.add_op(made)
        return made.results[0]

    def save(self) -> list[dict[Any, SSAValue]]:
        """What `restore` needs after operations appended since have been erased again."""
        return [dict(scope) for scope in self._constants]

    def restore(self, saved: list[dict[Any, SSAValue]]) -> None:
        """Forget the constants made since `save`."""
        self._constants[:] = saved

    def ops_since(self, last: Operation | None) -> list[Operation]:
        """What was appended to the current block behind `last` (None: all of it)."""
        made: list[Operation] = []
        op = self.block.first_op if last is None else last.next_op
        while op is not None:
            made.append(op)
            op = op.next_op
        return made

    def discard_unused(self, operations: Sequence[Operation]) -> None:
        """Erase those of `operations`, in the order in which they were appended, that nothing uses."""
        for op in reversed(operations):
            if any(result.first_use is not None for result in op.results):
                continue
            for scope in self._constants:
                for key in [key for key, value in scope.items() if value.owner is op]:
                    del scope[key]
            op.detach()
            op.erase()

    # -- constants ---------------------------------------------------------------------------------------------------

    def index(self, number: Index) -> SSAValue:
        """`number` as an `index` value."""
        if isinstance(number, SSAValue):
            return number
        if isinstance(number, DimExpr):
            return self._dims.value(number)
        return self._constant(("index", number), _index_attribute(number), _INDEX)

    def constant(self, number: int | float | bool, element_type: Attribute, width: int = 1) -> SSAValue:
        """A constant of `element_type`, splat over `width` lanes (1: a scalar)."""
        text = repr(float(number)) if isinstance(element_type, AnyFloat) else str(int(number))
        key = (text, element_type, width)
        if (known := self._known_constant(key)) is not None:
            return known
        if width == 1:
            return self._constant(key, _scalar_attribute(text, element_type), element_type)
        if isinstance(element_type, AnyFloat) and _is_misread_in_dense(float(number)):
            made = self.broadcast(self.constant(number, element_type), width)
            self._constants[-1][key] = made
            return made
        return self._constant(key, _splat_attribute(text, element_type, width), _vector_type(element_type, width))

    def _known_constant(self, key: Any) -> SSAValue | None:
        for scope in reversed(self._constants):
            if key in scope:
                return scope[key]
        return None

    def _constant(self, key: Any, value: Attribute, result: Attribute) -> SSAValue:
        if (known := self._known_constant(key)) is not None:
            return known
        made = self.op(arith.ConstantOp, result=result, value=value)
        self._constants[-1][key] = made
        return made

    # -- index arithmetic, folded ------------------------------------------------------------------------------------

    def add(self, lhs: Index, rhs: Index) -> Index:
        """lhs + rhs."""
        if not isinstance(lhs, SSAValue) and not isinstance(rhs, SSAValue):
            return lhs + rhs
        if lhs == 0:
            return rhs
        if rhs == 0:
            return lhs
        return self._index_op(arith.AddiOp, lhs, rhs, overflowFlags=_NO_OVERFLOW)

    def sub(self, lhs: Index, rhs: Index) -> Index:
        """lhs - rhs."""
        if not isinstance(lhs, SSAValue) and not isinstance(rhs, SSAValue):
            return lhs - rhs
        if rhs == 0:
            return lhs
        return self._index_op(arith.SubiOp, lhs, rhs, overflowFlags=_NO_OVERFLOW)

    def mul(self, lhs: Index, rhs: Index) -> Index:
        """lhs * rhs."""
        if not isinstance(lhs, SSAValue) and not isinstance(rhs, SSAValue):
            return lhs * rhs
        if lhs == 0 or rhs == 0:
            return 0
        if lhs == 1:
            return rhs
        if rhs == 1:
            return lhs
        return self._index_op(arith.MuliOp, lhs, rhs, overflowFlags=_NO_OVERFLOW)

    def div(self, lhs: Index, rhs: Index) -> Index:
        """lhs // rhs, both non-negative; any number where rhs is a dim that is 0."""
        if rhs == 1:
            return lhs
        if not isinstance(lhs, SSAValue) and not isinstance(rhs, SSAValue):
            if isinstance(rhs, int):
                return lhs // rhs
            if (quotient := exact_quotient(lhs, rhs)) is not None:
                return quotient
        return self._index_op(arith.DivUIOp, lhs, self._divisor(rhs))

    def rem(self, lhs: Index, rhs: Index) -> Index:
        """lhs % rhs, both non-negative; any number where rhs is a dim that is 0."""
        if rhs == 1:
            return 0
        if not isinstance(lhs, SSAValue) and not isinstance(rhs, SSAValue):
            if isinstance(rhs, int):
                return 0 if self.environment.is_multiple_of(lhs, rhs) else lhs % rhs
            if exact_quotient(lhs, rhs) is not None:
                return 0
        return self._index_op(arith.RemUIOp, lhs, self._divisor(rhs))

    def _divisor(self, number: Index) -> Index:
        """A divisor that is not 0, since what nothing needs may be computed nevertheless."""
        if not isinstance(number, DimExpr) or self.is_at_least(number, 1):
            return number
        return self._dims.at_least_one(number)

    def min(self, lhs: Index, rhs: Index) -> Index:
        """The smaller of two signed indices."""
        if isinstance(lhs, int) and isinstance(rhs, int):
            return min(lhs, rhs)
        if not isinstance(lhs, SSAValue) and not isinstance(rhs, SSAValue):
            if self.is_at_least(rhs, lhs):
                return lhs
            if self.is_at_least(lhs, rhs):
                return rhs
        return self._index_op(arith.MinSIOp, lhs, rhs)

    def max(self, lhs: Index, rhs: Index) -> Index:
        """The larger of two signed indices."""
        if isinstance(lhs, int) and isinstance(rhs, int):
            return max(lhs, rhs)
        if not isinstance(lhs, SSAValue) and not isinstance(rhs, SSAValue):
            if self.is_at_least(rhs, lhs):
                return rhs
            if self.is_at_least(lhs, rhs):
                return lhs
        return self._index_op(arith.MaxSIOp, lhs, rhs)

    def ceil_div(self, lhs: Index, rhs: int) -> Index:
        """ceil(lhs / rhs), lhs non-negative."""
        return self.div(self.add(lhs, rhs - 1), rhs)

    def is_at_least(self, dim: Dim, least: Dim) -> bool:
        """Whether dim >= least certainly, whatever the symbols are; False also where it is not known."""
        if isinstance(dim, int) and isinstance(least, int):
            return dim >= least
        low, _ = self.environment.bounds(self.environment.simplify(dim) - self.environment.simplify(least))
        return low is not None and low >= 0

    def product(self, factors: Sequence[Index]) -> Index:
        """The product of `factors`; 1 for none."""
        result: Index = 1
        for factor in factors:
            result = self.mul(result, factor)
        return result

    def linear(self, offset: Index, coordinates: Sequence[Index], strides: Sequence[Index]) -> Index:
        """offset + sum(coordinates[i] * strides[i])."""
        result = offset
        for coordinate, stride in zip(coordinates, strides, strict=True):
            result = self.add(result, self.mul(coordinate, stride))
        return result

    def delinearize(self, position: Index, shape: Sequence[Index]) -> list[Index]:
        """The row-major coordinates of flat `position` in `shape`."""
        coordinates: list[Index] = []
        for extent in reversed(shape[1:]):
            coordinates.append(self.rem(position, extent))
            position = self.div(position, extent)
        if shape:
            coordinates.append(position)
        return coordinates[::-1]

    def _index_op(self, op_class: type[IRDLOperation], lhs: Index, rhs: Index, **properties: Attribute) -> SSAValue:
        return self.op(op_class, self.index(lhs), self.index(rhs), result=_INDEX, **properties)

    def compare_index(self, predicate: str, lhs: Index, rhs: Index) -> SSAValue:
        """An i1 of `lhs predicate rhs`; predicates: eq ne slt sle sgt sge."""
        number = ("eq", "ne", "slt", "sle", "sgt", "sge").index(predicate)
        return self.op(arith.CmpiOp, self.index(lhs), self.index(rhs), result=i1, predicate=_predicate(number))

    # -- memory ------------------------------------------------------------------------------------------------------

    def load(self, buffer: SSAValue, position: Index, width: int = 1) -> SSAValue:
        """buffer[position : position + width], as a vector, or as a scalar where width is 1."""
        element_type = element_type_of(buffer.type)
        op_class: type[IRDLOperation] = memref.LoadOp if width == 1 else vector.LoadOp
        return self.op(op_class, buffer, self.index(position), result=vector_of(element_type, width))

    def store(self, value: SSAValue, buffer: SSAValue, position: Index) -> None:
        """buffer[position : position + width] = value, width being the value's lanes."""
        op_class: type[IRDLOperation] = vector.StoreOp if isinstance(value.type, VectorType) else memref.StoreOp
        self.block.add_op(op_class.create(operands=(value, buffer, self.index(position))))

    def masked_load(self, buffer: SSAValue, position: Index, mask: SSAValue, width: int) -> SSAValue:
        """As `load`, reading only the lanes whose mask bit is set; other lanes are zero."""
        element_type = element_type_of(buffer.type)
        zero = self.constant(0, element_type, width)
        return self.op(
            vector.MaskedLoadOp, buffer, self.index(position), mask, zero, result=_vector_type(element_type, width)
        )

    def masked_store(self, value: SSAValue, buffer: SSAValue, position: Index, mask: SSAValue) -> None:
        """As `store`, writing only the lanes whose mask bit is set."""
        self.block.add_op(
            vector.MaskedStoreOp.create(operands=(buffer, self.index(position), mask, value), result_types=())
        )

    def open_buffer(self, buffer: SSAValue) -> SSAValue:
        """`buffer` without its size in its type."""
        open_type = MemRefType(element_type_of(buffer.type), [DYNAMIC_INDEX])
        return buffer if buffer.type == open_type else self.op(memref.CastOp, buffer, result=open_type)

    def prefetch(self, buffer: SSAValue, position: Index) -> None:
        """A hint that buffer[position], which may lie outside the buffer, will be read soon."""
        self.block.add_op(lanes.PrefetchOp.create(operands=(buffer, self.index(position))))

    def tail_mask(self, active: Index, width: int) -> SSAValue:
        """vector<width x i1> whose first `active` lanes are set."""
        if isinstance(active, int):
            bits = [lane < active for lane in range(width)]
            value = DenseIntOrFPElementsAttr.from_list(VectorType(i1, [width]), [int(bit) for bit in bits])
            return self._constant(("mask", active, width), value, _vector_type(i1, width))
        return self.op(vector.CreateMaskOp, self.index(active), result=_vector_type(i1, width))

    def alloca(self, element_type: Attribute, size: int) -> SSAValue:
        """A 64-byte aligned stack buffer of `size` elements (thread-private in `parallel`; 512 KiB in all at most)."""
        op = memref.AllocaOp.get(element_type, 64, [size])
        self.block.add_op(op)
        return op.results[0]

    @contextmanager
    def heap(self, element_type: Attribute, size: Index) -> Generator[SSAValue]:
        """A buffer of `size` elements from the heap, for what is too large for the stack, until the `with` ends."""
        if isinstance(size, int):
            made = memref.AllocOp.get(element_type, None, [size])
        else:
            made = memref.AllocOp.get(element_type, None, [DYNAMIC_INDEX], [self.index(size)])
        self.block.add_op(made)
        yield made.memref
        self.block.add_op(memref.DeallocOp.get(made.memref))

    # -- vectors and scalars -----------------------------------------------------------------------------------------

    def broadcast(self, scalar: SSAValue, width: int) -> SSAValue:
        """`scalar` in every one of `width` lanes (itself where width is 1)."""
        if width == 1 or isinstance(scalar.type, VectorType):
            return scalar
        return self.op(vector.BroadcastOp, scalar, result=_vector_type(scalar.type, width))

    def extract(self, value: SSAValue, lane: int) -> SSAValue:
        """One lane of a vector."""
        return self.insert(vector.ExtractOp(value, [lane], element_type_of(value.type)))

    def insert_lane(self, scalar: SSAValue, value: SSAValue, lane: int) -> SSAValue:
        """`value` with `lane` replaced by `scalar`."""
        return self.insert(vector.InsertOp(scalar, value, [lane]))

    def fma(self, lhs: SSAValue, rhs: SSAValue, acc: SSAValue) -> SSAValue:
        """lhs * rhs + acc, rounded once."""
        if isinstance(acc.type, VectorType):
            return self.op(vector.FMAOp, lhs, rhs, acc, result=acc.type)
        return self.op(math.FmaOp, lhs, rhs, acc, result=acc.type, fastmath=_NO_FASTMATH)

    def float_op(self, op_class: type[IRDLOperation], *operands: SSAValue) -> SSAValue:
        """A float arith or math op of its first operand's type, without fast-math flags."""
        return self.op(op_class, *operands, result=operands[0].type, fastmath=_NO_FASTMATH)

    def int_op(self, op_class: type[IRDLOperation], *operands: SSAValue) -> SSAValue:
        """An integer arith op of its first operand's type; addi, subi and muli wrap around."""
        wraps = op_class in (arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.ShLIOp)
        flags: dict[str, Attribute] = {"overflowFlags": _NO_OVERFLOW} if wraps else {}
        return self.op(op_class, *operands, result=operands[0].type, **flags)

    def float_to_integer(self, value: SSAValue, result: Attribute) -> SSAValue:
        """A float without its fraction as a signed integer; the smallest one where it is not in range."""
        return self.op(arith.FPToSIOp, value, result=result)

    def add_float(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """lhs + rhs on floats."""
        return self.float_op(arith.AddfOp, lhs, rhs)

    def sub_float(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """lhs - rhs on floats."""
        return self.float_op(arith.SubfOp, lhs, rhs)

    def mul_float(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """lhs * rhs on floats."""
        return self.float_op(arith.MulfOp, lhs, rhs)

    def div_float(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """lhs / rhs on floats."""
        return self.float_op(arith.DivfOp, lhs, rhs)

    def compare_float(self, predicate: str, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """i1 lanes of `lhs predicate rhs`; predicates as arith.cmpf spells them (oeq, olt, une, uno ...)."""
        number = CMPF_COMPARISON_OPERATIONS.index(predicate)
        return self.op(
            arith.CmpfOp,
            lhs,
            rhs,
            result=vector_of(i1, width_of(lhs.type)),
            predicate=_predicate(number),
            fastmath=_NO_FASTMATH,
        )

    def compare_int(self, predicate: str, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """i1 lanes of `lhs predicate rhs`; predicates: eq ne slt sle sgt sge ult ule ugt uge."""
        number = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge").index(predicate)
        result = vector_of(i1, width_of(lhs.type))
        return self.op(arith.CmpiOp, lhs, rhs, result=result, predicate=_predicate(number))

    def select(self, condition: SSAValue, true: SSAValue, false: SSAValue) -> SSAValue:
        """Lane-wise `condition ? true : false` (a scalar condition chooses whole values)."""
        op_class = lanes.SelectOp if isinstance(condition.type, VectorType) else arith.SelectOp
        return self.op(op_class, condition, true, false, result=true.type)

    def reduce(self, kind: str, value: SSAValue) -> SSAValue:
        """All lanes combined: add, mul, minnumf, maxnumf, minimumf, maximumf, minsi, maxsi, minui, maxui, and, or, xor.

        The order of a float add is the lanes' order by halves, not left to right: `fastmath<reassoc>` is set.
        """
        if not isinstance(value.type, VectorType):
            return value
        flags = arith.FastMathFlagsAttr([FastMathFlag.REASSOC]) if kind in ("add", "mul") else _NO_FASTMATH
        return self.op(
            vector.ReductionOp,
            value,
            result=value.type.element_type,
            kind=CombiningKindAttr(CombiningKindFlag(kind)),
            fastmath=flags,
        )

    def cast_index(self, value: SSAValue, result: Attribute) -> SSAValue:
        """Between `index` and an integer type (sign-extending or truncating)."""
        return self.op(arith.IndexCastOp, value, result=result)

    # -- structure ---------------------------------------------------------------------------------------------------

    @contextmanager
    def _inside(self, block: Block) -> Generator[None]:
        outer, self.block = self.block, block
        self._constants.append({})
        try:
            yield
        finally:
            self._constants.pop()
            self.block = outer

    @contextmanager
    def for_(self, lower: Index, upper: Index, step: Index = 1, init: Sequence[SSAValue] = ()) -> Generator[ForLoop]:
        """for i = lower; i < upper; i += step, carrying `init`. The body must call `.yield_` once if it carries values.

        `.results` are the carried values after the loop.
        """
        bounds = (self.index(lower), self.index(upper), self.index(step))
        body = Block(arg_types=(_INDEX, *(value.type for value in init)))
        op = scf.ForOp.create(
            operands=(*bounds, *init), result_types=[value.type for value in init], regions=[Region([body])]
        )
        self.block.add_op(op)
        loop = ForLoop(body.args[0], body.args[1:], list(op.results))
        with self._inside(body):
            yield loop
            assert len(loop.yielded) == len(init), "a loop that carries values must yield as many"
            body.add_op(scf.YieldOp.create(operands=loop.yielded))

    @contextmanager
    def if_(self, condition: SSAValue) -> Generator[None]:
        """if condition { body }, without results."""
        body = Block()
        op = scf.IfOp.create(operands=(condition,), result_types=(), regions=[Region([body]), Region()])
        self.block.add_op(op)
        with self._inside(body):
            yield
            body.add_op(scf.YieldOp.create())

    @contextmanager
    def if_else(self, condition: SSAValue) -> Generator[tuple[Branch, Branch]]:
        """if condition { ... } else { ... }, without results: use `with then:` and `with other:` inside."""
        blocks = (Block(), Block())
        op = scf.IfOp.create(operands=(condition,), result_types=(), regions=[Region([blocks[0]]), Region([blocks[1]])])
        self.block.add_op(op)
        yield Branch(self, blocks[0]), Branch(self, blocks[1])

    def choose(
        self, condition: SSAValue, then: Callable[[], SSAValue], otherwise: Callable[[], SSAValue], result: Attribute
    ) -> SSAValue:
        """The value of `then` or of `otherwise`, of type `result`; only the one that `condition` names is computed."""
        blocks = (Block(), Block())
        op = scf.IfOp.create(
            operands=(condition,), result_types=(result,), regions=[Region([blocks[0]]), Region([blocks[1]])]
        )
        self.block.add_op(op)
        for block, compute in zip(blocks, (then, otherwise), strict=True):
            with self._inside(block):
                block.add_op(scf.YieldOp.create(operands=(compute(),)))
        return op.results[0]

    @contextmanager
    def parallel(self, count: Index) -> Generator[SSAValue]:
        """Run the body for i in [0, count) over the threads, each thread a contiguous range, in order within it.

        Only at the outermost level of a kernel function; no carried values; the body may use values from outside.
        """
        body = Block(arg_types=(_INDEX,))
        bounds = (self.index(0), self.index(count), self.index(1))
        op = scf.ParallelOp.build(
            operands=[[bounds[0]], [bounds[1]], [bounds[2]], []], result_types=[[]], regions=[Region([body])]
        )
        self.block.add_op(op)
        with self._inside(body):
            yield body.args[0]
            body.add_op(scf.ReduceOp())


@dataclass
class ForLoop:
    """The inside of a `for_`: its induction variable, its carried values, and after it their `results`."""

    index: BlockArgument
    carried: Sequence[SSAValue]
    results: list[SSAValue]
    yielded: tuple[SSAValue, ...] = ()

    def yield_(self, *values: SSAValue) -> None:
        """Carry `values` into the next iteration."""
        self.yielded = values


@dataclass
class Branch:
    """One arm of an `if_else`."""

    builder: LoopBuilder
    block: Block

    def __enter__(self) -> None:
        self._scope = self.builder._inside(self.block)  # pyright: ignore[reportPrivateUsage]
        self._scope.__enter__()

    def __exit__(self, *error: Any) -> None:
        self.block.add_op(scf.YieldOp.create())
        self._scope.__exit__(*error)
