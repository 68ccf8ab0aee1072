"""`make bench-gpu`: the models on a CUDA device in float16, beside eager PyTorch and eager in a CUDA graph.

`cuvil.compile` has no target `cuda` yet: until then, and on a machine without a device, nothing is measured.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable
from pathlib import Path

import torch
from rich.table import Table
from torch import Tensor, nn

from benchmarks.measure import relative_error
from benchmarks.models import MODELS, Model
from benchmarks.report import RESULTS, console, write_json
from cuvil.pipeline import target_names

Runner = Callable[[], Tensor]


def graphed(model: nn.Module, inputs: tuple[Tensor, ...]) -> Runner:
    """Eager PyTorch captured once into a CUDA graph and replayed."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            model(*inputs)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        output = model(*inputs)

    def replay() -> Tensor:
        graph.replay()
        return output

    return replay


def interleaved_events(functions: dict[str, Runner], rounds: int = 50, warm_up: int = 10) -> dict[str, float]:
    """The median milliseconds of each function, in alternation, by CUDA events."""
    milliseconds: dict[str, list[float]] = {name: [] for name in functions}
    for number in range(warm_up + rounds):
        for name, function in functions.items():
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            function()
            end.record()
            end.synchronize()
            if number >= warm_up:
                milliseconds[name].append(start.elapsed_time(end))
    return {name: statistics.median(taken) for name, taken in milliseconds.items()}


def measure(entry: Model) -> dict[str, object]:
    """Compile one model for the device and time it beside eager PyTorch."""
    import cuvil

    model, inputs = entry.load()
    with torch.no_grad():
        reference = model(*inputs)
        model = model.half().cuda()
        inputs = tuple(value.half().cuda() if value.is_floating_point() else value.cuda() for value in inputs)
        compiled = cuvil.compile(model, example_inputs=inputs, target="cuda", options={})
        milliseconds = interleaved_events(
            {"eager": lambda: model(*inputs), "graph": graphed(model, inputs), "cuvil": lambda: compiled(*inputs)}
        )
        errors = {
            "eager_error": relative_error(model(*inputs).cpu(), reference),
            "cuvil_error": relative_error(compiled(*inputs).cpu(), reference),
        }
    return {"name": entry.name, "title": entry.title, "milliseconds": milliseconds, **errors}


def main(argv: list[str] | None = None) -> int:
    """Entry point; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu_models", description=__doc__)
    parser.add_argument("models", nargs="*", metavar="MODEL", help=f"any of: {', '.join(MODELS)} (default: all)")
    parser.add_argument("--json", type=Path, default=RESULTS / "gpu_models.json", help="where the numbers go")
    arguments = parser.parse_args(argv)
    if "cuda" not in target_names():
        print("cuvil.compile has no target 'cuda' yet: nothing was measured")
        return 0
    if not torch.cuda.is_available():
        print("no CUDA device on this machine: nothing was measured")
        return 0

    table = Table(title=f"Cuvil on {torch.cuda.get_device_name()}, float16, batch 1", title_justify="left")
    for heading in ("model", "eager ms", "graph ms", "Cuvil ms", "Cuvil / best", "error", "eager's error"):
        table.add_column(heading, justify="left" if heading == "model" else "right")
    rows: list[dict[str, object]] = []
    for name in arguments.models or MODELS:
        row = measure(MODELS[name])
        taken = row["milliseconds"]
        assert isinstance(taken, dict)
        ratio = taken["cuvil"] / min(taken["eager"], taken["graph"])
        times = (f"{taken[kind]:.3f}" for kind in ("eager", "graph", "cuvil"))
        table.add_row(
            MODELS[name].title, *times, f"{ratio:.2f}", f"{row['cuvil_error']:.1e}", f"{row['eager_error']:.1e}"
        )
        rows.append(row)
    write_json(arguments.json, rows)
    console().print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
