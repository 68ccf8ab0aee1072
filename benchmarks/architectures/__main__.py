"""Every architecture through torch.export and through torch.compile, beside eager PyTorch; a table and JSON.

python -m benchmarks.architectures                       # all; writes the JSON and docs/models.md
python -m benchmarks.architectures bert llama            # some; writes nothing
python -m benchmarks.architectures --dtype bfloat16      # all in another dtype; writes nothing
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.architectures.report import DOCUMENT, JSON, as_markdown, row_of, summary, table
from benchmarks.architectures.table import ARCHITECTURES, IN_BFLOAT16
from benchmarks.architectures.workers import Task, run_tasks
from benchmarks.report import console, write_json


def main(argv: list[str] | None = None) -> int:
    """Entry point; returns the exit status: 1 if anything is wrong or failed. A refusal is neither."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.architectures",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of: {', '.join(ARCHITECTURES)} (default: all)")
    parser.add_argument("--doors", default="export,torch_compile", help="export, torch_compile, or both (default)")
    parser.add_argument("--dtype", default="float32", choices=("float32", "bfloat16"), help="of weights and inputs")
    parser.add_argument("--jobs", type=int, default=2, help="models at a time (default: 2)")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds for one model through one door")
    parser.add_argument("--json", type=Path, help=f"where the results go (default: {JSON.name}, for a run of all)")
    arguments = parser.parse_args(argv)
    doors = arguments.doors.split(",")
    unknown = [name for name in arguments.names if name not in ARCHITECTURES]
    unknown += [door for door in doors if door not in ("export", "torch_compile")]
    if unknown:
        parser.error(f"unknown name {unknown[0]!r}")

    is_whole = not arguments.names and arguments.dtype == "float32" and len(doors) == 2
    wanted = [(name, arguments.dtype) for name in arguments.names or ARCHITECTURES]
    wanted += [(name, "bfloat16") for name in IN_BFLOAT16] if is_whole else []
    tasks = [Task(name, door, dtype) for name, dtype in wanted for door in doors]
    verdicts = run_tasks(tasks, jobs=arguments.jobs, timeout=arguments.timeout)
    rows = [row_of(name, dtype, {door: verdicts[Task(name, door, dtype)] for door in doors}) for name, dtype in wanted]

    shown = console()
    shown.print(table(rows))
    for line in summary(rows):
        shown.print(line)
    path = arguments.json or (JSON if is_whole else None)
    if path is not None:
        write_json(path, rows)
    if is_whole:
        DOCUMENT.write_text(as_markdown(rows))
    return int(any(row[door]["verdict"] in ("wrong", "failed") for row in rows for door in doors))


if __name__ == "__main__":
    sys.exit(main())
