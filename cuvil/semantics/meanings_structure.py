"""Reference meaning of what holds a program together: constants, globals, calls, scf, cf, scalars out of tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects import cf, func, scf, tensor
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block

from cuvil.dialects.tensor import ConstantOp, ParameterOp, SizeOp
from cuvil.semantics.arrays import array_of_constant, dtype_of, rounded
from cuvil.semantics.custom_meaning import CALLBACKS
from cuvil.semantics.interpreter import Frame, InterpretationError, Jump, Meaning, Value

Values = Sequence[Value]


def _constant(frame: Frame, op: ConstantOp, operands: Values) -> Values:
    return [array_of_constant(op.value)]


def _parameter(frame: Frame, op: ParameterOp, operands: Values) -> Values:
    return [frame.interpreter.global_value(op.symbol.string_value(), op)]


def _size(frame: Frame, op: SizeOp, operands: Values) -> Values:
    number = np.int64(frame.size(op.value))
    declared = op.result.type
    return [rounded(np.array(number), declared.element_type) if isinstance(declared, TensorType) else number]


def _call(frame: Frame, op: func.CallOp, operands: Values) -> Values:
    name = op.callee.string_value()
    callee = frame.interpreter.function(name, op)
    if callee.is_declaration and CALLBACKS in frame.interpreter.module.attributes:
        from cuvil.codegen.callbacks import call_on_buffers

        return call_on_buffers(frame.interpreter.module, name, operands)
    return frame.interpreter.call(callee, operands)


def _if(frame: Frame, op: scf.IfOp, operands: Values) -> Values:
    region = op.true_region if operands[0] else op.false_region
    return frame.run(region, ()) if region.blocks else ()


def _for(frame: Frame, op: scf.ForOp, operands: Values) -> Values:
    low, high, step, *carried = operands
    state: Values = carried
    for position in range(int(low), int(high), int(step)):
        state = frame.run(op.body, [type(low)(position), *state])
    return state


def _while(frame: Frame, op: scf.WhileOp, operands: Values) -> Values:
    state = operands
    while True:
        goes_on, *forwarded = frame.run(op.before_region, state)
        if not goes_on:
            return forwarded
        state = frame.run(op.after_region, forwarded)


def _parallel(frame: Frame, op: scf.ParallelOp, operands: Values) -> Values:
    if op.initVals:
        raise InterpretationError(f"{op.name}: the reference interpreter runs no parallel loop with reductions", op)
    count = len(op.lowerBound)
    ranges = [
        range(int(low), int(high), int(step))
        for low, high, step in zip(operands[:count], operands[count : 2 * count], operands[2 * count :], strict=True)
    ]
    for offsets in np.ndindex(*(len(one) for one in ranges)):
        frame.run(op.body, [np.int64(one[offset]) for one, offset in zip(ranges, offsets, strict=True)])
    return ()


def _execute_region(frame: Frame, op: scf.ExecuteRegionOp, operands: Values) -> Values:
    return frame.run(op.region, ())


def _index_switch(frame: Frame, op: scf.IndexSwitchOp, operands: Values) -> Values:
    cases = [int(case) for case in op.cases.get_values()]
    chosen = int(operands[0])
    region = op.case_regions[cases.index(chosen)] if chosen in cases else op.default_region
    return frame.run(region, ())


def _extract(frame: Frame, op: tensor.ExtractOp, operands: Values) -> Values:
    source, *indices = operands
    return [source[tuple(int(index) for index in indices)]]


def _dim(frame: Frame, op: tensor.DimOp, operands: Values) -> Values:
    return [np.int64(np.shape(operands[0])[int(operands[1])])]


def _from_elements(frame: Frame, op: tensor.FromElementsOp, operands: Values) -> Values:
    return [np.array(operands, dtype_of(op.result.type.element_type)).reshape(frame.shape(op.result.type))]


def _splat(frame: Frame, op: tensor.SplatOp, operands: Values) -> Values:
    return [np.full(frame.shape(op.result.type), operands[0])]


def _empty(frame: Frame, op: tensor.EmptyOp, operands: Values) -> Values:
    sizes = iter(operands)
    shape = [int(next(sizes)) if size < 0 else size for size in op.tensor.type.get_shape()]
    return [np.zeros(shape, dtype_of(op.tensor.type.element_type))]


def _branch(op: cf.BranchOp, operands: Values) -> tuple[Jump, Values]:
    return Jump(op.successor), operands


def _conditional_branch(op: cf.ConditionalBranchOp, operands: Values) -> tuple[Jump, Values]:
    count = len(op.then_arguments)
    block: Block = op.then_block if operands[0] else op.else_block
    return Jump(block), operands[1 : 1 + count] if operands[0] else operands[1 + count :]


MEANINGS: dict[str, Meaning] = {
    "cuvil_tensor.constant": _constant,
    "cuvil_tensor.parameter": _parameter,
    "cuvil_tensor.size": _size,
    "func.call": _call,
    "scf.if": _if,
    "scf.for": _for,
    "scf.while": _while,
    "scf.parallel": _parallel,
    "scf.execute_region": _execute_region,
    "scf.index_switch": _index_switch,
    "tensor.extract": _extract,
    "tensor.dim": _dim,
    "tensor.from_elements": _from_elements,
    "tensor.splat": _splat,
    "tensor.empty": _empty,
}

JUMPS: Mapping[str, Callable[[Any, Values], tuple[Jump, Values]]] = {
    "cf.br": _branch,
    "cf.cond_br": _conditional_branch,
}
