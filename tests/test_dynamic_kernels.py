"""Kernels of symbolic shapes, compiled once and run at many sizes, against the reference interpreter."""

from __future__ import annotations

import re
from itertools import product

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from cuvil.dialects.tensor import shape_of
from cuvil.semantics.comparison import compare
from cuvil.semantics.dims import symbols_in
from cuvil.semantics.interpreter import Interpreter
from cuvil.semantics.native_execution import NativeProgram
from cuvil.semantics.random_inputs import make_inputs
from tests.dynamic_programs import PROGRAMS, SIZES, DynamicProgram
from tests.native_ops import BOUNDS

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
