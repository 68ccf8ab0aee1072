"""Every lit test is about something: its FileCheck directives are real, and its RUN lines use them.

The Python filecheck skips what it does not know without a word, so that a misspelt `CHECK-NXT:` is a test that tests
nothing.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent / "lit_tests"
FILES = sorted(path for path in ROOT.rglob("*.mlir") if not {"Inputs", "Output"} & set(path.parts))
SUFFIXES = ("", "-NEXT", "-SAME", "-NOT", "-DAG", "-LABEL", "-EMPTY")
LIT_DIRECTIVES = ("RUN", "REQUIRES", "UNSUPPORTED", "XFAIL", "DEFINE", "REDEFINE", "END", "ALLOW_RETRIES", "COM")
COMMENT = re.compile(r"//[ \t]*([A-Za-z][A-Za-z0-9_-]*(?:\{LITERAL\})?)[ \t]*(:?)(.*)")
PREFIX_OPTION = re.compile(r"--?check-prefix(?:es)?[= ]([\w,-]+)")
IGNORED_BY_FILECHECK = re.compile(r"(RUN|COM).*?\b(\w+)(-\w+)?:")


def check_prefixes(text: str) -> set[str]:
    """The prefixes that the RUN lines of a test check."""
    prefixes: set[str] = set()
    for line in run_lines(text):
        for command in line.split("|"):
            if "filecheck" in command:
                options = PREFIX_OPTION.findall(command)
                prefixes.update(*(option.split(",") for option in options) if options else [["CHECK"]])
    return prefixes


def run_lines(text: str) -> list[str]:
    """The commands of a test, with continued lines joined."""
    lines = re.sub(r"\\\n[ \t]*// RUN:", " ", text).splitlines()
    return [line.split("RUN:", 1)[1] for line in lines if re.match(r"[ \t]*// RUN:", line)]


def problems(text: str) -> list[str]:
    """What is wrong with the directives of a test."""
    prefixes = check_prefixes(text)
    known = {prefix + suffix for prefix in prefixes for suffix in SUFFIXES}
    found: list[str] = [] if run_lines(text) else ["no RUN line"]
    used: set[str] = set()
    for number, line in enumerate(text.splitlines(), start=1):
        for match in COMMENT.finditer(line):
            word, colon = match[1].removesuffix("{LITERAL}"), match[2]
            plain = re.sub(r"-COUNT-\d+$", "", word)
            if plain in known and colon:
                used.add(next(prefix for prefix in prefixes if plain in {prefix + suffix for suffix in SUFFIXES}))
                if re.search(rf"\b(RUN|COM)\b.*\b{re.escape(plain)}", line):
                    found.append(f"line {number}: filecheck takes '{line.strip()}' for a comment")
            elif word in LIT_DIRECTIVES and colon:
                continue
            elif reason := suspicion(word, bool(colon), known, prefixes):
                found.append(f"line {number}: '{word}' {reason}")
    found += [f"no directive has the prefix {prefix}, which a RUN line checks" for prefix in sorted(prefixes - used)]
    return found


def suspicion(word: str, has_colon: bool, known: set[str], prefixes: set[str]) -> str | None:
    """Why a comment's first word looks like a directive that does not work; None if it does not look like one."""
    if word in known:
        return "lacks its colon"
    if not re.fullmatch(r"[A-Z][A-Z0-9_-]+", word):
        near = get_close_matches(word.upper(), sorted(known), 1, 0.9)
        return f"should be {near[0]}" if near and has_colon else None
    if any(word.startswith((f"{prefix}-", f"{prefix}_")) for prefix in prefixes):
        return "is no directive of filecheck"
    if near := get_close_matches(word, [*sorted(known), "RUN"], 1, 0.75):
        return f"is no directive; is it {near[0]}?"
    return "is no directive, and no RUN line checks that prefix" if has_colon and word.startswith("CHECK") else None


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_directives_are_real(path: Path):
    assert problems(path.read_text()) == []


RUN = "// RUN: cuvil-opt %s | filecheck %s\n"


@pytest.mark.parametrize(
    "bad",
    [
        RUN + "// CHECK-NXT: a\n// CHECK: b",
        RUN + "// CHECK_NEXT: a\n// CHECK: b",
        RUN + "// CHEKC: a\n// CHECK: b",
        RUN + "// CHECK-LABLE: a\n// CHECK: b",
        RUN + "// CHECK-NEXT a\n// CHECK: b",
        RUN + "// check-next: a\n// CHECK: b",
        RUN + "// CHECK-COUNT: a\n// CHECK: b",
        RUN + "// nothing is checked",
        "// RUN: cuvil-opt %s | filecheck %s --check-prefix=OTHER\n// CHECK: a\n// OTHER: b",
        "// RUN: cuvil-opt %s | filecheck %s --check-prefix=OTHER\n// CHECK: a",
        "// RNU: cuvil-opt %s\n",
        "// CHECK: a",
        RUN + "// RUN the thing // CHECK: a\n// CHECK: b",
    ],
)
def test_misspelt_directives_are_found(bad: str):
    assert problems(bad)


@pytest.mark.parametrize(
    "good",
    [
        RUN + "// CHECK: a\n// CHECK-NEXT: b\n// CHECK-COUNT-3: c\n// CHECK{LITERAL}: d",
        RUN + "// CHECK: a\n// A note: this is prose.\n// NOTE: so is this.",
        "// RUN: cuvil-opt %s --verify-diagnostics\n// expected-error @+1 {{a}}",
        "// RUN: cuvil-opt %s \\\n// RUN:   | filecheck %s --check-prefixes=A,B\n// A: a\n// B-NOT: b",
    ],
)
def test_real_directives_are_accepted(good: str):
    assert problems(good) == []
