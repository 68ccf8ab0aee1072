"""Random programs that change tensors: exported, and read from source, against eager PyTorch."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import HealthCheck, given, settings
from torch import nn

import cuvil
from tests.mutation_property import RandomProgram, programs, run_steps
from tests.mutation_table import compare_call

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


@SETTINGS
@given(programs())
def test_source(program: RandomProgram) -> None:
    compiled = cuvil.compile(run_steps, target="interpreter")  # pyright: ignore
    compare_with_eager(program, lambda x, y: compiled(program.steps, program.results, x, y))
