"""Finding the OpenMP runtime, with torch and without, and counting threads."""

from __future__ import annotations

import subprocess
import sys

import pytest

from cuvil.runtime import threads

RUN_PARALLEL = """
import numpy as np
from xdsl.dialects.builtin import MemRefType, ModuleOp, i32
from cuvil.codegen.jit import compile_module
from cuvil.runtime import threads
from tests.test_jit import kernel
{setup}
def build(b, out):
    with b.parallel(64) as i:
        b.store(b.cast_index(i, i32), out, i)
native = compile_module(ModuleOp([kernel("k", [MemRefType(i32, [64])], build)]))
native.set_threads(2)
out = np.zeros(64, np.int32)
native.function("k")(out)
assert out.tolist() == list(range(64))
print(threads.openmp().library, threads.thread_count())
"""


def python(setup: str) -> str:
    """What a fresh process prints that sets itself up with `setup`, then runs a parallel loop."""
    command = [sys.executable, "-c", RUN_PARALLEL.format(setup=setup)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_torch_shares_its_runtime_and_its_number_of_threads() -> None:
    pytest.importorskip("torch")
    library, count = python("import torch; torch.set_num_threads(3)").split()
    assert "torch" in library
    assert count == "3"


def test_without_torch_the_system_runtime_or_none() -> None:
    printed = python("import sys; assert 'torch' not in sys.modules")
    assert "torch" not in printed


def test_without_any_runtime_loops_run_on_the_calling_thread() -> None:
    printed = python("threads._loaded = threads._serial()")
    assert printed.startswith(" ")


def test_thread_count_is_positive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert threads.thread_count() >= 1
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert threads.thread_count() == 3
