"""How `bufferize` rebuilds blocks: one walk, each operation moved or rebuilt in a new block, by a table of rules.

A rule is a function of the rewriter and the operation, and appends what becomes of it. Values that leave a block,
through its terminator, are *wanted* in a buffer from outside; who makes such a value writes it there if possible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from xdsl.dialects import scf
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from cuvil.dialects.fused import buffer_type_of
from cuvil.errors import UnsupportedError, UserError
from cuvil.passes._buffer_assignment import BufferAssignment, Ownership
from cuvil.semantics.liveness import Liveness, block_of, is_tensor

Rule: TypeAlias = "Callable[[BlockRewriter, Any], None]"


def has_tensors(op: Operation) -> bool:
    """Whether an operation, regions included, takes or gives tensors."""
    return any(is_tensor(value) for inner in op.walk() for value in (*inner.operands, *inner.results))


class BlockRewriter:
    """Rewrites the blocks of one function."""

    def __init__(self, function: FuncOp, rules: Mapping[type[Operation], Rule], in_place: bool) -> None:
        self.function = function
        self.rules = rules
        self.assignment = BufferAssignment(Liveness.of(function.body), in_place)

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
            rule(self, op)
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

    def want(self, value: SSAValue, buffer: SSAValue, block: Block) -> None:
        """Ask for `value`, needed in `buffer` at the end of `block`, to be written there in the first place.

        If a loop gives it, the tensor that the loop starts from is asked for too, since the loop works in one buffer.
        """
        wanted = self.assignment.wanted
        while isinstance(value.owner, Operation) and block_of(value) is block and value not in wanted:
            wanted[value] = buffer
            start = start_of(value)
            if start is None or not start.has_one_use():
                return
            value = start

    def copy_to(self, pairs: Iterable[tuple[SSAValue, SSAValue]], origin: Operation) -> None:
        """Copy each value that is not there yet into its buffer."""
        buffers = self.assignment.buffers
        self.assignment.copy_in_parallel([(buffers[value], target) for value, target in pairs], origin)

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


def start_of(value: SSAValue) -> SSAValue | None:
    """What the loop that gives `value` starts from; None if no loop gives it, or it works in two buffers."""
    op = value.owner
    if isinstance(op, scf.ForOp):
        return op.iter_args[op.results.index(value)]  # pyright: ignore[reportArgumentType]
    if isinstance(op, scf.WhileOp):
        number = passed_on(op).get(value)
        return None if number is None else op.arguments[number]
    return None


def passed_on(op: scf.WhileOp) -> dict[SSAValue, int]:
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
