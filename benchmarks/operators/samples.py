"""What is checked: the samples of torch.testing's OpInfo database, each as an nn.Module of its tensors.

A sample of an op is an input, arguments and keyword arguments that PyTorch's own tests call the op with. Its tensors
become the inputs of a module, all else constants of it: what a user writes as `forward`.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch.utils import _pytree as pytree

DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.bool,
        torch.float64, torch.int32, torch.int16, torch.int8, torch.uint8,
    )
}  # fmt: skip
DEFAULT_DTYPES = ("float32", "float16", "bfloat16", "int64", "bool")

BACKWARD_ONLY = "backward"
"""Ops with this in their names compute gradients: inference has none."""

JITERATED = "jiterator"
"""Ops with this in their names compile CUDA source text."""

UNINITIALIZED = ("empty", "empty_like", "new_empty", "empty_strided", "new_empty_strided", "empty_permuted", "resize_",
                 "resize_as_")  # fmt: skip
"""Ops that give memory as they find it: shape and dtype are all that can be compared."""

PICKS_AMONG_EQUALS = ("topk", "kthvalue", "median", "nanmedian", "mode", "sort", "argsort")
"""Ops that give places of elements: which of several equal ones, PyTorch does not promise."""


@dataclass(frozen=True)
class Sample:
    """One call of an op."""

    op: str
    dtype: str
    number: int
    call: SampleCall
    tensors: tuple[torch.Tensor, ...]


class SampleCall(torch.nn.Module):
    """An op called on tensors, which stand where they stood in the sample; all other arguments are constants."""

    def __init__(self, function: Callable[..., Any], leaves: Sequence[Any], tree: Any) -> None:
        super().__init__()
        self.function = function
        self.leaves = [None if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        self.places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        self.tree = tree

    def forward(self, *tensors: torch.Tensor) -> Any:
        leaves = list(self.leaves)
        for place, tensor in zip(self.places, tensors, strict=True):
            leaves[place] = tensor
        value, args, kwargs = pytree.tree_unflatten(leaves, self.tree)
        return self.function(value, *args, **kwargs)

    def with_dtype(self, source: torch.dtype, target: torch.dtype) -> SampleCall:
        """The same call, asking for another dtype where it asks for `source`."""
        changed = SampleCall(self.function, [], self.tree)
        changed.leaves = [target if leaf is source else leaf for leaf in self.leaves]
        changed.places = self.places
        return changed


@lru_cache(maxsize=1)
def database() -> dict[str, Any]:
    """PyTorch's OpInfo records by full name (`nn.functional.pad.reflect`), without backward ops and CUDA texts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal.common_methods_invocations import op_db
    return {op.full_name: op for op in op_db if BACKWARD_ONLY not in op.name and JITERATED not in op.name}


def dtypes_of(op: str, wanted: Sequence[str]) -> list[str]:
    """The dtypes among `wanted` that the op lists."""
    return [name for name in wanted if DTYPES[name] in database()[op].dtypes]


def samples(op: str, dtype: str) -> Iterator[Sample]:
    """The samples of an op for a dtype: the same ones, with the same values, each time."""
    record = database()[op]
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)
    for number, sample in enumerate(record.sample_inputs("cpu", DTYPES[dtype], requires_grad=False)):
        leaves, tree = pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
        tensors = tuple(leaf for leaf in leaves if isinstance(leaf, torch.Tensor))
        yield Sample(op, dtype, number, SampleCall(record.op, leaves, tree), tensors)
