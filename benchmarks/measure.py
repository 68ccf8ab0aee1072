"""Timing, numerics and memory, measured so that a shared machine does not decide the outcome.

Times of two functions are compared only within one run that alternates them, round by round: whatever slows the machine
for a while slows both. The ratio is the median of the rounds' ratios.
"""

from __future__ import annotations

import copy
import gc
import math
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

THREADS = 2


@dataclass(frozen=True)
class Timing:
    """The seconds that each round of one function took."""

    rounds: tuple[float, ...]

    @property
    def median_ms(self) -> float:
        """The middle round, in milliseconds."""
        return statistics.median(self.rounds) * 1e3

    @property
    def best_ms(self) -> float:
        """The fastest round, in milliseconds."""
        return min(self.rounds) * 1e3

    def ratio_to(self, other: Timing) -> float:
        """The median over the rounds of this function's time over the other's in the same round."""
        return statistics.median(own / its for own, its in zip(self.rounds, other.rounds, strict=True))


def interleaved(
    functions: Mapping[str, Callable[[], object]],
    *,
    warm_up: int = 2,
    minimum_rounds: int = 7,
    maximum_rounds: int = 100,
    seconds: float = 8.0,
) -> dict[str, Timing]:
    """Time `functions` in alternation: at least `minimum_rounds`, more while `seconds` last.

    Every other round runs them in reverse, so that none always profits from what ran just before it.
    """
    for _ in range(warm_up):
        for function in functions.values():
            function()
    rounds: dict[str, list[float]] = {name: [] for name in functions}
    names = list(functions)
    deadline = time.perf_counter() + seconds
    for number in range(maximum_rounds):
        if number >= minimum_rounds and time.perf_counter() >= deadline:
            break
        for name in names if number % 2 == 0 else reversed(names):
            start = time.perf_counter()
            functions[name]()
            rounds[name].append(time.perf_counter() - start)
    return {name: Timing(tuple(taken)) for name, taken in rounds.items()}


def geometric_mean(ratios: list[float]) -> float:
    """exp(mean(log(ratio))); 1 for no ratios."""
    return math.exp(statistics.fmean(math.log(ratio) for ratio in ratios)) if ratios else 1.0


# -- numerics ----------------------------------------------------------------------------------------------------------


class _Float64Throughout(TorchDispatchMode):
    """Turns every request for a float32 result into one for float64: models that cast inside stay exact."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = {name: _widened(value) for name, value in (kwargs or {}).items()}
        return func(*(_widened(value) for value in args), **kwargs)


def _widened(value: Any) -> Any:
    return torch.float64 if value is torch.float32 else value


def float64_reference(model: nn.Module, inputs: tuple[Any, ...], keywords: Mapping[str, Any] | None = None) -> Any:
    """What `model` computes in float64, also where it asks for float32 in between."""
    wide_model = copy.deepcopy(model).double()
    if hasattr(wide_model, "set_experts_implementation"):
        wide_model.set_experts_implementation("eager")  # the grouped product has no float64
    wide_inputs, wide_keywords = tree_map(_doubled, (inputs, dict(keywords or {})))
    with torch.no_grad(), _Float64Throughout():
        return wide_model(*wide_inputs, **wide_keywords)


def _doubled(value: Any) -> Any:
    return value.double() if isinstance(value, Tensor) and value.is_floating_point() else value


def relative_error(actual: Tensor, reference: Tensor) -> float:
    """The norm of the difference over the norm of the reference, in float64; infinite where shapes or NaNs differ."""
    if actual.shape != reference.shape:
        return math.inf
    wide = reference.double()
    error = float((actual.double() - wide).norm() / wide.norm())
    return error if math.isfinite(error) else math.inf


# -- memory ------------------------------------------------------------------------------------------------------------


@dataclass
class _LiveStorages(TorchDispatchMode):
    """Sums, after every operation, the bytes of the storages made since the start that still live."""

    known: set[int]
    live: dict[int, tuple[StorageWeakRef, int]] = field(default_factory=dict)
    peak_bytes: int = 0

    def __post_init__(self) -> None:
        super().__init__()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        results = func(*args, **(kwargs or {}))
        for result in tree_leaves(results):
            if isinstance(result, Tensor):
                storage = result.untyped_storage()
                reference = StorageWeakRef(storage)
                if reference.cdata not in self.known:
                    self.live[reference.cdata] = (reference, storage.nbytes())
        self.live = {key: entry for key, entry in self.live.items() if not entry[0].expired()}
        self.peak_bytes = max(self.peak_bytes, sum(size for _, size in self.live.values()))
        return results


def eager_peak_bytes(model: nn.Module, inputs: tuple[Tensor, ...]) -> int:
    """The most bytes of activations alive at once while eager PyTorch runs `model`.

    Counted are the storages of tensors that operations make; weights, buffers and inputs are not, nor is scratch space
    inside an operation.
    """
    gc.collect()
    given = [*model.parameters(), *model.buffers(), *inputs]
    tracker = _LiveStorages({StorageWeakRef(tensor.untyped_storage()).cdata for tensor in given})
    with torch.no_grad(), tracker:
        model(*inputs)
    return tracker.peak_bytes
