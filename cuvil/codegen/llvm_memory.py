"""memref and vector ops => llvm loads, stores, shuffles and intrinsics.

| loop level                               | llvm                                                                      |
|------------------------------------------|---------------------------------------------------------------------------|
| `memref.load`, `store`, `vector.load` .. | `llvm.getelementptr`, then `llvm.load`, `store`, aligned as an element is |
| `vector.maskedload`, `maskedstore`       | intrinsics `llvm.masked.load`, `llvm.masked.store`                        |
| an `i1` in memory                        | an `i8`, tested against zero or extended with zeros                       |
| `memref.alloca`                          | `llvm.alloca` in the prelude of the function that the loop body is in     |
| `memref.alloc`, `memref.dealloc`         | calls of `malloc` and `free`                                              |
| `memref.view`, `subview`, `cast` ...     | the source's pointer, moved by an offset                                  |
| `memref.get_global`                      | the parameter's pointer, or the address of an initialized global          |
| `memref.copy`                            | intrinsic `llvm.memmove`: both sides may be one buffer                    |
| `vector.broadcast`                       | `llvm.insertelement`, `llvm.shufflevector`                                |
| `vector.create_mask n`                   | lane numbers < clamp(n)                                                   |
| `vector.reduction`                       | intrinsics `llvm.vector.reduce.*`                                         |

Buffers have rank 1 and identity layout; higher static ranks with identity layout are linearized.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING

from xdsl.dialects import llvm, memref, vector
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IntegerType,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
    VectorType,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.dialects.vector import CombiningKindFlag
from xdsl.ir import Attribute, Operation, SSAValue

from cuvil.codegen.llvm_build import NO_FLAGS
from cuvil.codegen.llvm_scalar import Rule, fast_math
from cuvil.codegen.llvm_types import PTR, element_of, llvm_type, memory_type, size_bytes
from cuvil.dialects.vector import PrefetchOp
from cuvil.errors import UnsupportedError

if TYPE_CHECKING:
    from cuvil.codegen.llvm_function import FunctionLowering

# -- addresses ---------------------------------------------------------------------------------------------------------


def _strides(buffer: MemRefType, op_name: str) -> list[int]:
    """Strides in elements of a buffer's indices."""
    layout = buffer.layout
    if isinstance(layout, NoneAttr):
        shape = buffer.get_shape()
        strides = [1]
        for extent in reversed(shape[1:]):
            strides.append(strides[-1] * extent)
        if DYNAMIC_INDEX not in shape[1:]:
            return strides[::-1][-len(shape) :] if shape else []
    if isinstance(layout, StridedLayoutAttr):
        found = layout.get_strides()
        if all(isinstance(stride, int) for stride in found):
            return [int(stride) for stride in found]  # pyright: ignore
    raise UnsupportedError(f"lower-loops-to-llvm: {op_name}: strides of {buffer} are not known")


def element_pointer(f: FunctionLowering, op: Operation, buffer: SSAValue, indices: tuple[SSAValue, ...]) -> SSAValue:
    """The address of buffer[indices]."""
    base = f.value(buffer)
    buffer_type = buffer.type
    assert isinstance(buffer_type, MemRefType)
    element = memory_type(llvm_type(buffer_type.element_type))
    if not indices:
        return base
    if len(indices) == 1 and isinstance(buffer_type.layout, NoneAttr):
        return f.b.element_pointer(base, f.value(indices[0]), element)
    position: SSAValue | None = None
    for index, stride in zip(indices, _strides(buffer_type, op.name), strict=True):
        term = f.value(index)
        if stride != 1:
            term = _multiply(f, term, stride)
        position = term if position is None else f.b.op(llvm.AddOp, position, term, result=term.type)
    assert position is not None
    return f.b.element_pointer(base, position, element)


def _multiply(f: FunctionLowering, value: SSAValue, factor: int) -> SSAValue:
    return f.b.op(llvm.MulOp, value, f.b.constant(factor), result=value.type)


def _is_bool(value_type: Attribute) -> bool:
    return element_of(value_type) == i1


def _zero(f: FunctionLowering, like: Attribute) -> SSAValue:
    if isinstance(like, VectorType):
        return f.b.splat(0, like.element_type, like.get_shape()[0])
    return f.b.constant(0, like)


def _from_memory(f: FunctionLowering, value: SSAValue, value_type: Attribute) -> SSAValue:
    return f.b.compare("ne", value, _zero(f, value.type)) if _is_bool(value_type) else value


def _to_memory(f: FunctionLowering, value: SSAValue) -> SSAValue:
    return f.b.op(llvm.ZExtOp, value, result=memory_type(value.type)) if _is_bool(value.type) else value


# -- loads and stores --------------------------------------------------------------------------------------------------


def _load(f: FunctionLowering, op: memref.LoadOp | vector.LoadOp) -> None:
    pointer = element_pointer(f, op, op.operands[0], tuple(op.operands[1:]))
    value_type = llvm_type(op.results[0].type)
    f.set(op, _from_memory(f, f.b.load(pointer, memory_type(value_type)), value_type))


def _store(f: FunctionLowering, op: memref.StoreOp | vector.StoreOp) -> None:
    pointer = element_pointer(f, op, op.operands[1], tuple(op.operands[2:]))
    f.b.store(_to_memory(f, f.value(op.operands[0])), pointer)


def _masked_load(f: FunctionLowering, op: vector.MaskedLoadOp) -> None:
    pointer = element_pointer(f, op, op.base, tuple(op.indices))
    value_type = llvm_type(op.result.type)
    in_memory = memory_type(value_type)
    other = _to_memory(f, f.value(op.pass_thru))
    size = size_bytes(element_of(in_memory))
    loaded = f.b.intrinsic("llvm.masked.load", pointer, f.value(op.mask), other, result=in_memory, alignment=size)
    assert loaded is not None
    f.set(op, _from_memory(f, loaded, value_type))


def _masked_store(f: FunctionLowering, op: vector.MaskedStoreOp) -> None:
    pointer = element_pointer(f, op, op.base, tuple(op.indices))
    value = _to_memory(f, f.value(op.value_to_store))
    size = size_bytes(element_of(value.type))
    f.b.intrinsic("llvm.masked.store", value, pointer, f.value(op.mask), result=None, alignment=size)


def _prefetch(f: FunctionLowering, op: PrefetchOp) -> None:
    pointer = element_pointer(f, op, op.buffer, (op.position,))
    for_reading, second_level, of_data = (f.b.constant(number, i32) for number in (0, 2, 1))
    f.b.intrinsic("llvm.prefetch", pointer, for_reading, second_level, of_data, result=None)


def _copy(f: FunctionLowering, op: memref.CopyOp) -> None:
    buffer = op.source.type
    assert isinstance(buffer, MemRefType)
    shape = buffer.get_shape()
    size = size_bytes(buffer.element_type)
    cast = op.source.owner
    if shape == (DYNAMIC_INDEX,) and isinstance(cast, memref.ReinterpretCastOp) and len(cast.sizes) == 1:
        length = _multiply(f, f.value(cast.sizes[0]), size)
    elif isinstance(buffer.layout, NoneAttr) and DYNAMIC_INDEX not in shape:
        length = f.b.constant(size * prod(shape))
    else:
        raise UnsupportedError(f"{op.name}: expected a known size and identity layout, got {buffer}")
    source, target = f.value(op.source), f.value(op.destination)
    f.b.intrinsic("llvm.memmove", target, source, length, f.b.constant(0, i1), result=None)


# -- buffers -----------------------------------------------------------------------------------------------------------


def _alloca(f: FunctionLowering, op: memref.AllocaOp) -> None:
    buffer = op.memref.type
    assert isinstance(buffer, MemRefType)
    if op.dynamic_sizes:
        raise UnsupportedError(f"{op.name}: expected a static size, got {buffer}")
    alignment = op.alignment.value.data if op.alignment is not None else 64
    element = memory_type(llvm_type(buffer.element_type))
    f.set(op, f.b.alloca(element, buffer.element_count(), alignment))


def _alloc(f: FunctionLowering, op: memref.AllocOp) -> None:
    buffer = op.memref.type
    assert isinstance(buffer, MemRefType)
    size = size_bytes(memory_type(llvm_type(buffer.element_type)))
    bytes_needed = f.b.constant(size * prod(extent for extent in buffer.get_shape() if extent != DYNAMIC_INDEX))
    for extent in op.dynamic_sizes:
        bytes_needed = f.b.op(llvm.MulOp, f.value(extent), bytes_needed, result=i64)
    f.module.declare("malloc", [i64], PTR)
    f.set(op, f.b.call("malloc", [bytes_needed], PTR)[0])


def _dealloc(f: FunctionLowering, op: memref.DeallocOp) -> None:
    f.module.declare("free", [PTR], None)
    f.b.call("free", [f.value(op.memref)])


def _view(f: FunctionLowering, op: memref.ViewOp) -> None:
    f.set(op, f.b.element_pointer(f.value(op.source), f.value(op.byte_shift), i8))


def _same_pointer(f: FunctionLowering, op: Operation) -> None:
    f.set(op, f.value(op.operands[0]))


def _moved(f: FunctionLowering, op: memref.SubviewOp | memref.ReinterpretCastOp) -> None:
    """A view that starts at an offset: a subview's counts in the source's strides, a reinterpretation's in elements."""
    source = op.source.type
    assert isinstance(source, MemRefType)
    strides = _strides(source, op.name) if isinstance(op, memref.SubviewOp) else [1]
    dynamic = iter(op.offsets)
    pointer = f.value(op.source)
    element = memory_type(llvm_type(source.element_type))
    for offset, stride in zip(op.static_offsets.iter_values(), strides, strict=True):
        if offset == DYNAMIC_INDEX:
            amount = _multiply(f, f.value(next(dynamic)), stride)
        elif offset:
            amount = f.b.constant(offset * stride)
        else:
            continue
        pointer = f.b.element_pointer(pointer, amount, element)
    f.set(op, pointer)


def _get_global(f: FunctionLowering, op: memref.GetGlobalOp) -> None:
    f.set(op, f.global_pointer(op, op.name_.root_reference.data))


# -- vectors -----------------------------------------------------------------------------------------------------------


def splat(f: FunctionLowering, scalar: SSAValue, lanes: int) -> SSAValue:
    """`scalar` in every lane."""
    result = VectorType(scalar.type, [lanes])
    first = f.b.op(llvm.InsertElementOp, f.b.undef(result), scalar, f.b.constant(0), result=result)
    mask = DenseArrayBase.from_list(i32, [0] * lanes)
    return f.b.op(llvm.ShuffleVectorOp, first, f.b.undef(result), result=result, mask=mask)


def _broadcast(f: FunctionLowering, op: vector.BroadcastOp) -> None:
    value = f.value(op.source)
    result = llvm_type(op.vector.type)
    assert isinstance(result, VectorType)
    if isinstance(value.type, VectorType):
        if value.type != result:
            raise UnsupportedError(f"{op.name}: cannot broadcast {op.source.type} to {op.vector.type}")
        f.set(op, value)
    else:
        f.set(op, splat(f, value, result.get_shape()[0]))


def _shuffle(f: FunctionLowering, op: vector.ShuffleOp) -> None:
    lhs, rhs = f.value(op.v1), f.value(op.v2)
    lanes = [int(lane) for lane in op.mask.iter_values()]
    result = llvm_type(op.result.type)
    if lhs.type != rhs.type:
        raise UnsupportedError(f"{op.name}: expected operands of one type, got {op.v1.type} and {op.v2.type}")
    f.set(op, f.b.op(llvm.ShuffleVectorOp, lhs, rhs, result=result, mask=DenseArrayBase.from_list(i32, lanes)))


def _lane(f: FunctionLowering, op: vector.ExtractOp | vector.InsertOp) -> SSAValue:
    positions = tuple(op.static_position.iter_values())
    if len(positions) != 1:
        raise UnsupportedError(f"{op.name}: expected one position in a vector of rank 1, got {len(positions)}")
    if positions[0] == DYNAMIC_INDEX:
        return f.value(op.dynamic_position[0])
    return f.b.constant(positions[0])


def _extract(f: FunctionLowering, op: vector.ExtractOp) -> None:
    f.set(op, f.extract_lane(f.value(op.vector), _lane(f, op)))


def _insert(f: FunctionLowering, op: vector.InsertOp) -> None:
    target = f.value(op.dest)
    f.set(op, f.b.op(llvm.InsertElementOp, target, f.value(op.source), _lane(f, op), result=target.type))


def _create_mask(f: FunctionLowering, op: vector.CreateMaskOp) -> None:
    """Lane numbers below the count, compared in the narrowest type that suits the data such a mask goes with."""
    result = op.mask_vector.type
    assert isinstance(result, VectorType)
    lanes = result.get_shape()[0]
    element = i32 if lanes <= 16 else i16 if lanes <= 32 else i8 if lanes <= 64 else i32
    count = f.value(op.mask_dim_sizes[0])
    count = f.b.value_intrinsic("llvm.smin", count, f.b.constant(lanes), result=count.type)
    count = f.b.value_intrinsic("llvm.smax", count, f.b.constant(0), result=count.type)
    narrow = f.b.op(llvm.TruncOp, count, result=element, overflowFlags=llvm.OverflowAttr(None))
    f.set(op, f.b.compare("slt", f.b.lane_numbers(element, lanes), splat(f, narrow, lanes)))


_REDUCTIONS = {
    CombiningKindFlag.ADD: ("llvm.vector.reduce.add", "llvm.add"),
    CombiningKindFlag.MUL: ("llvm.vector.reduce.mul", "llvm.mul"),
    CombiningKindFlag.MINSI: ("llvm.vector.reduce.smin", "llvm.smin"),
    CombiningKindFlag.MAXSI: ("llvm.vector.reduce.smax", "llvm.smax"),
    CombiningKindFlag.MINUI: ("llvm.vector.reduce.umin", "llvm.umin"),
    CombiningKindFlag.MAXUI: ("llvm.vector.reduce.umax", "llvm.umax"),
    CombiningKindFlag.MINNUMF: ("llvm.vector.reduce.fmin", "llvm.minnum"),
    CombiningKindFlag.MAXNUMF: ("llvm.vector.reduce.fmax", "llvm.maxnum"),
    CombiningKindFlag.MINIMUMF: ("llvm.vector.reduce.fminimum", "llvm.minimum"),
    CombiningKindFlag.MAXIMUMF: ("llvm.vector.reduce.fmaximum", "llvm.maximum"),
    CombiningKindFlag.AND: ("llvm.vector.reduce.and", "llvm.and"),
    CombiningKindFlag.OR: ("llvm.vector.reduce.or", "llvm.or"),
    CombiningKindFlag.XOR: ("llvm.vector.reduce.xor", "llvm.xor"),
}
_COMBINE = {
    "llvm.add": llvm.AddOp,
    "llvm.mul": llvm.MulOp,
    "llvm.and": llvm.AndOp,
    "llvm.or": llvm.OrOp,
    "llvm.xor": llvm.XOrOp,
}


def _reduction(f: FunctionLowering, op: vector.ReductionOp) -> None:
    value, *accs = f.float_operands(op)
    kind = op.kind.data
    reduce_name, combine_name = _REDUCTIONS[kind]
    element = element_of(value.type)
    acc = accs[0] if accs else None
    is_integer = isinstance(element, IntegerType)
    flags = NO_FLAGS if is_integer else fast_math(op.fastmath)
    if not is_integer and kind in (CombiningKindFlag.ADD, CombiningKindFlag.MUL):
        # LLVM's float sum and product start from a value; -0.0 and 1.0 change nothing.
        identity = -0.0 if kind == CombiningKindFlag.ADD else 1.0
        start = acc or f.b.attribute_constant(f.float_constant(identity, element), element)
        op_class = llvm.VectorReduceFAddOp if kind == CombiningKindFlag.ADD else llvm.VectorReduceFMulOp
        f.set_float(op, f.b.op(op_class, start, value, result=element, fastmathFlags=flags))
        return
    result = f.b.value_intrinsic(reduce_name, value, result=element, flags=flags)
    if acc is not None and combine_name in _COMBINE:
        result = f.b.op(_COMBINE[combine_name], acc, result, result=element)
    elif acc is not None:
        result = f.b.value_intrinsic(combine_name, acc, result, result=element, flags=flags)
    f.set_float(op, result)


MEMORY_RULES: Mapping[type[Operation], Rule] = {
    memref.LoadOp: _load,
    memref.StoreOp: _store,
    memref.AllocaOp: _alloca,
    memref.AllocOp: _alloc,
    memref.DeallocOp: _dealloc,
    memref.ViewOp: _view,
    memref.SubviewOp: _moved,
    memref.ReinterpretCastOp: _moved,
    memref.CastOp: _same_pointer,
    memref.CollapseShapeOp: _same_pointer,
    memref.ExpandShapeOp: _same_pointer,
    memref.AssumeAlignmentOp: _same_pointer,
    memref.GetGlobalOp: _get_global,
    memref.CopyOp: _copy,
    PrefetchOp: _prefetch,
    vector.LoadOp: _load,
    vector.StoreOp: _store,
    vector.MaskedLoadOp: _masked_load,
    vector.MaskedStoreOp: _masked_store,
    vector.BroadcastOp: _broadcast,
    vector.ShuffleOp: _shuffle,
    vector.ExtractOp: _extract,
    vector.InsertOp: _insert,
    vector.CreateMaskOp: _create_mask,
    vector.ReductionOp: _reduction,
}
"""Op class => how it is lowered."""
