"""Every core op of `cuvil_tensor` as GPU kernels, run in the simulator and compared with the reference interpreter.

The programs are those of `test_native_ops`, odd sizes and special values included; the simulator fails on races, wrong
accesses and missing barriers too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp

from cuvil.pass_manager import PassManager
from cuvil.semantics.arrays import Array
from cuvil.semantics.execution import execute
from tests import test_native_ops as programs
from tests.native_ops import NativeOps

PIPELINE = "decompose,generalize,infer-shapes,canonicalize,cse,dce,fuse,bufferize,plan-memory,lower-fused-to-gpu"


def simulated(ops: NativeOps, module: ModuleOp, parameters: dict[str, Array], threads: int | None) -> list[Array]:
    """The results of the GPU's kernels in the simulator."""
    lowered = module.clone()
    PassManager(PIPELINE).run(lowered)
    lowered.verify()
    return execute(lowered, "main", ops.inputs, parameters)


SOME = ("f32", "bf16", "i64", "i1")
"""Element types that between them have every kind of code; the slow programs run for f32 alone."""

CASES: list[tuple[Callable[..., None], tuple[Any, ...]]] = [
    *((programs.test_scalar_functions, (name,)) for name in SOME),
    *((programs.test_casts_to_every_type, (name,)) for name in SOME),
    *((programs.test_broadcast_reshape_and_transpose, (name,)) for name in SOME if name in programs.MOVED),
    *((programs.test_slice_concat_pad_and_reverse, (name,)) for name in SOME if name in programs.MOVED),
    *((programs.test_reductions, (name,)) for name in SOME),
    *((programs.test_contractions, (name,)) for name in SOME if name in programs.PRODUCTS),
    (programs.test_contractions_of_views, ()),
    *((program, ("f32",)) for program in (programs.test_orders, programs.test_scans, programs.test_convolutions)),
    *((program, ("f32",)) for program in (programs.test_gather_scatter_and_iota, programs.test_pools)),
    (programs.test_attention, ("f32",)),
]


@pytest.mark.parametrize(
    ("program", "arguments"), CASES, ids=[f"{test.__name__[5:]}-{'-'.join(args)}" for test, args in CASES]
)
def test_gpu_kernels(program: Callable[..., None], arguments: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(NativeOps, "compute", simulated)
    program(*arguments)
