"""Models of the zoo as text: what `python -m benchmarks.export_text` writes goes down the whole pipeline."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def run(*arguments: str) -> str:
    tools = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ.get('PATH', '')}"}
    done = subprocess.run(arguments, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", ["resnet50", "bert_base"])
def test_exported_text_is_validated_down_to_llvm(name: str, tmp_path: Path) -> None:
    text, values = str(tmp_path / "model.mlir"), str(tmp_path / "values.npz")
    run(sys.executable, "-m", "benchmarks.export_text", name, "--tiny", "-o", text, "--parameters", values)
    lowered = run("cuvil-opt", text, "-p", "cpu", "--validate", "--verify-roundtrip")
    assert "llvm.func @cuvil_entry" in lowered
    given = ("--random", "--parameters", values)
    compared = run("cuvil-run", text, *given, "--pipeline", "cpu", "--compare", "--no-print")
    assert "agrees" in compared
