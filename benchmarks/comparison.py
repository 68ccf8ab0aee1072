"""Compile one model of the zoo with Cuvil and compare it with eager PyTorch in one run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.measure import THREADS, Timing, eager_peak_bytes, float64_reference, interleaved, relative_error
from benchmarks.models import Model

Runner = Callable[[], object]
Progress = Callable[[str, int, int], None]
"""Called with the name of a stage of compilation, how many are done, and how many there are."""


@dataclass(frozen=True)
class Comparison:
    """What one model measured: times in milliseconds, errors relative to a float64 reference, sizes in bytes."""

    name: str
    title: str
    gflop: float
    compile_seconds: float
    eager_ms: float
    eager_best_ms: float
    cuvil_ms: float
    cuvil_best_ms: float
    ratio: float
    """Cuvil's time over eager's: the median over the rounds."""
    cuvil_error: float
    eager_error: float
    cuvil_peak_bytes: int
    eager_peak_bytes: int
    peer_ms: dict[str, float]

    def as_json(self) -> dict[str, Any]:
        """Plain data for a report."""
        return asdict(self)


def compare(
    entry: Model,
    *,
    tiny: bool = False,
    seconds: float = 8.0,
    peers: Callable[[nn.Module, tuple[Tensor, ...]], dict[str, Runner]] | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compile `entry`, then run eager PyTorch, Cuvil and the `peers` in alternation on two threads.

    Raises RuntimeError if Cuvil's output is further than 1e-3 from the float64 reference and eager's is not: a time
    of a wrong answer is not a time.
    """
    import cuvil

    torch.set_num_threads(THREADS)
    model, inputs = entry.load(tiny=tiny)
    compiled = cuvil.compile(
        model, example_inputs=inputs, target="cpu", options={"threads": THREADS}, progress=progress
    )
    with torch.no_grad():
        reference = float64_reference(model, inputs)
        eager_error = relative_error(model(*inputs), reference)
        cuvil_error = relative_error(compiled(*inputs), reference)
        if cuvil_error > max(1e-3, 10.0 * eager_error):
            raise RuntimeError(f"{entry.title}: relative error {cuvil_error:.1e} where eager has {eager_error:.1e}")
        runners: dict[str, Runner] = {"eager": lambda: model(*inputs), "cuvil": lambda: compiled(*inputs)}
        runners |= peers(model, inputs) if peers else {}
        timings = interleaved(runners, seconds=seconds)
    eager, own = timings.pop("eager"), timings.pop("cuvil")
    return Comparison(
        name=entry.name,
        title=entry.title,
        gflop=entry.gflop,
        compile_seconds=compiled.compile_seconds,
        eager_ms=eager.median_ms,
        eager_best_ms=eager.best_ms,
        cuvil_ms=own.median_ms,
        cuvil_best_ms=own.best_ms,
        ratio=own.ratio_to(eager),
        cuvil_error=cuvil_error,
        eager_error=eager_error,
        cuvil_peak_bytes=compiled.memory.peak_bytes,
        eager_peak_bytes=eager_peak_bytes(model, inputs),
        peer_ms=_medians(timings),
    )


def _medians(timings: dict[str, Timing]) -> dict[str, float]:
    return {name: timing.median_ms for name, timing in timings.items()}
