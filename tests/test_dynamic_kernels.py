"""Kernels of symbolic shapes, compiled once and run at many sizes, against the reference interpreter."""

from __future__ import annotations

import re
from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from xdsl.dialects.builtin import ModuleOp

from cuvil.dialects.tensor import shape_of, symbols_of
from cuvil.errors import UserError
from cuvil.semantics.comparison import compare
from cuvil.semantics.dims import symbols_in
from cuvil.semantics.interpreter import InterpretationError, Interpreter
from cuvil.semantics.native_execution import NativeProgram
from cuvil.semantics.random_inputs import make_inputs
from tests.dynamic_programs import PROGRAMS, SIZES, DynamicProgram
from tests.native_ops import BOUNDS
from tests.random_dynamic_program import dynamic_programs

_ELEMENT = re.compile(r"x(f16|bf16)\b")


def _symbols(module: ModuleOp) -> list[str]:
    (function,) = module.ops
    return sorted(symbols_in(dim for each in function.function_type.inputs for dim in shape_of(each)))  # pyright: ignore


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_one_compilation_serves_all_sizes(program: DynamicProgram) -> None:
    module = program.module()
    native, interpreter = NativeProgram(module, "main", {}), Interpreter(module)
    names = _symbols(module)
    halves = _ELEMENT.search(program.text)
    bound = BOUNDS[halves[1] if halves else "f32"]
    for values in product(*(program.sizes.get(name, SIZES) for name in names)):
        sizes = dict(zip(names, values, strict=True))
        inputs = make_inputs(module, "main", seed=sum(values), sizes=sizes)
        for result, wanted in zip(native(inputs), interpreter.run("main", inputs), strict=True):
            assert result.shape == np.shape(wanted), sizes
            assert np.size(wanted) == 0 or compare(result, np.asarray(wanted)).within(bound), sizes


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(dynamic_programs())
def test_random_programs_are_right_at_many_sizes(module: ModuleOp) -> None:
    check_random_program(module)


def check_random_program(module: ModuleOp) -> None:
    """Compile once, then compare with the interpreter at the sizes that the program's ranges allow."""
    native, interpreter = NativeProgram(module, "main", {}), Interpreter(module)
    (function,) = module.ops
    least = min((known.minimum for known in symbols_of(function).values()), default=0)
    for s0, s1 in ((1, 1), (2, 3), (1, 16), (16, 1), (17, 15), (40, 33), (0, 5), (3, 0)):
        if min(s0, s1) < least:
            continue
        inputs = make_inputs(module, "main", seed=s0 + s1, sizes={"s0": s0, "s1": s1})
        try:
            wanted = interpreter.run("main", inputs)
        except InterpretationError:
            assert 0 in (s0, s1), "only an extreme of no elements is none"
            continue
        for result, reference in zip(native(inputs), map(np.asarray, wanted), strict=True):
            assert result.shape == reference.shape, (s0, s1, str(module))
            difference = compare(result, reference)
            # Differences of almost equal numbers have no relative bound.
            assert difference.within(1e-5) or difference.max_error < 1e-4, (s0, s1, difference, str(module))


def test_sizes_outside_of_the_range_are_refused() -> None:
    program = next(program for program in PROGRAMS if program.name == "multiples")
    native = NativeProgram(program.module(), "main", {})
    with pytest.raises(UserError, match=r"symbol s1 is 24, outside of its range 16\.\., multiples of 16"):
        native([np.zeros((2, 24), np.float32)])
