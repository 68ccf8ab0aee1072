"""How compile time grows with the number of operations: chains of 1,000, 10,000 and 100,000 core operations.

    python -m benchmarks.compile_scaling
    python -m benchmarks.compile_scaling 1000 10000 --stages normalize fuse --json -

The last column is the exponent of the growth from one length to the next: 1 is linear, 2 is quadratic.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path

from rich.table import Table
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.ir import Block, Operation, Region, SSAValue

from benchmarks.report import RESULTS, as_json, console, write_json

LENGTHS = (1_000, 10_000, 100_000)
STAGES = ("normalize", "fuse", "bufferize,plan-memory")
"""Pipelines run in turn on the same module, each timed by itself."""

_SHAPE = (8, 64)


def chain(length: int) -> ModuleOp:
    """A module with one function of `length` tensor operations, each of which takes the one before it.

    A period of eight is what the element-wise part of a network looks like: a bias, an activation, a residual, and a
    row-wise normalization, whose reductions end a fusion.
    """
    from cuvil.dialects.tensor import BinaryOp, BroadcastOp, ReduceOp, UnaryOp

    tensor = TensorType(f32, _SHAPE)
    block = Block(arg_types=(tensor, tensor))
    value, bias = block.args
    residual: SSAValue = value
    period: tuple[Callable[[SSAValue], Operation], ...] = (
        lambda x: BinaryOp("add", x, bias),
        lambda x: UnaryOp("tanh", x),
        lambda x: BinaryOp("add", x, residual),
        lambda x: BinaryOp("mul", x, bias),
        lambda x: ReduceOp("max", x, axes=[1], keepdims=True),
        lambda x: BroadcastOp(x, axes=[0, 1], shape=_SHAPE),
        lambda x: BinaryOp("sub", residual, x),
        lambda x: UnaryOp("exp", x),
    )
    length -= length % len(period)  # so that the function ends on a full tensor
    for number in range(length):
        step = number % len(period)
        operation = period[step](value)
        block.add_op(operation)
        value = operation.results[0]
        if step == 3 or step == len(period) - 1:
            residual = value
    block.add_op(func.ReturnOp(value))
    return ModuleOp([func.FuncOp("chain", ((tensor, tensor), (tensor,)), Region(block))])


def measure(length: int, stages: tuple[str, ...]) -> dict[str, float]:
    """The seconds that building a chain and each stage take."""
    from cuvil.pass_manager import PassManager

    seconds: dict[str, float] = {}
    start = time.perf_counter()
    module = chain(length)
    seconds["build"] = time.perf_counter() - start
    for stage in stages:
        manager = PassManager(stage)
        start = time.perf_counter()
        manager.run(module)
        seconds[stage] = time.perf_counter() - start
    return seconds


def growth(shorter: tuple[int, float], longer: tuple[int, float]) -> float:
    """The exponent p of seconds = length ** p between two measurements."""
    return math.log(longer[1] / shorter[1]) / math.log(longer[0] / shorter[0])


def table(results: dict[int, dict[str, float]]) -> Table:
    """One row a stage, one column a length."""
    lengths = sorted(results)
    shown = Table(title="Compile time of a chain of operations, seconds", title_justify="left")
    shown.add_column("stage")
    for length in lengths:
        shown.add_column(f"{length:,}", justify="right")
    shown.add_column("us an op", justify="right")
    shown.add_column("growth", justify="right")
    for stage in results[lengths[0]]:
        seconds = [results[length][stage] for length in lengths]
        exponents = [
            growth((lengths[i], seconds[i]), (lengths[i + 1], seconds[i + 1])) for i in range(len(lengths) - 1)
        ]
        shown.add_row(
            stage,
            *(f"{taken:.3f}" for taken in seconds),
            f"{seconds[-1] / lengths[-1] * 1e6:.0f}",
            " ".join(f"{exponent:.2f}" for exponent in exponents),
        )
    return shown


def main(argv: list[str] | None = None) -> int:
    """Entry point; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.compile_scaling",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("lengths", nargs="*", type=int, metavar="LENGTH", help="numbers of operations")
    parser.add_argument("--stages", nargs="+", default=STAGES, help="pipelines to time, in turn")
    parser.add_argument(
        "--json", default=str(RESULTS / "compile_scaling.json"), help="where the numbers go (-: stdout)"
    )
    arguments = parser.parse_args(argv)
    lengths: list[int] = sorted(arguments.lengths or LENGTHS)
    if lengths[0] < 8:
        parser.error("a chain has at least 8 operations")

    results = {length: measure(length, tuple(arguments.stages)) for length in lengths}
    rows = [{"operations": length, "seconds": seconds} for length, seconds in results.items()]
    if arguments.json == "-":
        sys.stdout.write(as_json(rows))
        return 0
    write_json(Path(arguments.json), rows)
    console().print(table(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
