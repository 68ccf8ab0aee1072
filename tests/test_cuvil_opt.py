"""cuvil-opt as a program: what it imports, how it ends, and how the whole suite of .mlir tests fares."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cuvil.tools.cuvil_opt import main
from cuvil.tools.opt_arguments import OptParser, UsageError

ROOT = Path(__file__).resolve().parent.parent
MODULE = "builtin.module {\n}\n"


def run(*arguments: str, text: str = MODULE, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the tool in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "cuvil.tools.cuvil_opt", *arguments],
        input=text, capture_output=True, text=True, check=False, cwd=ROOT, env={**os.environ, **environment},
    )  # fmt: skip


def test_an_empty_module_needs_no_numeric_library():
    program = (
        "import sys; from cuvil.tools.cuvil_opt import main; status = main(['-']); "
        "heavy = {'torch', 'numpy', 'llvmlite', 'sympy'} & set(sys.modules); "
        "sys.exit(f'imported {heavy}' if heavy else status)"
    )
    result = subprocess.run([sys.executable, "-c", program], input=MODULE, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (0, MODULE, "")


@pytest.mark.parametrize(
    ("arguments", "text", "status"),
    [
        ([], MODULE, 0),
        (["-p", "cse"], MODULE, 0),
        (["-p", "csee"], MODULE, 1),
        (["--nothing"], MODULE, 1),
        (["no/such/file.mlir"], MODULE, 1),
        ([], "func.nothing", 1),
        ([], "func.func @f() -> i32 {\n  func.return\n}", 1),
        (["-t", "nothing"], MODULE, 1),
        (["-o", "no/such/folder/file"], MODULE, 1),
        (["--validate=x"], MODULE, 1),
        (["--help"], MODULE, 0),
    ],
)
def test_exit_status(arguments: list[str], text: str, status: int):
    result = run(*arguments, text=text)
    assert result.returncode == status
    assert "Traceback" not in result.stderr
    assert bool(result.stdout) == (status == 0)
    assert "error: " in result.stderr or status == 0


def test_deeply_nested_regions_are_no_problem():
    depth = 200
    text = "func.func @f(%c: i1) {\n" + "scf.if %c {\n" * depth + "}\n" * depth + "func.return\n}"
    result = run("-p", "canonicalize", text=text)
    assert result.returncode == 0, result.stderr[-500:]


def test_absurdly_nested_types_are_an_error_without_a_traceback():
    text = '"builtin.unregistered"() {a = ' + "[" * 100_000 + "} : () -> ()"
    result = run("--allow-unregistered-dialect", text=text)
    assert result.returncode == 1
    assert "error: " in result.stderr
    assert "Traceback" not in result.stderr


def test_a_closed_pipe_is_no_error_message():
    functions = "".join(f"func.func private @function_with_a_long_name_{i}()\n" for i in range(20_000))
    command = f"{sys.executable} -m cuvil.tools.cuvil_opt | head -1"
    result = subprocess.run(
        ["bash", "-c", command], input=functions, capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert result.stderr == ""


def test_main_may_be_called(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    source, result = tmp_path / "in.mlir", tmp_path / "out.mlir"
    source.write_text("func.func private @f()")
    assert main([str(source), "--cse", "-o", str(result)]) == 0
    assert "func.func private @f()" in result.read_text()
    assert main([str(tmp_path / "none.mlir")]) == 1
    assert "cannot open" in capsys.readouterr().err


def test_arguments_are_read_as_mlir_users_write_them():
    parse = OptParser().parse
    assert parse(["--cse", "f.mlir", "-dce", "--canonicalize=max-iterations=2"]).passes == [
        "cse", "dce", "canonicalize{max-iterations=2}",
    ]  # fmt: skip
    assert parse(["-verify-each=0", "f"]).verify_each is False
    assert parse(["--validate", "f"]).validate == 0
    assert parse(["--validate=7", "f"]).validate == 7
    assert parse(["--verify-diagnostics", "f"]).verify_diagnostics == "all"
    assert parse(["-o", "out", "f"]).output_file == "out"
    with pytest.raises(UsageError, match="did you mean '--cse'"):
        parse(["--csee"])
