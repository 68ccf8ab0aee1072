"""How long `import cuvil` and `cuvil-opt` on an empty module take, and which heavy libraries they load.

    python -m benchmarks.start_up [--runs 10] [--json FILE]

Each command runs in a process of its own; the median of the wall times is shown beside that of `python -c pass`, which
is the floor. At most 0.35 s is the aim, without torch.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from benchmarks.report import write_json

COMMANDS = {
    "python": [sys.executable, "-c", "pass"],
    "import cuvil": [sys.executable, "-c", "import cuvil"],
    "cuvil-opt, empty module": [sys.executable, "-m", "cuvil.tools.cuvil_opt", "-"],
}
HEAVY = ("torch", "numpy", "llvmlite")


def seconds(command: list[str], runs: int) -> float:
    """The median wall time of a command that reads an empty module."""
    times: list[float] = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        subprocess.run(command, input="builtin.module {\n}\n", text=True, check=True, capture_output=True)
        times.append(time.perf_counter() - start)
    return median(times[1:])


def loaded_by_import() -> list[str]:
    """The heavy libraries that `import cuvil` loads."""
    program = f"import sys, cuvil; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    return subprocess.run([sys.executable, "-c", program], text=True, check=True, capture_output=True).stdout.split()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    found = {name: seconds(command, arguments.runs) for name, command in COMMANDS.items()}
    for name, value in found.items():
        print(f"{name:26} {value:.3f} s")
    print(f"loaded by import: {', '.join(loaded_by_import()) or 'none'} of {', '.join(HEAVY)}")
    if arguments.json is not None:
        write_json(arguments.json, [{"command": name, "seconds": value} for name, value in found.items()])


if __name__ == "__main__":
    main()
