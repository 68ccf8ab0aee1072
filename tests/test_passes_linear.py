"""Passes do work in proportion to the number of ops: four times as many ops take four times the calls, not sixteen."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.ir import Block, Operation, Region, SSAValue

from benchmarks.compile_scaling import chain
from cuvil.dialects import tensor as ct
from cuvil.pass_manager import PassManager
from tests.counted_calls import calls_of

STAGES = (
    "fold-batch-norm",
    "generalize",
    "infer-shapes",
    "canonicalize",
    "cse",
    "dce",
    "fold-constants",
    "rewrite-layout",
    "hoist-parameters",
    "fuse",
    "pack-weights,hoist-parameters",
    "bufferize",
    "plan-memory",
)
SHAPE = (4, 8)
Step = Callable[[SSAValue, SSAValue, int], list[Operation]]


def function_of(count: int, globals_: list[Operation], step: Step) -> ModuleOp:
    """A module whose function applies `step(value, first argument, number)` `count` times."""
    block = Block(arg_types=[TensorType(f32, SHAPE)])
    value: SSAValue = block.args[0]
    for number in range(count):
        made = step(value, block.args[0], number)
        block.add_ops(made)
        value = made[-1].results[0]
    block.add_op(func.ReturnOp(value))
    types = ([block.args[0].type], [value.type])
    return ModuleOp([*globals_, func.FuncOp("main", types, Region(block))])


def linears(length: int) -> ModuleOp:
    """Layers with a weight of their own, transposed ahead, and one bias that all of them read."""
    weight = TensorType(f32, (8, 8))
    globals_: list[Operation] = [ct.GlobalOp(f"w{number}", weight) for number in range(length // 4)]

    def layer(value: SSAValue, first: SSAValue, number: int) -> list[Operation]:
        parameter = ct.ParameterOp(f"w{number}", weight)
        moved = ct.TransposeOp(parameter, [1, 0])
        product = ct.ContractOp(value, moved, lhs_contract=[1], rhs_contract=[0])
        return [parameter, moved, product, ct.BinaryOp("add", product, first)]

    return function_of(length // 4, globals_, layer)


def movements(length: int) -> ModuleOp:
    """A chain of movement ops that no law shortens."""

    def turned(value: SSAValue, first: SSAValue, number: int) -> list[Operation]:
        moved = ct.TransposeOp(value, [1, 0])
        reversed_ = ct.ReverseOp(moved, [0])
        back = ct.TransposeOp(reversed_, [1, 0])
        return [moved, reversed_, back, ct.ReverseOp(back, [0])]

    return function_of(length // 4, [], turned)


def convolutions(length: int) -> ModuleOp:
    """Images: padding, convolution, bias, activation, and a residual from two layers before."""
    images, weight = TensorType(f32, (1, 2, 4, 4)), TensorType(f32, (2, 2, 3, 3))
    block = Block(arg_types=[images, weight])
    value: SSAValue = block.args[0]
    before: SSAValue = value
    for _ in range(length // 4):
        product = ct.ConvolutionOp(value, block.args[1], low=[1, 1], high=[1, 1])
        shifted = ct.UnaryOp("relu", product)
        added = ct.BinaryOp("add", shifted, before)
        scaled = ct.UnaryOp("tanh", added)
        block.add_ops([product, shifted, added, scaled])
        before, value = value, scaled.result
    block.add_op(func.ReturnOp(value))
    return ModuleOp([func.FuncOp("main", ([images, weight], [images]), Region(block))])


PROGRAMS = {"elementwise": chain, "linears": linears, "movements": movements, "convolutions": convolutions}


def calls_by_stage(program: Callable[[int], ModuleOp], length: int) -> dict[str, int]:
    """The calls that each stage makes, run in turn."""
    module = program(length)
    return {stage: calls_of(lambda stage=stage: PassManager(stage).run(module)) for stage in STAGES}


@pytest.mark.parametrize("name", PROGRAMS)
def test_work_is_linear_in_the_number_of_ops(name: str):
    program = PROGRAMS[name]
    calls_by_stage(program, 40)  # imports
    short, long = calls_by_stage(program, 200), calls_by_stage(program, 800)
    # Sixteen times as many would be quadratic; a logarithm and what a pass does once are allowed for.
    slow = {stage: (short[stage], long[stage]) for stage in STAGES if long[stage] > 6 * short[stage] + 1000}
    assert not slow
