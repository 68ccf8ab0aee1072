"""Memory-bound kernels on the GPU against the rate of a device-to-device copy in the same run.

    python -m benchmarks.gpu_kernels --json benchmarks/results/gpu_bandwidth.json

Each program is lowered to one kernel and launched through pycuda on buffers that stay on the device; a time is the
median of CUDA events around single launches. Bytes are those that the kernel must move: every input read once, every
output written once. The host program stays in the reference interpreter, which is not timed.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cuvil.ir_text import parse_module
from cuvil.pass_manager import PassManager
from cuvil.semantics import interpreter, meanings_gpu
from cuvil.semantics.execution import execute
from cuvil.universe import make_context
from tests.gpu_device import Device
from tests.test_gpu_simulation import PIPELINE

_RUNS = 30
_ROWS, _COLUMNS = 65536, 1024
_TYPE = f"tensor<{_ROWS}x{_COLUMNS}xf32>"

PROGRAMS = {
    "add": f"""
func.func @main(%x: {_TYPE}, %y: {_TYPE}) -> {_TYPE} {{
  %0 = cuvil_tensor.binary add %x, %y : {_TYPE}
  func.return %0 : {_TYPE}
}}""",
    "gelu": f"""
func.func @main(%x: {_TYPE}) -> {_TYPE} {{
  %0 = cuvil_tensor.gelu %x approximate = erf : {_TYPE} -> {_TYPE}
  func.return %0 : {_TYPE}
}}""",
    "bias": f"""
func.func @main(%x: {_TYPE}, %y: tensor<{_COLUMNS}xf32>) -> {_TYPE} {{
  %0 = cuvil_tensor.broadcast %y axes = [1] : tensor<{_COLUMNS}xf32> -> {_TYPE}
  %1 = cuvil_tensor.binary add %x, %0 : {_TYPE}
  func.return %1 : {_TYPE}
}}""",
    "softmax": f"""
func.func @main(%x: {_TYPE}) -> {_TYPE} {{
  %0 = cuvil_tensor.softmax %x axis = 1 : {_TYPE} -> {_TYPE}
  func.return %0 : {_TYPE}
}}""",
    "layer_norm": f"""
func.func @main(%x: {_TYPE}) -> {_TYPE} {{
  %0 = cuvil_tensor.layer_norm %x axes = [1] eps = 1.0e-05 : {_TYPE} -> {_TYPE}
  func.return %0 : {_TYPE}
}}""",
    "row_sum": f"""
func.func @main(%x: {_TYPE}) -> tensor<{_ROWS}xf32> {{
  %0 = cuvil_tensor.reduce add %x axes = [1] : {_TYPE} -> tensor<{_ROWS}xf32>
  func.return %0 : tensor<{_ROWS}xf32>
}}""",
    "transpose": f"""
func.func @main(%x: {_TYPE}) -> tensor<{_COLUMNS}x{_ROWS}xf32> {{
  %0 = cuvil_tensor.transpose %x input_order = [1, 0] : {_TYPE} -> tensor<{_COLUMNS}x{_ROWS}xf32>
  func.return %0 : tensor<{_COLUMNS}x{_ROWS}xf32>
}}""",
}


class Timing(Device):
    """A device whose launches are timed."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds: list[float] = []

    def run(self, function: Any, arguments: Sequence[Any], block: tuple[int, ...], grid: tuple[int, int, int]) -> None:
        """Run a kernel many times; the median goes to `seconds`."""
        self.seconds.append(self.median(lambda: function(*arguments, block=block, grid=grid)))

    def median(self, launch: Any) -> float:
        """The median time of a launch in seconds, after a few that are not counted."""
        times: list[float] = []
        for number in range(_RUNS + 5):
            begin, end = self.driver.Event(), self.driver.Event()
            begin.record()
            launch()
            end.record()
            end.synchronize()
            if number >= 5:
                times.append(end.time_since(begin) / 1e3)
        return statistics.median(times)

    def copy_rate(self, size_bytes: int) -> float:
        """Bytes per second, read and written, of a copy within the device."""
        self.context.push()
        try:
            source, target = (self.driver.mem_alloc(size_bytes) for _ in range(2))
            return 2 * size_bytes / self.median(lambda: self.driver.memcpy_dtod_async(target, source, size_bytes))
        finally:
            self.context.pop()


def measure(device: Timing, text: str) -> tuple[float, int, int]:
    """Seconds in kernels, bytes that must be moved, and how many kernels there are."""
    module = parse_module(make_context(), text, "program")
    function = next(op for op in module.ops if op.name == "func.func")
    types = [*function.function_type.inputs, *function.function_type.outputs]  # pyright: ignore
    random = np.random.default_rng(0)
    shapes = [each.get_shape() for each in types]
    count = len(function.function_type.inputs)  # pyright: ignore
    inputs = [random.standard_normal(shape, np.float32) for shape in shapes[:count]]
    PassManager(PIPELINE).run(module)
    device.seconds.clear()
    execute(module, "main", inputs)
    moved = sum(4 * int(np.prod(shape)) for shape in shapes)
    return sum(device.seconds), moved, len(device.seconds)


def main() -> None:
    """Measure every program; a table, and JSON if asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="where to write the results")
    parser.add_argument("--commit", default="", help="the commit that is measured")
    options = parser.parse_args()
    device = Timing()
    meanings_gpu.MEANINGS["cuvil_gpu.launch"] = device.launch
    interpreter.meanings.cache_clear()
    peak = device.copy_rate(4 * _ROWS * _COLUMNS)
    print(f"copy: {peak / 1e12:.2f} TB/s")
    rows: dict[str, Any] = {}
    for name, text in PROGRAMS.items():
        seconds, moved, kernels = measure(device, text)
        rows[name] = {"ms": 1e3 * seconds, "bytes": moved, "kernels": kernels, "ratio": moved / seconds / peak}
        print(
            f"{name:12} {1e3 * seconds:8.3f} ms {moved / seconds / 1e12:6.2f} TB/s {rows[name]['ratio']:5.2f} of a copy"
        )
    if options.json:
        facts = {**device.describe(), "commit": options.commit, "copy_tb_s": peak / 1e12, "kernels": rows}
        options.json.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
