"""Kernels on a real GPU: the programs of the simulator's tests, launched through pycuda.

    make test-gpu

The host program stays in the reference interpreter; each `cuvil_gpu.launch` uploads its buffers, runs the kernel's PTX
on the device, and downloads them again, with outputs poisoned before. Results are compared as native code's are. The
exit status is 1 if any differs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.builtin import MemRefType, ModuleOp

from cuvil.codegen.ptx_text import module_to_text
from cuvil.dialects.gpu import KernelOp, LaunchOp
from cuvil.pass_manager import PassManager
from cuvil.semantics import interpreter, meanings_gpu
from cuvil.semantics.arrays import Array
from cuvil.semantics.execution import execute
from cuvil.semantics.interpreter import Frame
from cuvil.targets.cuda import CudaTarget
from tests.native_ops import ELEMENTS, FLOATS, INTEGERS, NativeOps
from tests.test_gpu_simulation import PIPELINE


class Device:
    """The first GPU, on its primary context, with the kernels loaded so far."""

    def __init__(self) -> None:
        import pycuda.driver as driver  # pyright: ignore[reportMissingImports]: of the gpu extra

        driver.init()
        self.driver: Any = driver
        self.device = driver.Device(0)
        self.context = self.device.retain_primary_context()
        major, minor = self.device.compute_capability()
        self.target = CudaTarget.named(f"sm_{major}{minor}{'a' if major == 9 else ''}")
        self.functions: dict[KernelOp, Any] = {}
        self.launches = 0

    def function(self, kernel: KernelOp) -> Any:
        """A kernel's code, compiled and loaded when first asked for."""
        if kernel not in self.functions:
            module = ModuleOp([kernel.clone()])
            PassManager("lower-math,lower-gpu-to-nvvm").run(module)
            ptx = module_to_text(module, self.target)
            loaded = self.driver.module_from_buffer(ptx.encode() + b"\0")
            self.functions[kernel] = (loaded, loaded.get_function(kernel.sym_name.data))
        return self.functions[kernel][1]

    def launch(self, frame: Frame, op: LaunchOp, operands: Sequence[Any]) -> Sequence[Any]:
        """What `cuvil_gpu.launch` means here: the kernel runs on the device, on copies of the buffers."""
        kernel = frame.interpreter.symbol(op.kernel.string_value())
        assert isinstance(kernel, KernelOp)
        x, y, z, *arguments = operands
        self.context.push()
        try:
            function = self.function(kernel)
            copies: dict[int, tuple[Array, Any]] = {}
            taken: list[Any] = []
            for argument, formal in zip(arguments, kernel.body.blocks[0].args, strict=True):
                if not isinstance(formal.type, MemRefType):
                    taken.append(np.int64(argument))
                    continue
                address = argument.__array_interface__["data"][0]
                if address not in copies:
                    copies[address] = (argument, self.driver.mem_alloc(max(argument.nbytes, 16)))
                    if argument.nbytes:
                        self.driver.memcpy_htod(copies[address][1], np.ascontiguousarray(argument))
                taken.append(copies[address][1])
            self.run(function, taken, kernel.block_shape, (int(x), int(y), int(z)))
            for array, memory in copies.values():
                if array.nbytes:
                    back = np.empty_like(array)
                    self.driver.memcpy_dtoh(back, memory)
                    array[...] = back
        finally:
            self.context.pop()
        return ()

    def run(self, function: Any, arguments: Sequence[Any], block: tuple[int, ...], grid: tuple[int, int, int]) -> None:
        """Run a kernel on what is on the device, to its end."""
        function(*arguments, block=block, grid=grid)
        self.context.synchronize()
        self.launches += 1

    def describe(self) -> dict[str, Any]:
        """Card and driver, for results."""
        version = self.driver.get_driver_version()
        return {
            "card": self.device.name(),
            "cuda": f"{version // 1000}.{version % 1000 // 10}",
            "arch": self.target.arch,
        }


def run_cases(device: Device) -> dict[str, str]:
    """Every program for every element type: "passed", or what went wrong."""
    from tests import test_native_ops as programs

    def on_device(self: NativeOps, module: ModuleOp, parameters: dict[str, Array], threads: int | None) -> list[Array]:
        lowered = module.clone()
        PassManager(PIPELINE).run(lowered)
        return execute(lowered, "main", self.inputs, parameters)

    meanings_gpu.MEANINGS["cuvil_gpu.launch"] = device.launch
    interpreter.meanings.cache_clear()
    NativeOps.compute = on_device
    cases = [
        *((programs.test_scalar_functions, name) for name in ELEMENTS),
        *((programs.test_casts_to_every_type, name) for name in ELEMENTS),
        *((programs.test_broadcast_reshape_and_transpose, name) for name in programs.MOVED),
        *((programs.test_slice_concat_pad_and_reverse, name) for name in programs.MOVED),
        *((programs.test_gather_scatter_and_iota, name) for name in programs.MOVED),
        *((programs.test_reductions, name) for name in ELEMENTS),
        *((programs.test_orders, name) for name in ELEMENTS),
        *((programs.test_scans, name) for name in [*FLOATS, *INTEGERS]),
        *((programs.test_contractions, name) for name in programs.PRODUCTS),
        *((programs.test_convolutions, name) for name in programs.PRODUCTS),
        *((programs.test_pools, name) for name in [*FLOATS, *INTEGERS]),
        *((programs.test_attention, name) for name in FLOATS),
    ]
    found: dict[str, str] = {}
    for program, name in cases:
        label = f"{program.__name__[5:]} {name}"
        try:
            program(name)
            found[label] = "passed"
        except Exception as error:  # what one program meets must not hide the others
            found[label] = f"{type(error).__name__}: {str(error)[:1000]}"
        print(f"{label}: {found[label][:300]}", flush=True)
    return found


def main() -> int:
    """Run all programs; the exit status is 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="where to write the results")
    parser.add_argument("--commit", default="", help="the commit that is tested (default: git's)")
    options = parser.parse_args()
    device = Device()
    found = run_cases(device)
    passed = sum(result == "passed" for result in found.values())
    print(f"{passed} of {len(found)} programs passed, {device.launches} launches, {len(device.functions)} kernels")
    if options.json:
        commit = (
            options.commit
            or subprocess.run(
                ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
            ).stdout.strip()
        )
        facts = {**device.describe(), "commit": commit, "launches": device.launches, "kernels": len(device.functions)}
        options.json.write_text(json.dumps({**facts, "programs": found}, indent=1) + "\n", encoding="utf-8")
    return 0 if passed == len(found) else 1


if __name__ == "__main__":
    sys.exit(main())
