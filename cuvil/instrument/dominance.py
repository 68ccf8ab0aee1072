"""Dominance: every value is defined before it is used.

xDSL's parser resolves uses above definitions, and its verifier does not look, so this check does: a walk down the
dominator tree of each region with the set of the values that are visible, linear in the number of operations.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsolatedFromAbove

from cuvil.errors import VerificationError


def verify_dominance(op: Operation) -> None:
    """Check all uses inside `op`. Raises `VerificationError` at the first operation that uses a value too early."""
    for region in op.regions:
        _verify_region(region, set())


def dominator_tree(region: Region) -> dict[Block, list[Block]]:
    """The blocks that each reachable block dominates immediately.

    Source: Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm".
    """
    entry = region.blocks.first
    if entry is None:
        return {}
    order = _postorder(entry)
    number = {block: index for index, block in enumerate(order)}
    predecessors: dict[Block, list[Block]] = {block: [] for block in order}
    for block in order:
        for successor in _successors(block):
            predecessors[successor].append(block)
    above: dict[Block, Block] = {entry: entry}
    changed = True
    while changed:
        changed = False
        for block in reversed(order):
            if block is entry:
                continue
            known = [predecessor for predecessor in predecessors[block] if predecessor in above]
            common = known[0]
            for other in known[1:]:
                common = _common_dominator(common, other, above, number)
            if above.get(block) is not common:
                above[block] = common
                changed = True
    tree: dict[Block, list[Block]] = {block: [] for block in order}
    for block in reversed(order):
        if block is not entry:
            tree[above[block]].append(block)
    return tree


def _common_dominator(a: Block, b: Block, above: dict[Block, Block], number: dict[Block, int]) -> Block:
    while a is not b:
        while number[a] < number[b]:
            a = above[a]
        while number[b] < number[a]:
            b = above[b]
    return a


def _postorder(entry: Block) -> list[Block]:
    """The blocks reachable from `entry`, each after its successors but for back edges; without recursion."""
    order: list[Block] = []
    seen = {entry}
    stack: list[tuple[Block, Iterator[Block]]] = [(entry, iter(_successors(entry)))]
    while stack:
        block, successors = stack[-1]
        successor = next((block for block in successors if block not in seen), None)
        if successor is None:
            order.append(block)
            stack.pop()
        else:
            seen.add(successor)
            stack.append((successor, iter(_successors(successor))))
    return order


def _successors(block: Block) -> list[Block]:
    return [] if block.last_op is None else list(block.last_op.successors)


def _verify_region(region: Region, visible: set[SSAValue]) -> None:
    """Check the uses in `region`; `visible` are the values defined around it, and is left as it was."""
    blocks = region.blocks
    if len(blocks) == 1:
        visible.difference_update(_verify_block(blocks[0], visible))
        return
    tree = dominator_tree(region)
    # Unreachable blocks are not in the tree: what they use is nobody's concern.
    stack: list[tuple[Block, list[SSAValue] | None]] = [(blocks[0], None)] if tree else []
    while stack:
        block, added = stack.pop()
        if added is not None:
            visible.difference_update(added)
            continue
        stack.append((block, _verify_block(block, visible)))
        stack += [(child, None) for child in tree[block]]


def _verify_block(block: Block, visible: set[SSAValue]) -> list[SSAValue]:
    """Check the uses in `block`; adds the values it defines to `visible`, and returns them."""
    added: list[SSAValue] = list(block.args)
    visible.update(added)
    for op in block.ops:
        for index, operand in enumerate(op.operands):
            if operand not in visible:
                raise VerificationError(f"{op.name}: operand #{index} does not dominate this use", op)
        if op.regions:
            inner = set[SSAValue]() if op.has_trait(IsolatedFromAbove, value_if_unregistered=False) else visible
            for region in op.regions:
                _verify_region(region, inner)
        if results := op.results:
            visible.update(results)
            added += results
    return added
