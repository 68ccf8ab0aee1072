"""`bufferize` on structured control flow: branches and loops hand tensors on through buffers made before them.

    %r = scf.if %c -> (tensor<4xf32>) { ... scf.yield %a } else { ... scf.yield %b }
    =>
    %r = cuvil_fused.alloc : memref<4xf32>
    scf.if %c { ... writes %a into %r } else { ... writes %b into %r }

A loop's carried tensors are each in one buffer; the values that an iteration yields are written into them at its end.
Scalars are handed on as before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import scf
from xdsl.ir import Operation, Region, SSAValue

from cuvil.errors import UserError
from cuvil.passes._block_rewriter import BlockRewriter, Rule, passed_on
from cuvil.passes._buffer_assignment import Ownership
from cuvil.semantics.liveness import is_tensor


def rewrite_if(rewriter: BlockRewriter, op: scf.IfOp) -> None:
    """Buffers for the results before it; each branch writes into them."""
    results = [result for result in op.results if is_tensor(result)]
    targets = [rewriter.assignment.destination(result, op) for result in results]
    regions = [_branch(rewriter, op, region, targets) for region in op.regions]
    for result, target in zip(results, targets, strict=True):
        rewriter.assignment.holders[target] = result
    rewriter.replace(op, scf.IfOp, [op.cond], regions)


def _branch(rewriter: BlockRewriter, op: scf.IfOp, region: Region, targets: Sequence[SSAValue]) -> Region:
    """A branch that leaves its tensors in `targets`, whose contents nothing needs."""
    if not region.blocks and not targets:
        return Region()
    last = region.blocks.first.last_op if region.blocks.first is not None else None
    if not isinstance(last, scf.YieldOp) or len(last.arguments) != len(op.results):
        # xDSL's own verifier lets a branch pass that yields nothing.
        raise UserError(f"{op.name}: each branch yields a value for each of {len(op.results)} results", op)
    old = region.block
    for target in targets:
        rewriter.assignment.holders.pop(target, None)
    return Region(
        rewriter.rewrite_block(old, rewriter.new_block(old.args), rewriter.leaving(last, last.arguments, targets, old))
    )


def rewrite_for(rewriter: BlockRewriter, op: scf.ForOp) -> None:
    """One buffer for each carried tensor: it starts as a copy, and is written at the end of each iteration."""
    tensors = [(init, result) for init, result in zip(op.iter_args, op.res, strict=True) if is_tensor(init)]
    carried = [_carry(rewriter, init, result, op) for init, result in tensors]
    targets = [buffer for buffer, _ in carried]
    old = op.body.block
    last = old.last_op
    assert isinstance(last, scf.YieldOp)
    new = rewriter.new_block(old.args, buffers=targets)
    body = Region(rewriter.rewrite_block(old, new, rewriter.leaving(last, last.arguments, targets, old)))
    for (_, result), (buffer, ownership) in zip(tensors, carried, strict=True):
        rewriter.assignment.hold(result, buffer, ownership)
    scalars = [value for value in op.operands if not is_tensor(value)]
    rewriter.replace(op, scf.ForOp, scalars, [body])


def rewrite_while(rewriter: BlockRewriter, op: scf.WhileOp) -> None:
    """A buffer for each carried and each forwarded tensor; one for both where `before` just passes it on."""
    before, after = op.before_region.block, op.after_region.block
    condition, last = before.last_op, after.last_op
    assert isinstance(condition, scf.ConditionOp)
    assert isinstance(last, scf.YieldOp)
    given = passed_on(op)
    result_of = {start: result for result, start in given.items()}
    starts = [number for number, init in enumerate(op.arguments) if is_tensor(init)]
    carried = {n: _carry(rewriter, op.arguments[n], result_of.get(n), op) for n in starts}
    results = [result for result in op.res if is_tensor(result)]
    forwarded = [
        carried[given[result]][0] if result in given else rewriter.assignment.destination(result, op)
        for result in results
    ]
    owners = [rewriter.assignment.ownership.get(result) for result in results]
    # What the last iteration forwarded, nothing needs in this one.
    for result, buffer in zip(results, forwarded, strict=True):
        if result not in given:
            rewriter.assignment.holders.pop(buffer, None)
    targets = [buffer for buffer, _ in carried.values()]
    new_before = rewriter.new_block(before.args, buffers=targets)
    condition_part = rewriter.rewrite_block(
        before, new_before, rewriter.leaving(condition, condition.args, forwarded, before)
    )
    for number in starts:
        rewriter.assignment.holders.pop(carried[number][0], None)
    new_after = rewriter.new_block(after.args, buffers=forwarded)
    body = rewriter.rewrite_block(after, new_after, rewriter.leaving(last, last.arguments, targets, after))
    for result, buffer, ownership in zip(results, forwarded, owners, strict=True):
        kept = carried[given[result]][1] if result in given else ownership
        rewriter.assignment.hold(result, buffer, kept)
    scalars = [value for value in op.arguments if not is_tensor(value)]
    rewriter.replace(op, scf.WhileOp, scalars, [Region(condition_part), Region(body)])
    for number in starts:
        buffer, ownership = carried[number]
        if number not in result_of:
            rewriter.assignment.holders[buffer] = op.arguments[number]
            if ownership is Ownership.OWNED:
                rewriter.assignment.free(buffer, op)


def _carry(
    rewriter: BlockRewriter, init: SSAValue, result: SSAValue | None, op: Operation
) -> tuple[SSAValue, Ownership | None]:
    """The buffer of a loop's carried tensor, which starts as `init` and ends as `result`, and who frees it."""
    assignment = rewriter.assignment
    source = assignment.buffers[init]
    if assignment.can_take_over(init, op):
        ownership = assignment.ownership.pop(init)
        del assignment.holders[source]
        return source, ownership
    if result is not None and _is_written_where_wanted(rewriter, init, result):
        return source, None
    if result is None:
        buffer, ownership = assignment.alloc(assignment.buffer_type(init.type), op), Ownership.OWNED
    else:
        buffer = assignment.destination(result, op)
        ownership = assignment.ownership.get(result)
    assignment.copy(source, buffer, op)
    return buffer, ownership


def _is_written_where_wanted(rewriter: BlockRewriter, init: SSAValue, result: SSAValue) -> bool:
    """Whether `init`, needed by the loop alone, is in the buffer that wants the loop's result."""
    source = rewriter.assignment.buffers[init]
    return (
        rewriter.assignment.wanted.get(result) is source
        and rewriter.assignment.wanted.get(init) is source
        and init.has_one_use()
    )


CONTROL_FLOW_RULES: Mapping[type[Operation], Rule] = {
    scf.IfOp: rewrite_if,
    scf.ForOp: rewrite_for,
    scf.WhileOp: rewrite_while,
}
