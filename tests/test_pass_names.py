"""Passes are discovered by their names: file, class, `name` and lit folder of each agree, and none is upstream's."""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest
from xdsl.passes import ModulePass
from xdsl.universe import XDSL_UNIVERSE, Universe

from cuvil import universe

ROOT = Path(__file__).resolve().parent.parent
FILES = sorted(path for path in (ROOT / "passes").glob("*.py") if not path.name.startswith("_"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_file_class_and_name_agree(path: Path):
    name = path.stem.replace("_", "-")
    pass_class = universe.find_pass(name)
    assert pass_class is not None
    assert issubclass(pass_class, ModulePass)
    assert pass_class.name == name
    assert pass_class.__name__.lower() == path.stem.replace("_", "") + "pass"
    assert is_dataclass(pass_class)
    assert pass_class.__dataclass_params__.frozen  # pyright: ignore[reportAttributeAccessIssue]
    assert len({field.name for field in fields(pass_class)}) == len(fields(pass_class))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_docstring_says_what_the_pass_does(path: Path):
    document = ast.get_docstring(ast.parse(path.read_text())) or ""
    assert document.splitlines()[0].endswith(".")
    assert universe.pass_summary(path.stem.replace("_", "-")) == document.splitlines()[0]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_pass_has_lit_tests(path: Path):
    folder = ROOT / "lit_tests" / "passes" / path.stem.replace("_", "-")
    assert sorted(folder.glob("*.mlir")), f"{folder.relative_to(ROOT)} has no tests"


def test_every_lit_folder_has_its_pass():
    folder = ROOT / "lit_tests" / "passes"
    names = {path.name for path in folder.iterdir() if path.is_dir()} if folder.exists() else set[str]()
    assert names <= set(universe.pass_names())


def test_no_name_is_upstreams():
    ours = universe.CUVIL_UNIVERSE
    assert not set(ours.all_passes) & set(XDSL_UNIVERSE.all_passes)
    assert not set(ours.all_dialects) & set(XDSL_UNIVERSE.all_dialects)
    assert not set(ours.all_targets) & set(XDSL_UNIVERSE.all_targets)


def test_every_dialect_loads():
    context = universe.make_context()
    for name in universe.CUVIL_UNIVERSE.all_dialects:
        assert context.get_dialect(name).name == name


def test_xdsl_opt_loads_the_plugin():
    merged = Universe.get_multiverse()
    assert set(universe.CUVIL_UNIVERSE.all_passes) <= set(merged.all_passes)
    command = [sys.executable, "-m", "xdsl.tools.xdsl_opt", "-p", "lower-math"]
    result = subprocess.run(command, input="func.func private @f()", capture_output=True, text=True, check=False)
    assert "func.func private @f()" in result.stdout, result.stderr
