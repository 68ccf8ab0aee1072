"""`make demo`: compile ResNet-50 and BERT-base (`--all`: eight models) and compare them with eager PyTorch.

The table shows, for each model, the time to compile, the time of one inference of either, the error of either against a
float64 reference, and the most memory that activations take: Cuvil's from its static plan, eager's as measured.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.comparison import Comparison, compare
from benchmarks.models import MODELS
from benchmarks.report import as_json, comparison_table, compile_progress, console, write_json

_SHORT_DEMO = ("resnet50", "bert_base")


def main(argv: list[str] | None = None) -> int:
    """Entry point; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.demo", description=__doc__)
    parser.add_argument("models", nargs="*", metavar="MODEL", help=f"any of: {', '.join(MODELS)}")
    parser.add_argument("--all", action="store_true", help="all eight models")
    parser.add_argument("--tiny", action="store_true", help="the tiny twins, to see that everything works")
    parser.add_argument("--seconds", type=float, default=8.0, help="measuring time for each model (default: 8)")
    parser.add_argument(
        "--json", metavar="FILE", help="write the numbers as JSON too (-: to stdout, without the table)"
    )
    arguments = parser.parse_args(argv)
    unknown = sorted(set(arguments.models) - set(MODELS))
    if unknown:
        parser.error(f"unknown model {unknown[0]!r}; known: {', '.join(MODELS)}")

    comparisons: list[Comparison] = []
    for name in tuple(MODELS) if arguments.all else tuple(arguments.models) or _SHORT_DEMO:
        with compile_progress(MODELS[name].title) as progress:
            comparisons.append(compare(MODELS[name], tiny=arguments.tiny, seconds=arguments.seconds, progress=progress))
    if arguments.json == "-":
        sys.stdout.write(as_json([row.as_json() for row in comparisons]))
        return 0
    if arguments.json:
        write_json(Path(arguments.json), [row.as_json() for row in comparisons])
    console().print(comparison_table(comparisons))
    return 0


if __name__ == "__main__":
    sys.exit(main())
