"""Whether an architecture, compiled through one of the doors, gives what eager PyTorch gives.

The reference is eager PyTorch in float64. An output matches if its relative norm error is at most `Tolerance.multiple`
times that of eager PyTorch in the model's own dtype, or at most `Tolerance.floor` where eager happens to be exact; its
shape, dtype and the places of its NaNs must be eager's, and what is no floating point must be equal.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map

from benchmarks.architectures.entry import Architecture
from benchmarks.measure import float64_reference

MATCHED, REFUSED, WRONG, FAILED = "matched", "refused", "wrong", "failed"
"""Verdicts; `failed` is whatever is neither right nor a clear refusal: a crash, an internal error, no end in time."""
SEEDS = (0, 1)
"""Of the inputs: those that the model is compiled with, and others of the same shapes."""


@dataclass(frozen=True)
class Tolerance:
    """How far from the float64 reference an output may be."""

    multiple: float
    """Of eager's own error."""
    floor: float


TOLERANCES = {torch.float32: Tolerance(3.0, 1e-6), torch.bfloat16: Tolerance(1.5, 2e-3)}


@dataclass
class Verdict:
    """What one door made of one architecture."""

    verdict: str
    reason: str = ""
    compile_seconds: float = 0.0
    """torch.compile: of the first call."""
    error: float = 0.0
    """The largest relative norm error of an output, and eager's of the same output."""
    eager_error: float = 0.0
    graphs: int = 1
    """Graphs that dynamo made."""
    left: list[str] = field(default_factory=list[str])
    """What PyTorch runs in a model that was compiled in parts."""

    def as_json(self) -> dict[str, Any]:
        """Plain data for a report."""
        return asdict(self)


def check(architecture: Architecture, door: str, dtype: torch.dtype = torch.float32) -> Verdict:
    """Compile an architecture through a door of `DOORS` and compare it; errors become verdicts."""
    from cuvil.errors import InternalError, UnsupportedError, UserError

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    model, arguments = architecture.load()
    model = model.to(dtype)
    try:
        with torch.no_grad():
            return DOORS[door](architecture, model, _cast(arguments, dtype), dtype)
    except (UnsupportedError, UserError) as error:
        if isinstance(error, InternalError):
            raise
        return Verdict(REFUSED, _first_words(error.message))


def _export(architecture: Architecture, model: nn.Module, arguments: dict[str, Any], dtype: torch.dtype) -> Verdict:
    import cuvil

    compiled = cuvil.compile(model, (), kwargs=arguments, options={"threads": 1})
    verdict = _compared(architecture, model, compiled, dtype)
    verdict.compile_seconds = compiled.compile_seconds
    return verdict


def _torch_compile(
    architecture: Architecture, model: nn.Module, arguments: dict[str, Any], dtype: torch.dtype
) -> Verdict:
    import cuvil

    compiled: Any = torch.compile(model, backend="cuvil", options={"threads": 1})
    started = time.perf_counter()
    compiled(**arguments)
    seconds = time.perf_counter() - started
    verdict = _compared(architecture, model, compiled, dtype)
    verdict.compile_seconds = seconds
    graphs = cuvil.explain(compiled).graphs
    verdict.graphs = len(graphs)
    verdict.left = [
        f"{left.op or 'a whole graph'}: {_first_words(left.reason)}" for graph in graphs for left in graph.left
    ]
    return verdict


DOORS: dict[str, Callable[[Architecture, nn.Module, dict[str, Any], torch.dtype], Verdict]] = {
    "export": _export,
    "torch_compile": _torch_compile,
}
"""The ways in, by name."""


# -- comparison --------------------------------------------------------------------------------------------------------


def _compared(
    architecture: Architecture, model: nn.Module, compiled: Callable[..., Any], dtype: torch.dtype
) -> Verdict:
    """The verdict over all inputs: the first that is wrong, else the one with the largest error."""
    worst = Verdict(MATCHED)
    for seed in SEEDS:
        arguments = _cast(architecture.arguments(seed=seed), dtype)
        actual, eager = _tensors(compiled(**arguments)), _tensors(model(**arguments))
        reference = _tensors(float64_reference(model, (), arguments))
        found = judged(actual, eager, reference, TOLERANCES[dtype])
        if found.verdict != MATCHED:
            return found
        if found.error >= worst.error:
            worst = found
    return worst


def judged(actual: list[Tensor], eager: list[Tensor], reference: list[Tensor], tolerance: Tolerance) -> Verdict:
    """The verdict on all outputs of one call."""
    if len(actual) != len(eager):
        return Verdict(WRONG, f"{len(actual)} outputs where eager has {len(eager)}")
    worst = Verdict(MATCHED)
    for place, (own, its, exact) in enumerate(zip(actual, eager, reference, strict=True)):
        fault = _difference_in_kind(own, its)
        if fault:
            return Verdict(WRONG, f"output {place}: {fault}")
        if not its.is_floating_point():
            continue
        error, eager_error = _relative_error(own, exact), _relative_error(its, exact)
        if not error <= max(tolerance.multiple * eager_error, tolerance.floor):
            return Verdict(WRONG, f"output {place}: error {error:.1e}", error=error, eager_error=eager_error)
        if error >= worst.error:
            worst = Verdict(MATCHED, error=error, eager_error=eager_error)
    return worst


def _difference_in_kind(actual: Tensor, eager: Tensor) -> str:
    if actual.shape != eager.shape:
        return f"shape {list(actual.shape)} where eager has {list(eager.shape)}"
    if actual.dtype != eager.dtype:
        return f"{actual.dtype} where eager has {eager.dtype}"
    if not eager.is_floating_point():
        return "" if torch.equal(actual, eager) else "not equal to eager's"
    if not torch.equal(actual.isnan(), eager.isnan()):
        return "NaN elsewhere than in eager's"
    infinite = eager.isinf()
    return "" if torch.equal(actual[infinite], eager[infinite]) else "infinite elsewhere than eager's"


def _relative_error(actual: Tensor, reference: Tensor) -> float:
    """The norm of the difference over the norm of the reference, of the elements that are finite in it."""
    finite = reference.isfinite()
    wide = reference[finite].double()
    difference = float((actual[finite].double() - wide).norm())
    return difference / float(wide.norm()) if difference else 0.0 if math.isfinite(difference) else math.inf


def _tensors(outputs: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(outputs) if isinstance(leaf, Tensor)]


def _cast(arguments: dict[str, Any], dtype: torch.dtype) -> dict[str, Any]:
    def cast(leaf: Any) -> Any:
        return leaf.to(dtype) if isinstance(leaf, Tensor) and leaf.is_floating_point() else leaf

    return tree_map(cast, arguments)


def _first_words(message: str) -> str:
    """A reason short enough for a table."""
    words = " ".join(message.split())
    return words if len(words) <= 200 else words[:197] + "..."
