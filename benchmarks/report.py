"""Showing measurements: a table and a progress line on a terminal, JSON for machines."""

from __future__ import annotations

import json
import platform
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from benchmarks.comparison import Comparison
from benchmarks.comparison import Progress as ProgressCallback
from benchmarks.measure import THREADS, geometric_mean

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"

_PIPED_WIDTH = 120
_HEADINGS = (  # with the longest model name, 80 columns
    "compile\ns",
    "eager\nms",
    "Cuvil\nms",
    "Cuvil/\neager",
    "\nerror",
    "eager's\nerror",
    "peak\nMiB",
    "eager's\nMiB",
)


def console() -> Console:
    """A console on stdout; where stdout is no terminal, wide enough for the tables whatever COLUMNS says."""
    found = Console()
    return found if found.is_terminal else Console(width=_PIPED_WIDTH)


def progress_line(*first: ProgressColumn) -> Progress:
    """A progress line on stderr that begins with columns of its own; silent where stderr is no terminal."""
    shown = Console(stderr=True)
    return Progress(
        SpinnerColumn(),
        *first,
        BarColumn(bar_width=24),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        console=shown,
        transient=True,
        disable=not shown.is_terminal,
    )


@contextmanager
def compile_progress(title: str) -> Iterator[ProgressCallback]:
    """A progress line while a model compiles."""
    with progress_line(TextColumn("{task.fields[title]}")) as bar:
        task = bar.add_task("", total=None, title=title)

        def update(stage: str, done: int, total: int) -> None:
            bar.update(task, description=stage, completed=done, total=total)

        yield update


def comparison_table(comparisons: Sequence[Comparison]) -> Table:
    """One row a model, in the words of a person who wants to know whether it is faster, right and small."""
    table = Table(
        title=f"Cuvil beside eager PyTorch, float32, batch 1, {THREADS} threads",
        title_justify="left",
        box=SIMPLE_HEAD,
        pad_edge=False,
        show_edge=False,
        collapse_padding=True,
    )
    table.add_column("\nmodel", no_wrap=True)
    for heading in _HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    for row in comparisons:
        table.add_row(
            row.title,
            f"{row.compile_seconds:.2f}",
            f"{row.eager_ms:.1f}",
            f"{row.cuvil_ms:.1f}",
            f"[{'green' if row.ratio < 1 else 'red'}]{row.ratio:.2f}[/]",
            f"{row.cuvil_error:.0e}",
            f"{row.eager_error:.0e}",
            f"{row.cuvil_peak_bytes / 2**20:.1f}",
            f"{row.eager_peak_bytes / 2**20:.1f}",
        )
    if len(comparisons) > 1:
        table.add_section()
        table.add_row("geometric mean", "", "", "", f"{geometric_mean([row.ratio for row in comparisons]):.2f}")
    return table


def context() -> dict[str, Any]:
    """What a number means nothing without: the commit, the CPU, the versions."""
    import llvmlite
    import torch

    return {
        "commit": _git("rev-parse", "--short=12", "HEAD"),
        "dirty": bool(_git("status", "--porcelain", "--untracked-files=no")),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "cpu": cpu_model(),
        "threads": THREADS,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "llvmlite": llvmlite.__version__,
    }


def cpu_model() -> str:
    """The processor's name as the kernel gives it, else the architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def write_json(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write `rows` with their context to `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(as_json(rows))


def as_json(rows: Sequence[dict[str, Any]]) -> str:
    """`rows` with their context, as JSON text."""
    return json.dumps({**context(), "results": list(rows)}, indent=2) + "\n"


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()
