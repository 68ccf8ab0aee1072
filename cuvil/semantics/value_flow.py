"""Where the elements of a value end up: its uses, through ops that only move, repeat or convert elements.

Through casts, movement ops, selects and additions of constants; into kernels, loops, branches and calls, and from a
global's initializer to the global's uses. Used to choose random values that make sense for what they are used as.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from xdsl.dialects import func, scf
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue

from cuvil.dialects.fused import KernelOp
from cuvil.dialects.fused import YieldOp as KernelYieldOp
from cuvil.dialects.tensor import BinaryOp, BroadcastOp, ConstantOp, GlobalOp, InitYieldOp, ParameterOp

_MOVES_FIRST = frozenset(
    f"cuvil_tensor.{name}"
    for name in ("cast", "broadcast", "reshape", "transpose", "slice", "pad", "gather", "reverse", "pack", "unpack")
)


@dataclass(frozen=True)
class Use:
    """Operand `index` of `op` holds elements of the value asked for, each plus `offset`."""

    op: Operation
    index: int
    offset: int = 0


class ValueFlow:
    """The uses of a module's values, found by following elements from op to op."""

    def __init__(self, module: ModuleOp) -> None:
        self._functions: dict[str, FuncOp] = {}
        self._parameters: dict[str, list[SSAValue]] = {}
        for op in module.walk():
            if isinstance(op, FuncOp):
                self._functions[op.sym_name.data] = op
            elif isinstance(op, ParameterOp):
                self._parameters.setdefault(op.symbol.string_value(), []).append(op.result)

    def uses_of_global(self, name: str) -> Iterator[Use]:
        """All uses that elements of global `name` reach."""
        return self.uses(self._parameters.get(name, ()))

    def uses(self, values: Iterable[SSAValue]) -> Iterator[Use]:
        """All uses that elements of `values` reach."""
        waiting = [(value, 0) for value in values]
        seen: set[tuple[SSAValue, int]] = set()
        while waiting:
            value, offset = waiting.pop()
            if (value, offset) in seen or abs(offset) > 1 << 40:
                continue
            seen.add((value, offset))
            for use in value.uses:
                yield Use(use.operation, use.index, offset)
                waiting += [(target, offset + more) for target, more in self._targets(use.operation, use.index)]

    def _targets(self, op: Operation, index: int) -> Iterator[tuple[SSAValue, int]]:
        """The values that take over the elements of an operand, and what is added to them."""
        if op.name in _MOVES_FIRST and index == 0:
            yield op.results[0], 0
        elif op.name == "cuvil_tensor.concat" or (op.name == "cuvil_tensor.ternary" and index):
            yield op.results[0], 0
        elif isinstance(op, BinaryOp) and op.kind.data in ("add", "sub"):
            number = _constant_number(op.operands[1 - index])
            if number is not None and (op.kind.data == "add" or index == 0):
                yield op.result, number if op.kind.data == "add" else -number
        else:
            for target in self._across_regions(op, index):
                yield target, 0

    def _across_regions(self, op: Operation, index: int) -> Iterator[SSAValue]:
        match op:
            case KernelOp() if index < len(op.inputs):
                yield op.body.block.args[index]
            case KernelYieldOp() | scf.YieldOp():
                yield from _result_of_parent(op, index)
            case scf.ConditionOp() if index:
                loop = op.parent_op()
                assert isinstance(loop, scf.WhileOp)
                yield loop.results[index - 1]
                yield loop.after_region.block.args[index - 1]
            case scf.ForOp() if index >= 3:
                yield op.body.block.args[index - 2]
                yield op.results[index - 3]
            case scf.WhileOp():
                yield op.before_region.block.args[index]
            case func.CallOp() if (callee := self._functions.get(op.callee.string_value())) is not None:
                if callee.body.blocks:
                    yield callee.body.block.args[index]
            case InitYieldOp() if isinstance(parent := op.parent_op(), GlobalOp):
                yield from self._parameters.get(parent.sym_name.data, ())
            case _:
                return


def _result_of_parent(op: Operation, index: int) -> Iterator[SSAValue]:
    parent = op.parent_op()
    if isinstance(parent, scf.WhileOp):
        yield parent.before_region.block.args[index]
    elif parent is not None and index < len(parent.results):
        yield parent.results[index]
        if isinstance(parent, scf.ForOp):
            yield parent.body.block.args[index + 1]


def _constant_number(value: SSAValue) -> int | None:
    """The one integer that all elements of a constant are, seen through broadcasts."""
    owner = value.owner
    while isinstance(owner, BroadcastOp):
        owner = owner.input.owner
    if isinstance(owner, Block) or not isinstance(owner, ConstantOp) or not owner.value.is_splat():
        return None
    number = next(iter(owner.value.iter_values()))
    return int(number) if isinstance(number, int | float) and number == int(number) else None


def external_globals(module: ModuleOp) -> Mapping[str, GlobalOp]:
    """The globals without an initializer, whose values are given from outside, by name."""
    return {
        op.properties["sym_name"].data: op
        for op in module.ops
        if isinstance(op, GlobalOp) and op.initializer is None and isinstance(op.properties["sym_name"], StringAttr)
    }
