"""Compiled programs: called on addresses and arrays, refusing what does not fit, overlapping, their overhead."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from xdsl.parser import Parser

from cuvil.codegen.jit import compile_objects, load_executable
from cuvil.errors import CuvilRuntimeError
from cuvil.passes.lower_loops_to_llvm import lower_module
from cuvil.runtime.program import BufferSpec, Program
from cuvil.targets.cpu import CpuTarget
from cuvil.universe import make_context

ADD_WEIGHT = """
  "memref.global"() <{sym_name = "w", sym_visibility = "private", type = memref<4xf32>, initial_value}> : () -> ()
  func.func private @add(%a: memref<?xf32>, %b: memref<4xf32>, %o: memref<?xf32>, %rows: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    "scf.parallel"(%c0, %rows, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
    ^bb0(%row: index):
      %p = arith.muli %row, %c4 : index
      %x = vector.load %a[%p] : memref<?xf32>, vector<4xf32>
      %y = vector.load %b[%c0] : memref<4xf32>, vector<4xf32>
      %z = arith.addf %x, %y : vector<4xf32>
      vector.store %z, %o[%p] : memref<?xf32>, vector<4xf32>
      scf.reduce
    }) : (index, index, index) -> ()
    func.return
  }
  func.func @main(%x: memref<?xf32>, %rows: index, %y: memref<?xf32>, %arena: memref<?xi8>)
      attributes {cuvil.inputs = 1 : i64} {
    %c0 = arith.constant 0 : index
    %size = arith.constant 4 : index
    %w = memref.get_global @w : memref<4xf32>
    %floats = arith.muli %rows, %size : index
    %t = memref.view %arena[%c0][%floats] : memref<?xi8> to memref<?xf32>
    func.call @add(%x, %w, %t, %rows) : (memref<?xf32>, memref<4xf32>, memref<?xf32>, index) -> ()
    func.call @add(%t, %w, %y, %rows) : (memref<?xf32>, memref<4xf32>, memref<?xf32>, index) -> ()
    func.return
  }
"""


def program(text: str = ADD_WEIGHT, **changes: Any) -> Program:
    """y = (x + w) + w, on any number of rows."""
    module = Parser(make_context(), text).parse_module()
    lower_module(module, CpuTarget.host())
    module.verify()
    arguments: dict[str, Any] = {
        "input_count": 1,
        "output_count": 1,
        "symbol_count": 1,
        "parameters": [np.array([1, 2, 3, 4], np.float32)],
        "arena_bytes": lambda symbols: symbols[0] * 16,
    }
    executable = load_executable(compile_objects(module, CpuTarget.host()), **(arguments | changes))
    specs = [BufferSpec(name, ("rows", 4), "float32") for name in "xy"]
    return Program(executable, (specs[0],), (specs[1],), ("rows",))


def expected(x: np.ndarray) -> np.ndarray:
    return x + np.float32(2) * np.array([1, 2, 3, 4], np.float32)


@pytest.mark.parametrize("rows", [0, 1, 3, 1000])
def test_one_program_serves_every_size(rows: int) -> None:
    x = np.random.default_rng(0).standard_normal((rows, 4)).astype(np.float32)
    (y,) = program()(x)
    np.testing.assert_allclose(y, expected(x), rtol=1e-6)


SIZE_FUNCTION = """
  func.func private @main_arena_bytes(%rows: index) -> index {
    %bytes = arith.constant 16 : index
    %size = arith.muli %rows, %bytes : index
    func.return %size : index
  }
"""


@pytest.mark.parametrize("rows", [0, 1, 3, 1000])
def test_the_arena_s_size_is_compiled_too(rows: int) -> None:
    text = ADD_WEIGHT.replace(
        "{cuvil.inputs = 1 : i64}", "{cuvil.inputs = 1 : i64, cuvil_fused.arena_bytes = @main_arena_bytes}"
    )
    x = np.random.default_rng(0).standard_normal((rows, 4)).astype(np.float32)
    sized = program(text + SIZE_FUNCTION, arena_bytes=None)
    (y,) = sized(x)
    np.testing.assert_allclose(y, expected(x), rtol=1e-6)
    assert sized.executable.take_frame().arena.size == rows * 16


def test_runs_on_addresses() -> None:
    x, y = np.ones((5, 4), np.float32), np.zeros((5, 4), np.float32)
    program().executable.call([x.ctypes.data], [y.ctypes.data], [5])
    np.testing.assert_array_equal(y, expected(x))


def test_given_outputs_are_written() -> None:
    x, y = np.ones((5, 4), np.float32), np.zeros((5, 4), np.float32)
    (result,) = program()(x, outputs=[y])
    assert result is y
    np.testing.assert_array_equal(y, expected(x))


def test_strided_inputs_are_copied() -> None:
    x = np.arange(40, dtype=np.float32).reshape(5, 8)[:, ::2]
    (y,) = program()(x)
    np.testing.assert_array_equal(y, expected(x))


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ([], "expected 1 inputs, got 0"),
        ([np.zeros((2, 4))], "x: expected dtype float32, got float64"),
        ([np.zeros((2, 5), np.float32)], r"x: expected shape \[rows, 4\], got \[2, 5\]"),
        ([np.zeros(4, np.float32)], r"x: expected shape \[rows, 4\], got \[4\]"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(arrays: list[np.ndarray], message: str) -> None:
    with pytest.raises(CuvilRuntimeError, match=message):
        program()(*arrays)


def test_wrong_number_of_addresses_is_refused() -> None:
    with pytest.raises(CuvilRuntimeError, match="expected 1 inputs, 1 outputs and 1 symbols, got 2, 1 and 0"):
        program().executable.call([1, 2], [3])


def test_misaligned_parameters_are_copied() -> None:
    weights = np.frombuffer(np.zeros(17 + 16, np.uint8).tobytes(), np.float32, 4, offset=4).copy()
    memory = np.zeros(24, np.uint8)
    misaligned = memory[3:19].view(np.float32)
    misaligned[:] = weights + 1
    (y,) = program(parameters=[misaligned])(np.zeros((2, 4), np.float32))
    np.testing.assert_array_equal(y, np.full((2, 4), 2))


def test_calls_overlap_on_several_threads() -> None:
    run = program()
    failures: list[str] = []

    def work(seed: int) -> None:
        x = np.full((200, 4), seed, np.float32)
        for _ in range(50):
            (y,) = run(x)
            if not np.array_equal(y, expected(x)):
                failures.append(f"seed {seed}")

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
