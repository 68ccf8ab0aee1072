"""`make bench`: the CPU models beside eager PyTorch and the peers that are installed; JSON under benchmarks/results.

python -m benchmarks.cpu_models                        # all models, every peer that is installed
python -m benchmarks.cpu_models gpt2 --peers none
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

from rich.table import Table

from benchmarks.comparison import Comparison, compare
from benchmarks.measure import geometric_mean
from benchmarks.models import MODELS
from benchmarks.peers import PEERS, installed, prepare
from benchmarks.report import RESULTS, comparison_table, compile_progress, console, write_json


def main(argv: list[str] | None = None) -> int:
    """Entry point; returns the exit status: 1 if a model failed, the others being reported all the same."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.cpu_models",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("models", nargs="*", metavar="MODEL", help=f"any of: {', '.join(MODELS)} (default: all)")
    parser.add_argument("--peers", default="installed", help=f"installed, none, or names: {','.join(PEERS)}")
    parser.add_argument("--seconds", type=float, default=20.0, help="measuring time for each model (default: 20)")
    parser.add_argument("--tiny", action="store_true", help="the tiny twins")
    parser.add_argument("--json", type=Path, default=RESULTS / "cpu_models.json", help="where the numbers go")
    arguments = parser.parse_args(argv)
    names = {"installed": installed(), "none": []}.get(arguments.peers, arguments.peers.split(","))
    unknown = [
        *(name for name in arguments.models if name not in MODELS),
        *(name for name in names if name not in PEERS),
    ]
    if unknown:
        parser.error(f"unknown name {unknown[0]!r}")

    comparisons: list[Comparison] = []
    failures: dict[str, str] = {}
    for name in arguments.models or MODELS:
        with compile_progress(MODELS[name].title) as progress:
            try:
                comparison = compare(
                    MODELS[name],
                    tiny=arguments.tiny,
                    seconds=arguments.seconds,
                    peers=partial(prepare, names),
                    progress=progress,
                )
            except Exception as error:
                failures[name] = f"{type(error).__name__}: {error}"
                continue
        comparisons.append(comparison)

    shown = console()
    shown.print(comparison_table(comparisons))
    if names and comparisons:
        shown.print(_peer_table(names, comparisons))
    for name, message in failures.items():
        shown.print(f"{name} failed: {message}", style="red", markup=False)
    rows = [row.as_json() for row in comparisons]
    write_json(arguments.json, [*rows, *({"name": name, "failure": message} for name, message in failures.items())])
    return 1 if failures else 0


def _peer_table(names: list[str], comparisons: list[Comparison]) -> Table:
    """Cuvil's time over each peer's; below 1, Cuvil is faster."""
    table = Table(title="Cuvil's time over the peer's", title_justify="left")
    table.add_column("model")
    for name in (*names, "the best"):
        table.add_column(name, justify="right")
    best_ratios: list[float] = []
    for row in comparisons:
        best_ratios.append(row.cuvil_ms / min(row.eager_ms, *row.peer_ms.values()))
        ratios = (row.cuvil_ms / row.peer_ms[name] for name in names)
        table.add_row(row.title, *(f"{ratio:.2f}" for ratio in ratios), f"{best_ratios[-1]:.2f}")
    table.add_section()
    means = (geometric_mean([row.cuvil_ms / row.peer_ms[name] for row in comparisons]) for name in names)
    table.add_row("geometric mean", *(f"{mean:.2f}" for mean in means), f"{geometric_mean(best_ratios):.2f}")
    return table


if __name__ == "__main__":
    sys.exit(main())
