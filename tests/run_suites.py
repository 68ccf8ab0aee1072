"""Run the pytest and lit suites on the cores at hand and close with the totals of both.

pytest runs the tests under `tests/`, lit those under `lit_tests/`. Both write JUnit files, from which the last line is
summed up: `N passed, N failed, N skipped`. The exit status is 0 only if nothing failed and neither runner broke down.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / ".cache" / "test"
BIN = Path(sys.executable).parent

PYTEST_NO_TESTS = 5


@dataclass(frozen=True)
class Totals:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: Totals) -> Totals:
        return Totals(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    @staticmethod
    def read(junit: Path) -> Totals:
        """The totals of a JUnit file; none where the file is missing."""
        if not junit.exists():
            return Totals()
        cases = list(ElementTree.parse(junit).iter("testcase"))
        failed = sum(case.find("failure") is not None or case.find("error") is not None for case in cases)
        skipped = sum(case.find("skipped") is not None for case in cases)
        return Totals(len(cases) - failed - skipped, failed, skipped)


def run_pytest(gpu: bool, extra: list[str]) -> tuple[Totals, bool]:
    """Run pytest; returns its totals and whether it ran to its end."""
    junit = RESULTS / "pytest.xml"
    selection = ["-m", "gpu"] if gpu else ["-m", "not gpu", "--numprocesses=auto", "--dist=worksteal"]
    command = [sys.executable, "-m", "pytest", "-q", *selection, f"--junitxml={junit}", *extra]
    status = subprocess.run(command, cwd=ROOT, check=False).returncode
    totals = Totals.read(junit)
    return totals, status in (0, PYTEST_NO_TESTS) or (status == 1 and totals.failed > 0)


def run_lit() -> tuple[Totals, bool]:
    """Run lit; returns its totals and whether it ran to its end."""
    suite = ROOT / "lit_tests"
    if not any(suite.rglob("*.mlir")):
        return Totals(), True
    junit = RESULTS / "lit.xml"
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}"}
    command = [str(BIN / "lit"), "-s", "-v", str(suite), f"--xunit-xml-output={junit}"]
    status = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
    totals = Totals.read(junit)
    return totals, status == 0 or (status == 1 and totals.failed > 0)


def main() -> int:
    """Run both suites (`--gpu`: the pytest tests that need a CUDA device, alone); other arguments go to pytest."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--gpu", action="store_true")
    arguments, extra = parser.parse_known_args()
    RESULTS.mkdir(parents=True, exist_ok=True)
    for stale in RESULTS.glob("*.xml"):
        stale.unlink()

    start = time.monotonic()
    totals, complete = run_pytest(arguments.gpu, extra)
    if not arguments.gpu:
        lit_totals, lit_complete = run_lit()
        totals, complete = totals + lit_totals, complete and lit_complete
    print(f"pytest and lit took {time.monotonic() - start:.0f} s", flush=True)
    if not complete:
        print("a test runner broke down before its end: see above")
    print(f"{totals.passed} passed, {totals.failed} failed, {totals.skipped} skipped", flush=True)
    return 0 if complete and totals.failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
