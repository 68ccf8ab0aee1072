"""`make operators`: every operator of PyTorch's OpInfo database, natively compiled, beside eager PyTorch.

python -m benchmarks.operators                         # the whole database (about an hour on two cores)
python -m benchmarks.operators add 'nn.functional.*'   # some ops, by name or pattern
python -m benchmarks.operators --samples 8             # at most 8 samples of an op and dtype
"""

from __future__ import annotations

import argparse
import json
import sys
from fnmatch import fnmatchcase
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from benchmarks.operators.page import RESULT_FILE, write_page
from benchmarks.operators.report import Results, summary_table, write_results, wrong_table
from benchmarks.operators.samples import DEFAULT_DTYPES, DTYPES, database, dtypes_of
from benchmarks.operators.workers import Task, run_tasks
from benchmarks.report import console


def main(argv: list[str] | None = None) -> int:
    """Entry point; returns the exit status: 1 if a sample came out wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.operators",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("ops", nargs="*", metavar="OP", help="names or patterns of ops (default: all)")
    parser.add_argument("--dtypes", default=",".join(DEFAULT_DTYPES), help=f"among {','.join(DTYPES)}")
    parser.add_argument("--samples", type=int, help="at most so many samples of an op and dtype, spread evenly")
    parser.add_argument("--processes", type=int, default=2, help="worker processes (default: 2)")
    parser.add_argument("--json", type=Path, help=f"where results go: the committed {RESULT_FILE.name}, say")
    parser.add_argument("--lines", type=Path, help="where results go as they come; what is there is not run again")
    parser.add_argument("--page", action="store_true", help="only write docs/operators.md from the committed results")
    arguments = parser.parse_args(argv)
    if arguments.page:
        write_page()
        return 0
    dtypes = arguments.dtypes.split(",")
    unknown = [name for name in dtypes if name not in DTYPES]
    patterns = arguments.ops or ["*"]
    names = [name for name in database() if any(fnmatchcase(name, pattern) for pattern in patterns)]
    unknown += [] if names else patterns
    if unknown:
        parser.error(f"unknown name {unknown[0]!r}")
    tasks = [Task(name, dtype, arguments.samples) for name in names for dtype in dtypes_of(name, dtypes)]

    results = Results()
    if arguments.lines and arguments.lines.exists():
        for row in map(json.loads, arguments.lines.read_text().splitlines()):
            results.add(row)
    known = {(row["op"], row["dtype"]) for row in results.rows}
    tasks = [task for task in tasks if (task.op, task.dtype) not in known]
    lines = arguments.lines.open("a") if arguments.lines else None
    progress_console = Console(stderr=True)
    with Progress(console=progress_console, transient=True, disable=not progress_console.is_terminal) as progress:
        bar = progress.add_task("samples of operators", total=len(tasks))

        def done(task: Task) -> None:
            row = task.as_json()
            results.add(row)
            if lines is not None:
                lines.write(json.dumps(row) + "\n")
                lines.flush()
            progress.update(bar, advance=1, description=f"{task.op} {task.dtype}")

        run_tasks(tasks, arguments.processes, done)

    shown = console()
    shown.print(summary_table(results))
    if results.wrong:
        shown.print(wrong_table(results))
    if arguments.json is not None:
        write_results(arguments.json, results, dtypes, arguments.samples)
    return 1 if results.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
