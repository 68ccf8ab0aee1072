"""Random programs that change tensors: exported, and read from source, against eager PyTorch."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import HealthCheck, given, settings
from torch import nn

import cuvil
from tests.mutation_programs import compare_call
from tests.mutation_property import RandomProgram, changed, programs, viewed

SETTINGS = settings(
    max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], database=None
)


class Called(nn.Module):
    def __init__(self, program: RandomProgram) -> None:
        super().__init__()
        self.program = program

    def forward(self, x: Any, y: Any) -> Any:
        return self.program(x, y)


def compare_with_eager(program: RandomProgram, compiled: Any) -> None:
    for _ in range(2):
        arguments = program.make()
        expected_arguments = copy.deepcopy(arguments)
        expected = program(*expected_arguments)
        got = compiled(*arguments)
        compare_call(expected, got, expected_arguments, arguments)


@SETTINGS
@given(programs())
def test_exported(program: RandomProgram) -> None:
    compare_with_eager(program, cuvil.compile(Called(program), program.make(), target="interpreter"))


def run_steps(steps: Any, results: Any, x: Any, y: Any) -> Any:
    tensors = [x, y]
    for step in steps:
        one, other = tensors[step.which % len(tensors)], tensors[step.other % len(tensors)]
        if step.kind == "view":
            tensors.append(viewed(one, step.what, step.number))
        elif step.kind == "change":
            changed(one, other, step.what, step.number)
        else:
            tensors.append(one * 2 + step.number)
    return tuple([tensors[place % len(tensors)] for place in results])


@SETTINGS
@given(programs())
def test_source(program: RandomProgram) -> None:
    compiled = cuvil.compile(run_steps, target="interpreter")  # pyright: ignore
    compare_with_eager(program, lambda x, y: compiled(program.steps, program.results, x, y))
