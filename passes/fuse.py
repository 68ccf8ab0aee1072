"""Put core ops into kernels: one loop nest for as many as share it.

    %1 = cuvil_tensor.contract %x, %w ... : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
    %b = cuvil_tensor.broadcast %bias axes = [1] : tensor<16xf32> -> tensor<4x16xf32>
    %2 = cuvil_tensor.binary add %1, %b : tensor<4x16xf32>
    %3 = cuvil_tensor.unary relu %2 : tensor<4x16xf32>
=>
    %3 = cuvil_fused.kernel @contract_add_relu_0(%x1 = %x, %w1 = %w, %b1 = %bias) family = contraction
      access = <contraction, contraction, broadcast> : (...) -> (tensor<4x16xf32>) { ... the four ops ... }

Which ops share a kernel is decided by `cuvil.analysis.fusion`: streaming into streaming, into a reduction, and into
the epilogue of a contraction, convolution, pool or attention; softmax and norms are one kernel each. Movement ops are
copied into each kernel that reads through them.

Requires: normalized `cuvil_tensor` (core ops, and `attention` whole); any structured control flow around them.
Ensures: every core op is inside a kernel, except parameters and constants; results are the same, to rounding: f32
stays f32 between fused ops, so a kernel gives what its ops give.
Declines: what would make a cycle, what reads other elements than the loops have at hand, kernels beyond `max-ops`;
each with a remark that names the op and its source line.
Source: the loop-fusion legality of Kennedy and McKinley (1993), with the access patterns of cuvil_fused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from cuvil.analysis.fusion import FusionPlan, Group, Movement, plan_fusion
from cuvil.dialects import tensor as ct
from cuvil.dialects.fused import AccessAttr, KernelOp, YieldOp
from cuvil.instrument import statistics
from cuvil.semantics.views import dims_of


@dataclass(frozen=True)
class FusePass(ModulePass):
    """Group core ops into kernels; at most `max_ops` a kernel."""

    name: ClassVar[str] = "fuse"
    tolerance: ClassVar[float] = 1e-6

    max_ops: int = 64

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        namer = _Namer()
        for block in _blocks_with_core_ops(op):
            _Rewriter(block, plan_fusion(block, self.max_ops), namer).rewrite()


def _blocks_with_core_ops(module: ModuleOp) -> list[Block]:
    """Every block of the module's functions that holds ops to fuse, outer blocks first."""
    found: list[Block] = []

    def walk(op: Operation) -> None:
        if isinstance(op, KernelOp | ct.GlobalOp):
            return
        for region in op.regions:
            for block in region.blocks:
                found.append(block)
                for inner in block.ops:
                    if inner.regions:
                        walk(inner)

    walk(module)
    return found


@dataclass
class _Namer:
    """Kernel names that say what is inside: `contract_add_relu_3`."""

    count: int = 0

    def name(self, operations: Iterable[Operation]) -> str:
        words: list[str] = []
        for op in operations:
            if isinstance(op, ct.ElementwiseOp):
                word = op.kind.data
            elif isinstance(op, ct.CustomOp):
                word = op.op_name.rpartition(":")[2].replace(".", "_")
            elif isinstance(op, Movement) and words:
                continue
            else:
                word = op.name.rpartition(".")[2]
            if not words or words[-1] != word:
                words.append(word)
        shown = words if len(words) <= 5 else [*words[:4], words[-1]]
        name = f"{'_'.join(shown)}_{self.count}"
        self.count += 1
        return name


@dataclass
class _Rewriter:
    block: Block
    plan: FusionPlan
    namer: _Namer
    replaced: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    def rewrite(self) -> None:
        # Stable: of two kernels at one position the one that was begun first runs first.
        groups = sorted(self.plan.groups, key=lambda group: group.position)
        if not groups:
            return
        operations = list(self.block.ops)
        needed = self._needed(operations)
        for group in groups:
            self._emit(group, operations[group.position], needed)
        self._redirect(operations)
        for op in reversed(operations):
            if self._is_in_kernels(op) or isinstance(op, ct.ConstantOp):
                if all(result.first_use is None for result in op.results):
                    self.block.erase_op(op)

    def _is_in_kernels(self, op: Operation) -> bool:
        return op in self.plan.group_of or self.plan.is_repeated(op)

    def _needed(self, operations: Sequence[Operation]) -> dict[SSAValue, None]:
        """Members' values that something outside of their kernel reads."""
        needed: dict[SSAValue, None] = {}
        for group in self.plan.groups:
            for value in group.inputs:
                needed[value] = None
        for op in operations:
            if self._is_in_kernels(op):
                continue
            for inner in op.walk():
                for operand in inner.operands:
                    needed[operand] = None
        return needed

    def _emit(self, group: Group, before: Operation, needed: dict[SSAValue, None]) -> None:
        outputs = [value for op in group.members for value in op.results if value in needed]
        if not outputs:
            return
        members = list(group.members)
        if isinstance(members[0], ct.CustomOp):
            outputs = list(members[0].outputs)
            body, inputs = _called_back(members[0])
        else:
            body, inputs = self._body(group, members, outputs)
        kernel = KernelOp(
            self.namer.name(members),
            [self.replaced.get(value, value) for value in inputs],
            Region([body]),
            family=group.family,
            results=[value.type for value in outputs],
            access=access_of(group.family, body, outputs),
        )
        anchor = next((op for op in members if not isinstance(op, Movement)), members[0])
        kernel.location = anchor.location
        self.block.insert_op_before(kernel, before)
        for value, result in zip(outputs, kernel.outputs, strict=True):
            result.name_hint = value.name_hint
            self.replaced[value] = result
        statistics.count("fuse", "kernels")
        statistics.count("fuse", "fused-ops", len(members))

    def _body(
        self, group: Group, members: Sequence[Operation], outputs: Sequence[SSAValue]
    ) -> tuple[Block, list[SSAValue]]:
        """The region's block, and the values its arguments stand for."""
        inputs = list(group.inputs)
        body = Block(arg_types=[value.type for value in inputs])
        values: dict[SSAValue, SSAValue] = dict(zip(inputs, body.args, strict=True))
        for value, argument in zip(inputs, body.args, strict=True):
            argument.name_hint = value.name_hint

        def bring(value: SSAValue) -> None:
            """Copy the movement ops and constants that `value` comes by."""
            stack = [value]
            while stack:
                current = stack[-1]
                owner = current.owner
                if current in values or not isinstance(owner, Operation):
                    stack.pop()
                    continue
                missing = [operand for operand in owner.operands if operand not in values]
                if missing:
                    stack.extend(missing)
                    continue
                copied = owner.clone(values)
                copied.location = owner.location
                body.add_op(copied)
                for old, new in zip(owner.results, copied.results, strict=True):
                    new.name_hint = old.name_hint
                    values[old] = new
                stack.pop()

        for op in members:
            for result in op.results:
                bring(result)
        body.add_op(YieldOp(*(values[value] for value in outputs)))
        return body, inputs

    def _redirect(self, operations: Sequence[Operation]) -> None:
        """Ops outside of kernels read the kernels' results."""
        for op in operations:
            if self._is_in_kernels(op):
                continue
            for inner in op.walk():
                for index, operand in enumerate(inner.operands):
                    if operand in self.replaced:
                        inner.operands[index] = self.replaced[operand]


def _called_back(op: ct.CustomOp) -> tuple[Block, list[SSAValue]]:
    """The region's block of a call-back, which gets equal operands each time they are given, and gives all results."""
    body = Block(arg_types=[value.type for value in op.inputs])
    for value, argument in zip(op.inputs, body.args, strict=True):
        argument.name_hint = value.name_hint
    copied = op.clone()
    copied.operands = list(body.args)
    copied.location = op.location
    for old, new in zip(op.outputs, copied.outputs, strict=True):
        new.name_hint = old.name_hint
    body.add_ops([copied, YieldOp(*copied.outputs)])
    return body, list(op.inputs)


_IN_PLACE_ORDER = ct.ElementwiseOp | ct.CastOp | ct.ConstantOp | ct.BroadcastOp | YieldOp
"""Ops that read no other element of an operand of the loops' shape than the one they compute."""


def access_of(family: str, body: Block, outputs: Sequence[SSAValue]) -> AccessAttr:
    """How the kernel reads each of its arguments; see `cuvil_fused.access`."""
    shapes = {dims_of(value) for value in outputs}
    streams = all(isinstance(op, _IN_PLACE_ORDER) for op in body.ops)
    patterns: list[str] = []
    for argument in body.args:
        users = [use.operation for use in argument.uses]
        same_shape = shapes == {dims_of(argument)}
        if any(isinstance(user, ct.ContractOp | ct.AttentionOp) for user in users) or (
            family in ("contraction", "attention") and not same_shape and _reaches_anchor(argument)
        ):
            patterns.append("contraction")
        elif any(isinstance(user, ct.ConvolutionOp | ct.PoolOp) for user in users):
            patterns.append("window")
        elif any(isinstance(user, ct.ReduceOp) for user in users) or (not streams and family == "loop" and same_shape):
            patterns.append("reduction" if any(isinstance(op, ct.ReduceOp) for op in body.ops) else "movement")
        elif any(isinstance(user, ct.GatherOp) for user in users):
            patterns.append("gather")
        elif all(isinstance(user, ct.ElementwiseOp | ct.CastOp) for user in users) and same_shape:
            patterns.append("streaming")
        elif all(isinstance(user, ct.BroadcastOp) for user in users):
            patterns.append("broadcast")
        else:
            patterns.append("movement")
    return AccessAttr.of(patterns)


def _reaches_anchor(value: SSAValue) -> bool:
    """Whether a movement chain from `value` ends in a contraction or attention."""
    stack, seen = [value], {value}
    while stack:
        for use in stack.pop().uses:
            if isinstance(use.operation, ct.ContractOp | ct.AttentionOp):
                return True
            if isinstance(use.operation, Movement):
                for result in use.operation.results:
                    if result not in seen:
                        seen.add(result)
                        stack.append(result)
    return False
