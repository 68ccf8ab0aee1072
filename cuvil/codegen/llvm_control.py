"""scf, cf and func ops => blocks, branches and calls.

| loop level                 | llvm                                                                            |
|----------------------------|---------------------------------------------------------------------------------|
| `scf.for`                  | a guard, then a loop that tests at its end; no loop where it runs exactly once  |
| `scf.if`, `index_switch`   | conditional branches that meet in a block, whose arguments are the results      |
| `scf.while`                | a block that tests, a block that works                                          |
| `scf.parallel`             | see `llvm_parallel`                                                             |
| `cf.br`, `cond_br`, `switch` | `llvm.br`, `llvm.cond_br`, a chain of them                                    |
| `func.call`, `return`      | `llvm.call`, `llvm.return`                                                      |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from xdsl.dialects import arith, cf, func, llvm, scf
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from cuvil.codegen.llvm_build import NO_SIGNED_WRAP
from cuvil.codegen.llvm_parallel import lower_parallel
from cuvil.codegen.llvm_scalar import Rule
from cuvil.codegen.llvm_types import llvm_type
from cuvil.errors import UnsupportedError

if TYPE_CHECKING:
    from cuvil.codegen.llvm_function import FunctionLowering


def _types(values: Sequence[SSAValue]) -> list[Attribute]:
    return [llvm_type(value.type) for value in values]


def _bind(f: FunctionLowering, sources: Sequence[SSAValue], values: Sequence[SSAValue]) -> None:
    f.values.update(zip(sources, values, strict=True))


def _known(value: SSAValue) -> int | None:
    if isinstance(value.owner, arith.ConstantOp) and isinstance(value.owner.value, IntegerAttr):
        return value.owner.value.value.data
    return None


def _trip_count(op: scf.ForOp) -> int | None:
    lower, upper, step = _known(op.lb), _known(op.ub), _known(op.step)
    if lower is None or upper is None or step is None or step <= 0:
        return None
    return max(0, -((lower - upper) // step))


def _for(f: FunctionLowering, op: scf.ForOp) -> None:
    source = op.body.block
    init = [f.value(value) for value in op.iter_args]
    lower = f.value(op.lb)
    trips = _trip_count(op)
    if trips == 0:
        _bind(f, op.results, init)
        return
    if trips == 1:
        _bind(f, source.args, [lower, *init])
        _bind(f, op.results, f.lower_inner(source))
        return
    upper, step = f.value(op.ub), f.value(op.step)
    carried = _types(op.iter_args)
    body, after = Block(arg_types=[lower.type, *carried]), Block(arg_types=carried)
    if trips is None:
        f.b.branch_if(f.b.compare("slt", lower, upper), body, [lower, *init], after, init)
    else:
        f.b.branch(body, [lower, *init])
    f.b.start(body)
    _bind(f, source.args, body.args)
    yielded = f.lower_inner(source)
    following = f.b.op(llvm.AddOp, body.args[0], step, result=lower.type, overflowFlags=NO_SIGNED_WRAP)
    f.b.branch_if(f.b.compare("slt", following, upper), body, [following, *yielded], after, yielded)
    f.b.start(after)
    _bind(f, op.results, after.args)


def _if(f: FunctionLowering, op: scf.IfOp) -> None:
    after = Block(arg_types=_types(op.results))
    then = Block()
    other = Block() if op.false_region.blocks else after
    f.b.branch_if(f.value(op.cond), then, [], other, [])
    f.b.start(then)
    f.b.branch(after, f.lower_inner(op.true_region.block))
    if other is not after:
        f.b.start(other)
        f.b.branch(after, f.lower_inner(op.false_region.block))
    f.b.start(after)
    _bind(f, op.results, after.args)


def _while(f: FunctionLowering, op: scf.WhileOp) -> None:
    test_source, work_source = op.before_region.block, op.after_region.block
    test = Block(arg_types=_types(test_source.args))
    work = Block(arg_types=_types(work_source.args))
    after = Block(arg_types=_types(op.results))
    f.b.branch(test, [f.value(value) for value in op.arguments])
    f.b.start(test)
    _bind(f, test_source.args, test.args)
    condition, *passed = f.lower_inner(test_source)
    f.b.branch_if(condition, work, passed, after, passed)
    f.b.start(work)
    _bind(f, work_source.args, work.args)
    f.b.branch(test, f.lower_inner(work_source))
    f.b.start(after)
    _bind(f, op.results, after.args)


def _index_switch(f: FunctionLowering, op: scf.IndexSwitchOp) -> None:
    after = Block(arg_types=_types(op.results))
    number = f.value(op.arg)
    for case, region in zip(op.cases.iter_values(), op.case_regions, strict=True):
        chosen, following = Block(), Block()
        f.b.branch_if(f.b.compare("eq", number, f.b.constant(case)), chosen, [], following, [])
        f.b.start(chosen)
        f.b.branch(after, f.lower_inner(region.block))
        f.b.start(following)
    f.b.branch(after, f.lower_inner(op.default_region.block))
    f.b.start(after)
    _bind(f, op.results, after.args)


def _branch(f: FunctionLowering, op: cf.BranchOp) -> None:
    f.b.branch(f.blocks[op.successor], f.operands(op))


def _conditional_branch(f: FunctionLowering, op: cf.ConditionalBranchOp) -> None:
    then = [f.value(value) for value in op.then_arguments]
    other = [f.value(value) for value in op.else_arguments]
    f.b.branch_if(f.value(op.cond), f.blocks[op.then_block], then, f.blocks[op.else_block], other)


def _switch(f: FunctionLowering, op: cf.SwitchOp) -> None:
    flag = f.value(op.flag)
    numbers: list[Any] = list(op.case_values.get_values()) if op.case_values is not None else []
    for number, block, operands in zip(numbers, op.case_blocks, op.case_operand, strict=True):
        following = Block()
        values = [f.value(value) for value in operands]
        f.b.branch_if(f.b.compare("eq", flag, f.b.constant(number, flag.type)), f.blocks[block], values, following, [])
        f.b.start(following)
    f.b.branch(f.blocks[op.default_block], [f.value(value) for value in op.default_operands])


def _call(f: FunctionLowering, op: func.CallOp) -> None:
    name = op.callee.root_reference.data
    operands = f.operands(op)
    if name in f.module.needs_parameters:
        assert f.parameters is not None
        operands.append(f.parameters)
    if len(op.results) > 1:
        raise UnsupportedError(f"{op.name}: @{name} has {len(op.results)} results, expected one at most", op)
    results = f.b.call(name, operands, llvm_type(op.results[0].type) if op.results else None)
    _bind(f, op.results, results)


def _return(f: FunctionLowering, op: func.ReturnOp) -> None:
    operands = f.operands(op)
    f.b.emit(llvm.ReturnOp(operands[0] if operands else None))


def _terminator(f: FunctionLowering, op: Operation) -> None:
    """Nothing: the rule of the op around reads its operands."""


CONTROL_RULES: Mapping[type[Operation], Rule] = {
    scf.ForOp: _for,
    scf.IfOp: _if,
    scf.WhileOp: _while,
    scf.IndexSwitchOp: _index_switch,
    scf.ParallelOp: lower_parallel,
    scf.YieldOp: _terminator,
    scf.ConditionOp: _terminator,
    scf.ReduceOp: _terminator,
    cf.BranchOp: _branch,
    cf.ConditionalBranchOp: _conditional_branch,
    cf.SwitchOp: _switch,
    func.CallOp: _call,
    func.ReturnOp: _return,
}
"""Op class => how it is lowered."""
