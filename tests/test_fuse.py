"""Fusion keeps what programs compute: random programs before and after it, and natively through the whole pipeline."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from xdsl.dialects.builtin import ModuleOp

from cuvil.dialects.fused import KernelOp
from cuvil.instrument.verify import verify_module
from cuvil.ir_text import print_op
from cuvil.pass_manager import PassManager
from cuvil.semantics.comparison import compare
from cuvil.semantics.interpreter import run_function
from cuvil.semantics.native_execution import run_natively
from cuvil.semantics.random_inputs import make_inputs, make_parameters
from tests.random_tensor_program import MAIN, tensor_programs

TO_KERNELS = "fold-batch-norm,normalize,rewrite-layout,hoist-parameters,fuse"

many = settings(
    max_examples=200,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


CANCELLED = 1e-5
"""What is left of a sum of values of unit size that cancel is their roundings: no relative error can be asked of it."""


class Program:
    """A module whose `repr` is its text: hypothesis shows that of a failing example, not the whole graph of objects."""

    def __init__(self, module: ModuleOp) -> None:
        self.module = module

    def __repr__(self) -> str:
        return print_op(self.module)


def agree(results: list[np.ndarray], references: list[np.ndarray], tolerance: float) -> None:
    assert len(results) == len(references)
    for result, reference in zip(results, references, strict=True):
        difference = compare(result, reference)
        assert difference.within(tolerance) or difference.max_error <= CANCELLED, difference


def check(module: ModuleOp, tolerance: float = 2e-5) -> None:
    """The module gives the same as kernels of the interpreter, and as native code."""
    verify_module(module)
    inputs, parameters = make_inputs(module, MAIN), make_parameters(module)
    expected = run_function(module, MAIN, inputs, parameters)
    fused = module.clone()
    PassManager(TO_KERNELS).run(fused)
    verify_module(fused)
    agree(run_function(fused, MAIN, inputs, parameters), expected, 1e-6)
    assert not any(op.name in UNFUSED for op in fused.walk() if not _is_inside(op))
    agree(run_natively(module, MAIN, inputs, parameters), expected, tolerance)


UNFUSED = ("cuvil_tensor.unary", "cuvil_tensor.binary", "cuvil_tensor.reduce", "cuvil_tensor.contract")


def _is_inside(op: object) -> bool:
    """Whether an op is inside a kernel or a global's initializer."""
    parent = op.parent_op()  # pyright: ignore
    while parent is not None:
        if isinstance(parent, KernelOp) or parent.name == "cuvil_tensor.global":
            return True
        parent = parent.parent_op()
    return False


@many
@given(tensor_programs().map(Program))
def test_random_programs_compute_the_same(program: Program):
    check(program.module)
