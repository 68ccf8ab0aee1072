"""Give every tensor a buffer: kernels in destination style on memrefs, with explicit lifetimes.

    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = cuvil_fused.kernel @a(%p = %x) ... : (tensor<4xf32>) -> (tensor<4xf32>) { ... }
      %1 = cuvil_fused.kernel @b(%p = %0) ... : (tensor<4xf32>) -> (tensor<4xf32>) { ... }
      func.return %1 : tensor<4xf32>
    }
    =>
    func.func @main(%x: memref<4xf32>, %out0: memref<4xf32>) attributes {cuvil_fused.outputs = 1 : i64} {
      %0 = cuvil_fused.alloc : memref<4xf32>
      cuvil_fused.kernel @a(%p = %x) into(%0) ... : (memref<4xf32>) into (memref<4xf32>) { ... }
      cuvil_fused.kernel @b(%p = %0) into(%out0) ... : (memref<4xf32>) into (memref<4xf32>) { ... }
      cuvil_fused.free %0 : memref<4xf32>
      func.return
    }

| source                                     | target                                                           |
|--------------------------------------------|------------------------------------------------------------------|
| `func.func` with tensor results            | trailing memref arguments, counted by `cuvil_fused.outputs`      |
| `cuvil_fused.kernel` on tensors            | the same kernel with `into`                                      |
| `cuvil_tensor.parameter`                   | `cuvil_fused.parameter`                                          |
| `cuvil_tensor.constant`                    | a `cuvil_tensor.global` with an initializer, and its parameter   |
| `tensor.extract`, `tensor.dim`             | `memref.load`, `memref.dim`                                      |
| `scf.if` with tensor results               | each branch writes into buffers made before it                   |
| `scf.for`, `scf.while` carrying tensors    | one buffer for each carried tensor, written at the iteration's end |

A buffer is the output itself where its value is returned; a dead operand's, in place, where an element-wise kernel
allows it (`in-place=false` turns that off); else an `alloc`, freed after the last use, outside any region that only
reads it. Scalars are untouched, and scalar results stay results. Outputs do not overlap inputs or each other: the
caller sees to it.

Requires: core ops inside kernels only (`fuse`), structured control flow.
Ensures: no tensor values outside kernels; `cuvil.semantics.lifetimes.verify_lifetimes` holds; linear time.
Declines (with an error): other operations on tensors, calls that pass tensors.
Source: destination-passing style, as in MLIR's One-Shot Bufferization; parallel copies after Boissinot et al.,
"Revisiting Out-of-SSA Translation", 2009.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

from xdsl.context import Context
from xdsl.dialects import func, memref, tensor
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FunctionType,
    ModuleOp,
    TensorType,
    i32,
)
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass

from cuvil.dialects.base import int_attr
from cuvil.dialects.fused import KernelOp, ParameterOp, buffer_type_of
from cuvil.dialects.tensor import ConstantOp, GlobalOp, initializer_of
from cuvil.dialects.tensor import ParameterOp as TensorParameterOp
from cuvil.errors import UnsupportedError, UserError
from cuvil.instrument import remarks, statistics
from cuvil.passes._block_rewriter import BlockRewriter, Rule
from cuvil.passes._bufferize_control_flow import CONTROL_FLOW_RULES
from cuvil.semantics.liveness import is_tensor

OUTPUTS = "cuvil_fused.outputs"
"""The function attribute that counts the trailing arguments which are outputs."""


# -- operations --------------------------------------------------------------------------------------------------------


def rewrite_kernel(rewriter: BlockRewriter, op: KernelOp) -> None:
    """Kernel on values => kernel in destination style."""
    if op.is_destination_style:
        raise UserError(f"{op.name}: @{op.kernel_name.data} writes into buffers already", op)
    buffers = rewriter.assignment.buffers
    inputs = [buffers[value] for value in op.inputs]
    into = [rewriter.assignment.destination(value, op, number) for number, value in enumerate(op.outputs)]
    properties = {**op.properties, "operandSegmentSizes": _segments(len(inputs), len(into))}
    region = op.detach_region(op.body)
    rewriter.assignment.emit(KernelOp.create(operands=[*inputs, *into], properties=properties, regions=[region]), op)


@cache
def _segments(inputs: int, into: int) -> DenseArrayBase:
    return DenseArrayBase.from_list(i32, [inputs, into])


def rewrite_parameter(rewriter: BlockRewriter, op: TensorParameterOp) -> None:
    """The weight's buffer, read-only."""
    _use_global(rewriter, op, op.symbol.string_value())


def rewrite_extract(rewriter: BlockRewriter, op: tensor.ExtractOp) -> None:
    """`tensor.extract` => `memref.load`."""
    load = memref.LoadOp.get(rewriter.assignment.buffers[op.tensor], op.indices)
    rewriter.assignment.emit(load, op)
    op.result.replace_all_uses_with(load.res)


def rewrite_dim(rewriter: BlockRewriter, op: tensor.DimOp) -> None:
    """`tensor.dim` => `memref.dim`."""
    size = memref.DimOp(rewriter.assignment.buffers[op.source], op.index)
    rewriter.assignment.emit(size, op)
    op.result.replace_all_uses_with(size.result)


def _use_global(rewriter: BlockRewriter, op: Operation, name: str) -> None:
    """Let the buffer of the global `name` stand for the result of `op`."""
    (value,) = op.results
    made = ParameterOp(name, buffer_type_of(value.type))
    made.buffer.name_hint = value.name_hint
    rewriter.assignment.emit(made, op)
    rewriter.assignment.buffers[value] = made.buffer


RULES: dict[type[Operation], Rule] = {
    KernelOp: rewrite_kernel,
    TensorParameterOp: rewrite_parameter,
    tensor.ExtractOp: rewrite_extract,
    tensor.DimOp: rewrite_dim,
    **CONTROL_FLOW_RULES,
}


@dataclass
class _Constants:
    """The globals that stand for constants outside kernels; equal constants share one."""

    module: ModuleOp
    names: dict[DenseIntOrFPElementsAttr, str] = field(default_factory=dict[DenseIntOrFPElementsAttr, str])

    def rewrite(self, rewriter: BlockRewriter, op: ConstantOp) -> None:
        """A constant in memory, like a weight."""
        _use_global(rewriter, op, self.name(op))

    def name(self, op: ConstantOp) -> str:
        """The global of the constant's value."""
        found = self.names.get(op.value)
        if found is None:
            if not self.names:
                ops = self.module.body.block.ops
                self._taken = {str(symbol.data) for each in ops if (symbol := each.properties.get("sym_name"))}  # pyright: ignore
                self._next = 0
            while (found := f"constant_{self._next}") in self._taken:
                self._next += 1
            self._next += 1
            self.names[op.value] = found
            made = ConstantOp(op.value)
            place = self.module.body.block.first_op
            assert place is not None
            declared = GlobalOp(found, op.value.type, initializer_of([made], made.result))  # pyright: ignore
            self.module.body.block.insert_op_before(declared, place)
        return found


# -- functions ---------------------------------------------------------------------------------------------------------


def rewrite_function(rewriter: BlockRewriter) -> None:
    """Rewrite the rewriter's function."""
    function = rewriter.function
    old = function.body.block
    last = old.last_op
    if not isinstance(last, func.ReturnOp):
        raise UnsupportedError("func.func: expected a function that ends in func.return", function)
    returned = [value for value in last.arguments if is_tensor(value)]
    new = rewriter.new_block(old.args, [buffer_type_of(value.type) for value in returned])
    outputs = new.args[len(old.args) :]
    for number, (value, output) in enumerate(zip(returned, outputs, strict=True)):
        output.name_hint = f"out{number}"
        rewriter.want(value, output, old)

    def finish() -> list[SSAValue]:
        rewriter.copy_to(zip(returned, outputs, strict=True), last)
        for number, (value, output) in enumerate(zip(returned, outputs, strict=True)):
            if rewriter.assignment.buffers[value] is not output:
                _remark_copied_output(function, number, value)
        return [value for value in last.arguments if not is_tensor(value)]

    rewriter.rewrite_block(old, new, finish)
    function.body.insert_block(new, 0)
    function.body.erase_block(old, safe_erase=False)
    _update_signature(function, new, len(returned))


def _update_signature(function: func.FuncOp, block: Block, outputs: int) -> None:
    """Make the function's type and attributes those of its new block."""
    results = function.function_type.outputs.data
    scalars = [result for result in results if not isinstance(result, TensorType)]
    function.properties["function_type"] = FunctionType.from_lists(block.arg_types, scalars)
    function.attributes[OUTPUTS] = int_attr(outputs)
    arguments, of_results = function.arg_attrs, function.res_attrs
    if arguments is None and of_results is None:
        return
    empty = DictionaryAttr({})
    given = list(arguments.data) if arguments is not None else [empty] * (len(block.args) - outputs)
    ending = of_results.data if of_results is not None else [empty] * len(results)
    of_outputs = [each for each, result in zip(ending, results, strict=True) if isinstance(result, TensorType)]
    function.properties["arg_attrs"] = ArrayAttr([*given, *of_outputs])
    if of_results is not None:
        kept = [each for each, result in zip(ending, results, strict=True) if not isinstance(result, TensorType)]
        function.properties["res_attrs"] = ArrayAttr(kept)


def _remark_copied_output(function: func.FuncOp, number: int, value: SSAValue) -> None:
    if remarks.is_enabled():
        what = "an argument" if isinstance(value, BlockArgument) else f"a {value.owner.name}"  # pyright: ignore
        message = f"output {number} is copied: its value, {what}, is elsewhere"
        remarks.emit("missed", pass_name="bufferize", op=function, message=message)


def is_candidate(function: func.FuncOp) -> bool:
    """Whether a function is on tensors: not a declaration, and not done already."""
    return bool(function.body.blocks) and OUTPUTS not in function.attributes and _mentions_tensors(function)


def _mentions_tensors(function: func.FuncOp) -> bool:
    types = (*function.function_type.inputs, *function.function_type.outputs)
    if any(isinstance(each, TensorType) for each in types):
        return True
    return any(is_tensor(result) for op in function.body.walk() for result in op.results)


@dataclass(frozen=True)
class BufferizePass(ModulePass):
    """Kernels on tensors => kernels on buffers; `in-place` lets element-wise kernels write over dead operands."""

    name = "bufferize"

    in_place: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite every function of the module."""
        constants = _Constants(op)
        for function in [each for each in op.ops if isinstance(each, func.FuncOp) and is_candidate(each)]:
            rewriter = BlockRewriter(function, {**RULES, ConstantOp: constants.rewrite}, self.in_place)
            rewrite_function(rewriter)
            for counter, amount in rewriter.assignment.counts.items():
                statistics.count(self.name, counter, amount)
        statistics.count(self.name, "constants", len(constants.names))
