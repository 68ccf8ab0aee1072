"""PTX: every special register exists; ptxas, where there is one, assembles what each lit test emits, without spills."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Region

from cuvil.codegen.nvvm_text import NVVM_ROWS
from cuvil.codegen.ptx_text import module_to_text
from cuvil.dialects.nvvm import NVVM
from cuvil.dialects.nvvm_threads import SPECIAL_REGISTERS
from cuvil.ir_text import parse_module
from cuvil.pipeline import Pipeline
from cuvil.targets.cuda import CudaTarget
from cuvil.universe import make_context

LIT = Path(__file__).parent.parent / "lit_tests"
_RUN = re.compile(r"// RUN: cuvil-opt (\S+) (?:-p (\S+) )?-t '?ptx(?:\{arch=(\w+)\})?'? \| filecheck")
_PTXAS = shutil.which("ptxas")


def emitting_tests() -> list[tuple[Path, str, str]]:
    """The input, the pipeline and the architecture of every lit test that emits PTX."""
    found: list[tuple[Path, str, str]] = []
    for path in sorted(LIT.rglob("*.mlir")):
        for name, pipeline, arch in _RUN.findall(path.read_text(encoding="utf-8")):
            source = Path(name.replace("%s", str(path)).replace("%S", str(path.parent)))
            found.append((source.resolve(), pipeline, arch or "sm_90a"))
    return found


def assemble(ptx: str, arch: str, folder: Path) -> str:
    """What ptxas says of `ptx`. Fails the test where it refuses it."""
    assert _PTXAS is not None
    source = folder / "kernel.ptx"
    source.write_text(ptx, encoding="utf-8")
    command = [_PTXAS, "-v", f"-arch={arch}", str(source), "-o", str(folder / "kernel.cubin")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr + ptx
    return done.stderr


def test_every_operation_has_text() -> None:
    assert {op.name for op in NVVM.operations} == {op.name for op in NVVM_ROWS}


def test_every_special_register_exists() -> None:
    reads = [register() for register in SPECIAL_REGISTERS.values()]
    body = Region(Block([*reads, llvm.ReturnOp()]))
    function = llvm.FuncOp("reads", llvm.LLVMFunctionType([]), linkage=llvm.LinkageAttr("external"), body=body)
    assert "ret;" in module_to_text(ModuleOp([function]), CudaTarget.named("sm_90a"))


def test_there_are_tests_that_emit() -> None:
    assert len(emitting_tests()) >= 7


@pytest.mark.skipif(_PTXAS is None, reason="there is no ptxas on the PATH")
@pytest.mark.parametrize(
    ("path", "pipeline", "arch"), emitting_tests(), ids=lambda value: getattr(value, "stem", value)
)
def test_ptxas_assembles_without_spills(path: Path, pipeline: str, arch: str, tmp_path: Path) -> None:
    context = make_context()
    module = parse_module(context, path.read_text(encoding="utf-8"), str(path))
    for step in Pipeline.of(pipeline).passes():
        step.apply(context, module)
    said = assemble(module_to_text(module, CudaTarget.named(arch)), arch, tmp_path)
    assert all(int(size) == 0 for size in re.findall(r"(\d+) bytes spill", said)), said
