"""The wheel holds the whole package: the linked folders as real files, the type marker, the licence."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("cuvil", "dialects", "passes", "tools", "pyproject.toml", "README.md", "LICENSE")


@pytest.fixture(scope="module")
def wheel_names(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The names in a wheel built from a copy of the sources, so that nothing is left in the checkout."""
    tree = tmp_path_factory.mktemp("sources")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tree / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, tree / name)
    build = "from setuptools.build_meta import build_wheel; print(build_wheel('out'))"
    (tree / "out").mkdir()
    done = subprocess.run([sys.executable, "-c", build], cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = (tree / "out").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_wheel_holds_every_module(wheel_names: set[str]) -> None:
    modules = {str(path.relative_to(ROOT)) for path in (ROOT / "cuvil").rglob("*.py")}
    for linked in ("dialects", "passes", "tools"):
        modules |= {f"cuvil/{path.relative_to(ROOT)}" for path in (ROOT / linked).rglob("*.py")}
    assert modules <= wheel_names


def test_wheel_holds_the_package_alone(wheel_names: set[str]) -> None:
    assert {name.split("/")[0] for name in wheel_names if ".dist-info/" not in name} == {"cuvil"}


def test_wheel_holds_type_marker_licence_and_entry_points(wheel_names: set[str]) -> None:
    assert "cuvil/py.typed" in wheel_names
    assert any(name.endswith("licenses/LICENSE") for name in wheel_names)
    assert any(name.endswith("entry_points.txt") for name in wheel_names)
