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

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache

from xdsl.context import Context
from xdsl.dialects import func, memref, scf, tensor
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
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from cuvil.dialects.base import int_attr
from cuvil.dialects.fused import KernelOp, ParameterOp, buffer_type_of
from cuvil.dialects.tensor import ConstantOp, GlobalOp, initializer_of
from cuvil.dialects.tensor import ParameterOp as TensorParameterOp
from cuvil.errors import UnsupportedError, UserError
from cuvil.instrument import remarks, statistics
from cuvil.passes._buffer_assignment import BufferAssignment, Ownership
from cuvil.semantics.liveness import Liveness, block_of, is_tensor

OUTPUTS = "cuvil_fused.outputs"
"""The function attribute that counts the trailing arguments which are outputs."""


def has_tensors(op: Operation) -> bool:
    """Whether an operation, regions included, takes or gives tensors."""
    return any(is_tensor(value) for inner in op.walk() for value in (*inner.operands, *inner.results))


@dataclass
class _Constants:
    """The globals that stand for constants outside kernels; equal constants share one."""

    module: ModuleOp
    names: dict[DenseIntOrFPElementsAttr, str] = field(default_factory=dict[DenseIntOrFPElementsAttr, str])

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


class _FunctionRewriter:
    """Rewrites one function: one walk, each operation moved or rebuilt in a new block."""

    def __init__(self, function: func.FuncOp, constants: _Constants, in_place: bool) -> None:
        self.function = function
        self.constants = constants
        self.assignment = BufferAssignment(Liveness.of(function.body), in_place)
        self.rules: dict[type[Operation], Callable[..., None]] = {
            KernelOp: self.kernel,
            TensorParameterOp: self.parameter,
            ConstantOp: self.constant,
            tensor.ExtractOp: self.extract,
            tensor.DimOp: self.dim,
            scf.IfOp: self.if_,
            scf.ForOp: self.for_,
            scf.WhileOp: self.while_,
        }

    # -- functions and blocks ----------------------------------------------------------------------------------------

    def run(self) -> None:
        """Rewrite the function."""
        old = self.function.body.block
        last = old.last_op
        if not isinstance(last, func.ReturnOp):
            raise UnsupportedError("func.func: expected a function that ends in func.return", self.function)
        returned = [value for value in last.arguments if is_tensor(value)]
        new = self.new_block(old.args, [buffer_type_of(value.type) for value in returned])
        outputs = new.args[len(old.args) :]
        for number, (value, output) in enumerate(zip(returned, outputs, strict=True)):
            output.name_hint = f"out{number}"
            self.want(value, output, old)

        def finish() -> list[SSAValue]:
            self.copy_to(zip(returned, outputs, strict=True), last)
            for number, (value, output) in enumerate(zip(returned, outputs, strict=True)):
                if self.assignment.buffers[value] is not output:
                    _remark_copied_output(self.function, number, value)
            return [value for value in last.arguments if not is_tensor(value)]

        self.rewrite_block(old, new, finish)
        self.function.body.insert_block(new, 0)
        self.function.body.erase_block(old, safe_erase=False)
        self.update_signature(new, len(returned))

    def update_signature(self, block: Block, outputs: int) -> None:
        """Make the function's type and attributes those of its new block."""
        results = self.function.function_type.outputs.data
        scalars = [result for result in results if not isinstance(result, TensorType)]
        self.function.properties["function_type"] = FunctionType.from_lists(block.arg_types, scalars)
        self.function.attributes[OUTPUTS] = int_attr(outputs)
        arguments, of_results = self.function.arg_attrs, self.function.res_attrs
        if arguments is None and of_results is None:
            return
        empty = DictionaryAttr({})
        given = list(arguments.data) if arguments is not None else [empty] * (len(block.args) - outputs)
        ending = of_results.data if of_results is not None else [empty] * len(results)
        of_outputs = [each for each, result in zip(ending, results, strict=True) if isinstance(result, TensorType)]
        self.function.properties["arg_attrs"] = ArrayAttr([*given, *of_outputs])
        if of_results is not None:
            kept = [each for each, result in zip(ending, results, strict=True) if not isinstance(result, TensorType)]
            self.function.properties["res_attrs"] = ArrayAttr(kept)

    def new_block(
        self, args: Sequence[BlockArgument], more: Sequence[Attribute] = (), buffers: Sequence[SSAValue] | None = None
    ) -> Block:
        """A block for the same arguments: scalars as they are; tensors as buffers, left out if `buffers` are given."""
        kept = [arg for arg in args if buffers is None or not is_tensor(arg)]
        block = Block(arg_types=[*(buffer_type_of(arg.type) for arg in kept), *more])
        for old, new in zip(kept, block.args, strict=False):
            new.name_hint = old.name_hint
            if is_tensor(old):
                self.assignment.buffers[old] = new
            else:
                old.replace_all_uses_with(new)
        carried = [arg for arg in args if buffers is not None and is_tensor(arg)]
        for arg, buffer in zip(carried, buffers or (), strict=True):
            self.assignment.hold(arg, buffer, Ownership.CARRIED)
        return block

    def rewrite_block(self, old: Block, new: Block, finish: Callable[[], list[SSAValue]]) -> Block:
        """Fill `new` with what becomes of `old`; `finish` writes what leaves it and gives the terminator's scalars."""
        outer = getattr(self.assignment, "block", None)
        self.assignment.block = new
        *ops, last = old.ops
        for op in ops:
            self.rewrite(op)
            self.assignment.free_dead(op)
        kept = finish()
        self.assignment.free_dead(last)
        self.assignment.emit(type(last).create(operands=kept, attributes=last.attributes), last)
        if outer is not None:
            self.assignment.block = outer
        return new

    def rewrite(self, op: Operation) -> None:
        """Append what becomes of `op`."""
        rule = self.rules.get(type(op))
        if rule is not None:
            rule(op)
            return
        if has_tensors(op):
            self.refuse(op)
        op.detach()
        self.assignment.emit(op)

    def refuse(self, op: Operation) -> None:
        """Raise the error for an operation on tensors that has no rule."""
        if op.dialect_name() == "cuvil_tensor":
            place = self.function.sym_name.data
            raise UserError(f"{op.name}: outside of a kernel in @{place}; run 'fuse' before 'bufferize'", op)
        raise UnsupportedError(
            f"{op.name}: cannot be given buffers: outside of kernels, expected parameters, constants, tensor.extract, "
            "scf.if, scf.for and scf.while",
            op,
        )

    # -- where values are wanted -------------------------------------------------------------------------------------

    def want(self, value: SSAValue, buffer: SSAValue, block: Block) -> None:
        """Ask for `value`, needed in `buffer` at the end of `block`, to be written there in the first place.

        If a loop gives it, the tensor that the loop starts from is asked for too, since the loop works in one buffer.
        """
        wanted = self.assignment.wanted
        while isinstance(value.owner, Operation) and block_of(value) is block and value not in wanted:
            wanted[value] = buffer
            start = _start_of(value)
            if start is None or not start.has_one_use():
                return
            value = start

    def copy_to(self, pairs: zip[tuple[SSAValue, SSAValue]], origin: Operation) -> None:
        """Copy each value that is not there yet into its buffer."""
        buffers = self.assignment.buffers
        self.assignment.copy_in_parallel([(buffers[value], target) for value, target in pairs], origin)

    # -- operations --------------------------------------------------------------------------------------------------

    def kernel(self, op: KernelOp) -> None:
        """Kernel on values => kernel in destination style."""
        if op.is_destination_style:
            raise UserError(f"{op.name}: @{op.kernel_name.data} writes into buffers already", op)
        buffers = self.assignment.buffers
        inputs = [buffers[value] for value in op.inputs]
        into = [self.assignment.destination(value, op, number) for number, value in enumerate(op.outputs)]
        properties = {**op.properties, "operandSegmentSizes": _segments(len(inputs), len(into))}
        region = op.detach_region(op.body)
        self.assignment.emit(KernelOp.create(operands=[*inputs, *into], properties=properties, regions=[region]), op)

    def parameter(self, op: TensorParameterOp) -> None:
        """The weight's buffer, read-only."""
        self.use_global(op, op.symbol.string_value())

    def constant(self, op: ConstantOp) -> None:
        """A constant in memory, like a weight."""
        self.use_global(op, self.constants.name(op))

    def use_global(self, op: Operation, name: str) -> None:
        """Let the buffer of the global `name` stand for the result of `op`."""
        (value,) = op.results
        made = ParameterOp(name, buffer_type_of(value.type))
        made.buffer.name_hint = value.name_hint
        self.assignment.emit(made, op)
        self.assignment.buffers[value] = made.buffer

    def extract(self, op: tensor.ExtractOp) -> None:
        """`tensor.extract` => `memref.load`."""
        load = memref.LoadOp.get(self.assignment.buffers[op.tensor], op.indices)
        self.assignment.emit(load, op)
        op.result.replace_all_uses_with(load.res)

    def dim(self, op: tensor.DimOp) -> None:
        """`tensor.dim` => `memref.dim`."""
        size = memref.DimOp(self.assignment.buffers[op.source], op.index)
        self.assignment.emit(size, op)
        op.result.replace_all_uses_with(size.result)

    def if_(self, op: scf.IfOp) -> None:
        """Buffers for the results before it; each branch writes into them."""
        results = [result for result in op.results if is_tensor(result)]
        targets = [self.assignment.destination(result, op) for result in results]
        regions = [self.branch(region, targets) for region in op.regions]
        for result, target in zip(results, targets, strict=True):
            self.assignment.holders[target] = result
        self.replace(op, scf.IfOp, [op.cond], regions)

    def branch(self, region: Region, targets: Sequence[SSAValue]) -> Region:
        """A branch that leaves its tensors in `targets`, whose contents nothing needs."""
        if not region.blocks:
            return Region()
        old = region.block
        last = old.last_op
        assert isinstance(last, scf.YieldOp)
        for target in targets:
            self.assignment.holders.pop(target, None)
        return Region(
            self.rewrite_block(old, self.new_block(old.args), self.leaving(last, last.arguments, targets, old))
        )

    def leaving(
        self, last: Operation, values: Sequence[SSAValue], targets: Sequence[SSAValue], block: Block
    ) -> Callable[[], list[SSAValue]]:
        """What to do at the end of `block`, from which `values` leave, the tensors among them into `targets`."""
        tensors = [value for value in values if is_tensor(value)]
        for value, target in zip(tensors, targets, strict=True):
            self.want(value, target, block)

        def finish() -> list[SSAValue]:
            self.copy_to(zip(tensors, targets, strict=True), last)
            return [value for value in last.operands if not is_tensor(value)]

        return finish

    def replace(
        self, op: Operation, kind: type[Operation], operands: Sequence[SSAValue], regions: Sequence[Region]
    ) -> None:
        """Append the control flow that stands for `op`, with its scalar results alone."""
        scalars = [result for result in op.results if not is_tensor(result)]
        new = kind.create(
            operands=operands,
            result_types=[result.type for result in scalars],
            attributes=op.attributes,
            properties=op.properties,
            regions=regions,
        )
        self.assignment.emit(new, op)
        for old, result in zip(scalars, new.results, strict=True):
            old.replace_all_uses_with(result)

    def for_(self, op: scf.ForOp) -> None:
        """One buffer for each carried tensor: it starts as a copy, and is written at the end of each iteration."""
        tensors = [(init, result) for init, result in zip(op.iter_args, op.res, strict=True) if is_tensor(init)]
        carried = [self.carry(init, result, op) for init, result in tensors]
        targets = [buffer for buffer, _ in carried]
        old = op.body.block
        last = old.last_op
        assert isinstance(last, scf.YieldOp)
        new = self.new_block(old.args, buffers=targets)
        body = Region(self.rewrite_block(old, new, self.leaving(last, last.arguments, targets, old)))
        for (_, result), (buffer, ownership) in zip(tensors, carried, strict=True):
            self.assignment.hold(result, buffer, ownership)
        scalars = [value for value in op.operands if not is_tensor(value)]
        self.replace(op, scf.ForOp, scalars, [body])

    def while_(self, op: scf.WhileOp) -> None:
        """A buffer for each carried and each forwarded tensor; one for both where `before` just passes it on."""
        before, after = op.before_region.block, op.after_region.block
        condition, last = before.last_op, after.last_op
        assert isinstance(condition, scf.ConditionOp)
        assert isinstance(last, scf.YieldOp)
        passed_on = _passed_on(op)
        result_of = {start: result for result, start in passed_on.items()}
        starts = [number for number, init in enumerate(op.arguments) if is_tensor(init)]
        carried = {n: self.carry(op.arguments[n], result_of.get(n), op) for n in starts}
        results = [result for result in op.res if is_tensor(result)]
        forwarded = [
            carried[passed_on[result]][0] if result in passed_on else self.assignment.destination(result, op)
            for result in results
        ]
        owners = [self.assignment.ownership.get(result) for result in results]
        # What the last iteration forwarded, nothing needs in this one.
        for result, buffer in zip(results, forwarded, strict=True):
            if result not in passed_on:
                self.assignment.holders.pop(buffer, None)
        targets = [buffer for buffer, _ in carried.values()]
        new_before = self.new_block(before.args, buffers=targets)
        condition_part = self.rewrite_block(
            before, new_before, self.leaving(condition, condition.args, forwarded, before)
        )
        for number in starts:
            self.assignment.holders.pop(carried[number][0], None)
        new_after = self.new_block(after.args, buffers=forwarded)
        body = self.rewrite_block(after, new_after, self.leaving(last, last.arguments, targets, after))
        for result, buffer, ownership in zip(results, forwarded, owners, strict=True):
            kept = carried[passed_on[result]][1] if result in passed_on else ownership
            self.assignment.hold(result, buffer, kept)
        scalars = [value for value in op.arguments if not is_tensor(value)]
        self.replace(op, scf.WhileOp, scalars, [Region(condition_part), Region(body)])
        for number in starts:
            buffer, ownership = carried[number]
            if number not in result_of:
                self.assignment.holders[buffer] = op.arguments[number]
                if ownership is Ownership.OWNED:
                    self.assignment.free(buffer, op)

    def carry(self, init: SSAValue, result: SSAValue | None, op: Operation) -> tuple[SSAValue, Ownership | None]:
        """The buffer of a loop's carried tensor, which starts as `init` and ends as `result`, and who frees it."""
        assignment = self.assignment
        source = assignment.buffers[init]
        if assignment.can_take_over(init, op):
            ownership = assignment.ownership.pop(init)
            del assignment.holders[source]
            return source, ownership
        if result is not None and self.is_written_where_wanted(init, result, op):
            return source, None
        if result is None:
            buffer, ownership = assignment.alloc(buffer_type_of(init.type), op), Ownership.OWNED
        else:
            buffer = assignment.destination(result, op)
            ownership = assignment.ownership.get(result)
        assignment.copy(source, buffer, op)
        return buffer, ownership

    def is_written_where_wanted(self, init: SSAValue, result: SSAValue, op: Operation) -> bool:
        """Whether `init`, needed by `op` alone, is in the buffer that wants the loop's result."""
        source = self.assignment.buffers[init]
        return (
            self.assignment.wanted.get(result) is source
            and self.assignment.wanted.get(init) is source
            and init.has_one_use()
        )


@cache
def _segments(inputs: int, into: int) -> DenseArrayBase:
    return DenseArrayBase.from_list(i32, [inputs, into])


def _start_of(value: SSAValue) -> SSAValue | None:
    """What the loop that gives `value` starts from; None if no loop gives it, or it works in two buffers."""
    op = value.owner
    if isinstance(op, scf.ForOp):
        return op.iter_args[op.results.index(value)]  # pyright: ignore[reportArgumentType]
    if isinstance(op, scf.WhileOp):
        number = _passed_on(op).get(value)
        return None if number is None else op.arguments[number]
    return None


def _passed_on(op: scf.WhileOp) -> dict[SSAValue, int]:
    """The results that are an argument of `before` passed on unchanged, each with that argument's number, used once."""
    before = op.before_region.block
    condition = before.last_op
    if not isinstance(condition, scf.ConditionOp):
        raise UnsupportedError("scf.while: expected its first region to end in scf.condition", op)
    found: dict[SSAValue, int] = {}
    for value, result in zip(condition.args, op.res, strict=True):
        if isinstance(value, BlockArgument) and value.owner is before and is_tensor(value):
            if value.index not in found.values():
                found[result] = value.index
    return found


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
            rewriter = _FunctionRewriter(function, constants, self.in_place)
            rewriter.run()
            for counter, amount in rewriter.assignment.counts.items():
                statistics.count(self.name, counter, amount)
        statistics.count(self.name, "constants", len(constants.names))
