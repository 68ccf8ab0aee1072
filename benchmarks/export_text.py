"""Write a model of the zoo as text: `python -m benchmarks.export_text resnet50 -o /tmp/resnet50.mlir`.

The file is the module as it is imported from PyTorch, which `cuvil-opt` reads. Weights are in it by name and type;
their values are written beside it only with `--parameters FILE.npz`, which `cuvil-run --parameters` reads.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

import cuvil
from benchmarks.models import MODELS
from cuvil.ir_text import PrintOptions, print_op


def main(argv: list[str] | None = None) -> int:
    """Entry point; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.export_text", description=__doc__)
    parser.add_argument("model", choices=list(MODELS), metavar="MODEL", help=f"one of: {', '.join(MODELS)}")
    parser.add_argument("-o", "--output", metavar="FILE", help="where to (default: standard output)")
    parser.add_argument("--parameters", metavar="FILE", help="write the values of the weights too, as .npz")
    parser.add_argument("--tiny", action="store_true", help="the tiny twin of the model")
    parser.add_argument("--locations", action="store_true", help="keep the lines of the model's source")
    arguments = parser.parse_args(argv)

    model, inputs = MODELS[arguments.model].load(tiny=arguments.tiny)
    imported = cuvil.trace(model, inputs)
    text = print_op(imported.module, PrintOptions(locations=arguments.locations))
    if arguments.output is None:
        sys.stdout.write(text)
    else:
        Path(arguments.output).write_text(text, encoding="utf-8")
    if arguments.parameters is not None:
        np.savez(arguments.parameters, **imported.parameters)
    return 0


if __name__ == "__main__":
    sys.exit(main())
