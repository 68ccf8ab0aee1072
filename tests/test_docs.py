"""Every example in README.md and under docs/ is run.

- `python` blocks run in one namespace for each page, in order.
- `mlir` blocks are parsed and verified, and must come back the same when printed and parsed again.
- `console` and `bash` blocks: each command runs, with pipes between Cuvil's own tools; `$ ` marks a command, and lines
  without it are the expected output.
- `text` blocks are not code.
- Scripts under docs/notebooks run as they stand.

A block below the comment `<!-- not run: reason -->` is left out; there may be few of those.
"""

from __future__ import annotations

import os
import re
import runpy
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.py"))
MAXIMUM_NOT_RUN = 4
COMMANDS = ("cuvil-opt", "cuvil-run", "xdsl-opt", "cat", "echo")

_FENCE = re.compile(
    r"^(?:<!-- not run: (?P<reason>[^>]+) -->\n)?```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
_LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)#\s]+)(?:#[^)]*)?\)")


@dataclass(frozen=True)
class Example:
    """A fenced block."""

    page: Path
    line: int
    language: str
    text: str
    not_run: str | None

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def examples(page: Path) -> list[Example]:
    source = page.read_text(encoding="utf-8")
    return [
        Example(page, source.count("\n", 0, found.start("text")), found["language"], found["text"], found["reason"])
        for found in _FENCE.finditer(source)
    ]


EXAMPLES = [example for page in PAGES for example in examples(page)]
RUN = [example for example in EXAMPLES if example.not_run is None]


def run_shell(command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    return subprocess.run(
        command, shell=True, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize("page", [page for page in PAGES if any(e.page == page for e in RUN)], ids=lambda p: p.stem)
def test_python_examples_run(page: Path) -> None:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for example in RUN:
        if example.page == page and example.language == "python":
            # Blank lines in front, so that a traceback shows the page's own line numbers.
            exec(compile("\n" * example.line + example.text, str(page), "exec", dont_inherit=True), namespace)


@pytest.mark.parametrize("script", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(script: Path) -> None:
    runpy.run_path(str(script), run_name="__main__")


@pytest.mark.parametrize("example", [e for e in RUN if e.language == "mlir"], ids=str)
def test_mlir_example_round_trips(example: Example) -> None:
    from xdsl.parser import Parser

    from cuvil.universe import make_context

    module = Parser(make_context(), example.text, str(example)).parse_module()
    module.verify()
    again = Parser(make_context(), str(module), f"{example}, printed").parse_module()
    assert again.is_structurally_equivalent(module)


@pytest.mark.parametrize("example", [e for e in RUN if e.language in ("console", "bash")], ids=str)
def test_shell_example_gives_what_it_shows(example: Example) -> None:
    prompted = example.language == "console"
    chunks = re.split(r"^\$ ", example.text, flags=re.MULTILINE)[1:] if prompted else example.text.splitlines()
    for chunk in chunks:
        command, _, expected = chunk.partition("\n")
        if not command.strip() or command.startswith("#"):
            continue
        for part in command.split("|"):
            assert shlex.split(part, comments=True)[0] in COMMANDS, f"{example}: mark as not run, or use {COMMANDS}"
        done = run_shell(command)
        assert done.returncode == 0, done.stderr
        if expected.strip():
            assert done.stdout.strip() == expected.strip()


def test_every_block_says_its_language() -> None:
    known = {"python", "mlir", "console", "bash", "text"}
    assert [str(example) for example in EXAMPLES if example.language not in known] == []


def test_few_examples_are_not_run() -> None:
    left_out = {str(example): example.not_run for example in EXAMPLES if example.not_run is not None}
    assert len(left_out) <= MAXIMUM_NOT_RUN, left_out


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    targets = [found["target"] for found in _LINK.finditer(page.read_text(encoding="utf-8"))]
    local = [target for target in targets if "://" not in target]
    assert [target for target in local if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("name", ["dialects.md", "passes.md", "files.md"])
def test_reference_is_current(name: str) -> None:
    from cuvil.tools.docs_reference import PAGES as REFERENCE

    committed = ROOT / "docs" / "reference" / name
    assert committed.exists(), "run `make docs` and commit docs/reference"
    assert committed.read_text(encoding="utf-8") == REFERENCE[name](), "run `make docs` and commit docs/reference"
