"""What a call costs beside its kernels: guards, packing of arguments, outputs.

    python -m benchmarks.call_overhead [--calls 200] [--series 50] [--json FILE]

The kernel adds two vectors of four numbers, so that nearly all of the time is the call. Beside it, in the same run:
`torch.add` on the same tensors, and `x.detach()`, which is about the least that a torch op costs.
"""

from __future__ import annotations

import argparse
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

import cuvil
from benchmarks.report import write_json


class Add(nn.Module):
    """The least model of two tensors."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return x + y


@cuvil.compile
def add(x: Tensor, y: Tensor) -> Tensor:
    """The same as a function."""
    return x + y


def microseconds(call: Callable[[], Any], calls: int, series: int) -> float:
    """The least mean time of a call among many short series, which other work on the machine disturbs least."""
    return min(timeit.repeat(call, number=calls, repeat=series)) / calls * 1e6


def measured(calls: int, series: int) -> dict[str, float]:
    """Microseconds a call, by what is called."""
    x, y = torch.randn(4), torch.randn(4)
    x_array, y_array = x.numpy(), y.numpy()
    compiled = cuvil.compile(Add().eval(), (x, y))
    batch = cuvil.Dim("batch", min=1, max=64)
    dynamic = cuvil.compile(Add().eval(), (x, y), dynamic_shapes=({0: batch}, {0: batch}))
    inner = compiled.run_tensors
    add(x, y)
    calls_of: dict[str, Callable[[], Any]] = {
        "cuvil.compile": lambda: compiled(x, y),
        "@cuvil.compile": lambda: add(x, y),
        "cuvil.compile, open size": lambda: dynamic(x, y),
        "cuvil.compile, NumPy arrays": lambda: compiled(x_array, y_array),
        "compiled code and outputs alone": lambda: inner([x, y]),
        "torch.add": lambda: torch.add(x, y),
        "torch.empty": lambda: torch.empty((4,), dtype=torch.float32, device="cpu"),
        "x.detach()": lambda: x.detach(),
        "np.add": lambda: np.add(x_array, y_array),
    }
    with torch.no_grad():
        return {name: microseconds(call, calls, series) for name, call in calls_of.items()}


def main() -> None:
    """Measure, print, and keep the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=200, help="calls in a series (default 200)")
    parser.add_argument("--series", type=int, default=50, help="series, of which the fastest counts (default 50)")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    found = measured(arguments.calls, arguments.series)
    for name, value in found.items():
        print(f"{name:32} {value:6.2f} us")
    if arguments.json is not None:
        write_json(arguments.json, [{"call": name, "microseconds": value} for name, value in found.items()])


if __name__ == "__main__":
    main()
