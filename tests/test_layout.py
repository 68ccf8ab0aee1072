"""The repository's fixed shape: what may stand at the top level, the committed links, one name for one pass."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LINKS = ("dialects", "passes", "tools")
TOP_LEVEL = {
    *LINKS,
    "LICENSE",
    "Makefile",
    "README.md",
    "benchmarks",
    "cuvil",
    "docs",
    "lit_tests",
    "pyproject.toml",
    "tests",
}
PASS_FILES = sorted(path for path in (ROOT / "passes").glob("*.py") if not path.stem.startswith("_"))


def committed_files() -> list[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return listed.stdout.splitlines()


def test_top_level_is_fixed() -> None:
    top = {name.split("/")[0] for name in committed_files()}
    assert {name for name in top if not name.startswith(".")} <= TOP_LEVEL


@pytest.mark.parametrize("name", LINKS)
def test_link_leads_to_the_top_level_folder(name: str) -> None:
    link = ROOT / "cuvil" / name
    assert link.is_symlink()
    assert link.readlink() == Path("..") / name


def test_no_file_names_that_hide_their_content() -> None:
    vague = {"utils", "util", "helpers", "helper", "misc", "common"}
    assert [name for name in committed_files() if Path(name).stem in vague] == []


@pytest.mark.parametrize("path", PASS_FILES, ids=lambda path: path.stem)
def test_pass_file_class_and_lit_folder_share_one_name(path: Path) -> None:
    from xdsl.passes import ModulePass

    module = __import__(f"cuvil.passes.{path.stem}", fromlist=["*"])
    class_name = "".join(word.capitalize() for word in path.stem.split("_")) + "Pass"
    passes = {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, ModulePass) and value.__module__ == module.__name__
    }
    assert {name.lower() for name in passes} == {class_name.lower()}
    (pass_class,) = passes.values()
    assert pass_class.name == path.stem.replace("_", "-")
    folder = ROOT / "lit_tests" / "passes" / path.stem.replace("_", "-")
    assert any(folder.glob("*.mlir")), f"{pass_class.name} has no lit test: add {folder.relative_to(ROOT)}/*.mlir"
