"""`scf.parallel` => an outlined body that the OpenMP runtime runs on its threads.

```
scf.parallel (%i) = (%c0) to (%n) step (%c1) { body }          in @k
=>
@k.range(captured..., lo, hi)     runs the body for lo <= i < hi
@cuvil.thread(context)            loads @k.range's address, what is captured and n; calls it for this thread's share
in @k:  if cuvil_num_threads <= 1 or n <= 1:  call @k.range(captured..., 0, n)
        else:  store those to a struct on the stack; GOMP_parallel(@cuvil.thread, struct, cuvil_num_threads, 0)
```

Thread t of T gets the contiguous [n*t/T, n*(t+1)/T). The team always has `cuvil_num_threads` threads, also where n is
less: libgomp ends the threads that a smaller team leaves over, and starting them again costs more than they would
idle. Two functions rather than one: a pointer loaded from the struct could alias any other, while an argument can say
it does not, and @cuvil.thread is the same for all loops that capture the same types. Constants are made again inside,
not captured. `memref.alloca` in the body lands in @k.range: it belongs to one thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects import arith, llvm, memref, scf
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr
from xdsl.dialects.llvm import LLVMStructType
from xdsl.ir import Attribute, Block, BlockArgument, SSAValue

from cuvil.codegen.llvm_build import NO_SIGNED_WRAP, UNIT, function
from cuvil.codegen.llvm_scalar import lower_constant
from cuvil.codegen.llvm_types import I32, I64, PTR, llvm_type
from cuvil.errors import UnsupportedError
from cuvil.runtime.threads import NUM_THREADS

if TYPE_CHECKING:
    from cuvil.codegen.llvm_function import FunctionLowering

NOALIAS = "llvm.noalias"
THREAD = "cuvil.thread"
"""What the names of thread functions start with."""


def lower_parallel(f: FunctionLowering, op: scf.ParallelOp) -> None:
    """Outline the loop's body and run it on the threads."""
    _check(op)
    count_source = op.upperBound[0]
    count, known = f.value(count_source), _known(count_source)
    if known == 0:
        return
    captured = [value for value in _captured(op) if not isinstance(value.owner, arith.ConstantOp)]
    values = [f.value(value) for value in captured]
    if f.parameters is not None:
        values.append(f.parameters)
    range_name = _outline_range(f, op, captured)
    zero = f.b.constant(0)
    if known == 1:
        f.b.call(range_name, [*values, zero, count])
        return
    _dispatch(f, range_name, values, count)


def _check(op: scf.ParallelOp) -> None:
    if len(op.lowerBound) != 1 or op.initVals or _known(op.lowerBound[0]) != 0 or _known(op.step[0]) != 1:
        raise UnsupportedError(f"{op.name}: expected one dimension from 0 in steps of 1, without results", op)
    parent = op.parent_op()
    while parent is not None:
        if isinstance(parent, scf.ParallelOp):
            raise UnsupportedError(f"{op.name}: nested in another parallel loop", op)
        parent = parent.parent_op()


def _known(value: SSAValue) -> int | None:
    if isinstance(value.owner, arith.ConstantOp) and isinstance(value.owner.value, IntegerAttr):
        return value.owner.value.value.data
    return None


def _captured(op: scf.ParallelOp) -> list[SSAValue]:
    """Values used in the body and defined outside, each once, in order of use."""
    inside: set[SSAValue] = set()
    used: dict[SSAValue, None] = {}
    for inner in op.body.walk():
        used.update(dict.fromkeys(inner.operands))
        inside.update(inner.results)
        for region in inner.regions:
            for block in region.blocks:
                inside.update(block.args)
    inside.update(op.body.block.args)
    return [value for value in used if value not in inside]


def _outline_range(f: FunctionLowering, op: scf.ParallelOp, captured: Sequence[SSAValue]) -> str:
    """@k.range(captured..., [parameters,] lo, hi): the body for lo <= i < hi."""
    from cuvil.codegen.llvm_function import FunctionLowering

    types = [llvm_type(value.type) for value in captured]
    if f.parameters is not None:
        types.append(PTR)
    arg_types = [*types, I64, I64]
    inner = FunctionLowering(f.module, f.module.fresh_name(f"{f.name}.range"), arg_types)
    args = inner.b.entry.args
    inner.values.update(zip(captured, args, strict=False))
    inner.parameters = args[len(captured)] if f.parameters is not None else None
    for value in _captured(op):
        if isinstance(value.owner, arith.ConstantOp):
            lower_constant(inner, value.owner)
    _loop(inner, op.body.block, args[-2], args[-1])
    body, attrs = inner.b.finish(), _arg_attrs(f, captured)
    f.module.lowered.append(function(inner.name, arg_types, None, body, is_internal=True, arg_attrs=attrs))
    return inner.name


def _arg_attrs(f: FunctionLowering, captured: Sequence[SSAValue]) -> list[DictionaryAttr]:
    """Captured buffers keep the function's `noalias`, unless a pointer made from one is captured as well."""
    attrs = [DictionaryAttr({}) for _ in captured]
    buffers = [value for value in captured if llvm_type(value.type) == PTR]
    if all(isinstance(value, BlockArgument) or isinstance(value.owner, memref.AllocaOp) for value in buffers):
        for position, value in enumerate(captured):
            if value in f.noalias:
                attrs[position] = DictionaryAttr({NOALIAS: UNIT})
    return attrs


def _loop(f: FunctionLowering, source: Block, lower: SSAValue, upper: SSAValue) -> None:
    body, after = Block(arg_types=[I64]), Block()
    f.b.branch_if(f.b.compare("slt", lower, upper), body, [lower], after, [])
    f.b.start(body)
    f.values[source.args[0]] = body.args[0]
    f.lower_block(source)
    following = f.b.op(llvm.AddOp, body.args[0], f.b.constant(1), result=I64, overflowFlags=NO_SIGNED_WRAP)
    f.b.branch_if(f.b.compare("slt", following, upper), body, [following], after, [])
    f.b.start(after)
    f.b.emit(llvm.ReturnOp())


def _thread_function(f: FunctionLowering, types: tuple[Attribute, ...]) -> str:
    """@cuvil.thread(context): one thread's share. The struct is the range's address, what is captured, the count."""
    from cuvil.codegen.llvm_function import FunctionLowering

    module = f.module
    if (known := module.thread_functions.get(types)) is not None:
        return known
    module.declare("omp_get_thread_num", [], I32)
    module.declare("omp_get_num_threads", [], I32)
    inner = FunctionLowering(module, module.fresh_name(THREAD), [PTR])
    module.thread_functions[types] = inner.name
    b, fields = inner.b, (PTR, *types, I64)
    struct, context = LLVMStructType.from_type_list(fields), inner.b.entry.args[0]
    range_function, *captured, count = (
        b.op(llvm.LoadOp, b.field_pointer(context, struct, number), result=field_type, ordering=IntegerAttr(0, 64))
        for number, field_type in enumerate(fields)
    )
    thread, threads = (
        b.op(llvm.ZExtOp, b.call(name, [], I32)[0], result=I64)
        for name in ("omp_get_thread_num", "omp_get_num_threads")
    )
    lower = _share(inner, count, thread, threads)
    upper = _share(inner, count, b.op(llvm.AddOp, thread, b.constant(1), result=I64), threads)
    b.call_pointer(range_function, [*captured, lower, upper])
    b.emit(llvm.ReturnOp())
    module.lowered.append(function(inner.name, [PTR], None, b.finish(), is_internal=True))
    return inner.name


def _share(f: FunctionLowering, count: SSAValue, thread: SSAValue, threads: SSAValue) -> SSAValue:
    """count * thread / threads."""
    return f.b.op(llvm.UDivOp, f.b.op(llvm.MulOp, count, thread, result=I64), threads, result=I64)


def _dispatch(f: FunctionLowering, range_name: str, values: Sequence[SSAValue], count: SSAValue) -> None:
    """Run the range here where one thread is enough, else on a team."""
    types = tuple(value.type for value in values)
    thread_name = _thread_function(f, types)
    struct = LLVMStructType.from_type_list([PTR, *types, I64])
    f.module.declare("GOMP_parallel", [PTR, PTR, I32, I32], None)
    f.module.declare_num_threads()
    b = f.b
    threads = b.load(b.address_of(NUM_THREADS), I32)
    is_serial = b.compare("sle", threads, b.constant(1, I32))
    if not isinstance(count.owner, llvm.ConstantOp):
        is_short = b.compare("sle", count, b.constant(1))
        is_serial = b.op(llvm.OrOp, is_serial, is_short, result=is_serial.type)
    serial, team, after = Block(), Block(), Block()
    b.branch_if(is_serial, serial, [], team, [])
    b.start(serial)
    b.call(range_name, [*values, b.constant(0), count])
    b.branch(after)
    b.start(team)
    context = b.alloca(struct, 1, 64)
    for number, value in enumerate([b.address_of(range_name), *values, count]):
        b.emit(
            llvm.StoreOp.create(
                operands=(value, b.field_pointer(context, struct, number)), properties={"ordering": IntegerAttr(0, 64)}
            )
        )
    b.call("GOMP_parallel", [b.address_of(thread_name), context, threads, b.constant(0, I32)])
    b.branch(after)
    b.start(after)
