"""How long the first call of a small decorated function takes in a warm process: reading, passes, code and run.

    python -m benchmarks.first_call [--runs 20] [--json FILE]

The function branches on a tensor; both branches are in the code, which is shown. Each run compiles it anew, for a size
that was not seen before; the first ones, which load modules and fill caches, are left out. The time of the process
beside the wall time tells a busy machine from a slow compiler. At most 15 ms is the aim.
"""

from __future__ import annotations

import argparse
import re
import time
from pathlib import Path
from statistics import median
from typing import Any

import torch

import cuvil
from benchmarks.report import write_json

WARM_UP = 5
AIM_MS = 15


def dynamic_inference(x: torch.Tensor, threshold: float = 0.5) -> torch.Tensor:
    """The example: one way or the other, by the mean."""
    if x.mean() > threshold:
        return torch.nn.functional.relu(x)
    else:
        return torch.sigmoid(x)


def timed(size: int) -> tuple[float, float]:
    """Milliseconds of wall time and of the process for a first call with a size."""
    x = torch.randn(size)
    wall, process = time.perf_counter(), time.process_time()
    result = cuvil.compile(dynamic_inference)(x)
    wall, process = time.perf_counter() - wall, time.process_time() - process
    torch.testing.assert_close(result, dynamic_inference(x))
    return wall * 1e3, process * 1e3


def host_code() -> str:
    """The LLVM IR of the host program: where the branch is."""
    compiled = cuvil.compile(dynamic_inference, (torch.zeros(8),))
    (made,) = compiled.specializations
    assert made.compiled is not None
    text = made.compiled.text("llvm-ir")
    found = re.search(r"define [^\n]*@main\(.*?\n}", text, re.DOTALL)
    return found[0] if found else text


def check_ways() -> dict[str, str]:
    """The way that inputs take, NaN among them: what eager takes."""
    compiled = cuvil.compile(dynamic_inference)
    inputs = {
        "above": torch.full((8,), 2.0),
        "below": torch.full((8,), -2.0),
        "NaN": torch.tensor([1.0, torch.nan] * 4),
    }
    taken: dict[str, str] = {}
    for name, x in inputs.items():
        torch.testing.assert_close(compiled(x), dynamic_inference(x), equal_nan=True)
        taken[name] = "relu" if torch.equal(compiled(x).nan_to_num(), torch.relu(x).nan_to_num()) else "sigmoid"
    assert len(compiled.specializations) == 1
    return taken


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    times = [timed(16 + run) for run in range(arguments.runs + WARM_UP)][WARM_UP:]
    walls, processes = [wall for wall, _ in times], [process for _, process in times]
    print(host_code())
    print()
    ways = check_ways()
    print(f"taken: {', '.join(f'{name} {way}' for name, way in ways.items())}; one piece of code for all of them")
    print(f"first call, median of {len(times)}: {median(walls):.1f} ms, of the process {median(processes):.1f} ms")
    print(f"            fastest: {min(walls):.1f} ms, of the process {min(processes):.1f} ms; the aim is {AIM_MS} ms")
    if arguments.json is not None:
        rows: list[dict[str, Any]] = [
            {"wall_ms": round(wall, 2), "process_ms": round(process, 2)} for wall, process in times
        ]
        summary = {"median_ms": round(median(walls), 2), "fastest_ms": round(min(walls), 2), "taken": ways}
        write_json(arguments.json, [summary, *rows])


if __name__ == "__main__":
    main()
