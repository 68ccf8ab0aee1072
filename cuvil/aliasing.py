"""How the tensors of a call lie in memory: their strides, and which of them overlap.

A program that changes tensors, or gives views of them, is compiled for one `Layout` of those that it is given: where
elements lie decides what a change shows in, and whether `reshape` gives a view. A call with another layout needs other
code. Contiguous tensors that share nothing are the common case, told quickly.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import torch
from torch import Tensor

from cuvil.write_back import AliasingError

Layout: TypeAlias = "tuple[tuple[int, ...] | None, ...]"
Overlap: TypeAlias = "tuple[tuple[Any, int], ...]"
"""Tensors that overlap: which ones (a place or a name), and where each starts, in bytes from the start of the first."""
Span: TypeAlias = tuple[int, int, Any]
"""The addresses of a tensor's first byte and of the one after its last, and which tensor."""


def layout_of(tensors: Iterable[Tensor]) -> Layout:
    """The strides of each tensor, of dims with more than one place; None of a contiguous one."""
    return tuple([None if tensor.is_contiguous() else _strides(tensor) for tensor in tensors])


def _strides(tensor: Tensor) -> tuple[int, ...]:
    return tuple(step if size > 1 else 0 for size, step in zip(tensor.shape, tensor.stride(), strict=True))


class Held:
    """Tensors that stay where they are, by name: the weights that a program was compiled with."""

    def __init__(self, tensors: Iterable[tuple[str, Tensor]] = ()) -> None:
        self.spans = sorted(_span(tensor, name) for name, tensor in tensors if tensor.numel())
        self._ends = [end for _, end, _ in self.spans]

    def near(self, start: int, end: int) -> list[Span]:
        """Those that overlap a run of memory, each weight's memory being its own."""
        found: list[Span] = []
        for place in range(bisect_left(self._ends, start + 1), len(self.spans)):
            if self.spans[place][0] >= end:
                break
            found.append(self.spans[place])
        return found


def overlaps(tensors: Sequence[Tensor], written: Iterable[int], held: Held) -> tuple[Overlap, ...]:
    """The groups of tensors whose memory overlaps that of a written one.

    Two tensors overlap if the runs of memory that they lie in do, elements between theirs included.
    """
    changed = [_span(tensors[place], place) for place in written]
    spans = [_span(tensor, place) for place, tensor in enumerate(tensors)] if len(tensors) > 1 else changed
    near = [span for start, end, _ in changed for span in held.near(start, end)] if held.spans else []
    if not near and not _any_overlap(changed, spans):
        return ()
    spans = sorted((span for span in {*spans, *near} if span[0] < span[1]), key=lambda span: (*span[:2], str(span[2])))
    groups: list[list[Span]] = []
    reached = -1
    for span in spans:
        if span[0] < reached:
            groups[-1].append(span)
        else:
            groups.append([span])
        reached = max(reached, span[1])
    changing = {place for *_, place in changed}
    found = [group for group in groups if len(group) > 1 and any(key in changing for *_, key in group)]
    return tuple(tuple((key, start - group[0][0]) for start, _, key in group) for group in found)


def _any_overlap(changed: Sequence[Span], spans: Sequence[Span]) -> bool:
    for start, end, place in changed:
        for first, stop, other in spans:
            if start < stop and first < end and place != other:
                return True
    return False


def _span(tensor: Tensor, key: Any) -> Span:
    start = tensor.data_ptr()
    if tensor.is_contiguous():
        return start, start + tensor.nbytes, key
    if not tensor.numel():
        return start, start, key
    last = sum((size - 1) * step for size, step in zip(tensor.shape, tensor.stride(), strict=True))
    return start, start + (last + 1) * tensor.element_size(), key


def storage_address(tensor: Tensor) -> int:
    """Where the memory begins that a tensor lies in; 0 of one without memory."""
    try:
        return tensor.untyped_storage().data_ptr()
    except (NotImplementedError, RuntimeError):  # sparse tensors, and those of torch's transforms
        return 0


def apart(tensor: Tensor) -> Tensor:
    """A tensor of the same type and strides, with memory of its own."""
    made = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device)
    return made.copy_(tensor.detach()) if 0 not in tensor.stride() else made


def on_one_storage(tensors: Sequence[Tensor], groups: Iterable[Overlap], names: Sequence[str]) -> list[Tensor]:
    """The tensors, with those of a group on one storage: NumPy's arrays come with one each.

    Raises `AliasingError` where no storage reaches over all of a group, or dtypes differ.
    """
    made = list(tensors)
    for group in groups:
        places = [key for key, _ in group if isinstance(key, int) and key < len(tensors)]
        shown = ", ".join(f"'{names[place]}'" for place in places)
        if len({tensors[place].dtype for place in places}) > 1:
            raise AliasingError(f"{shown} share memory that is changed, and are of different dtypes; pass copies")
        # NumPy gives each array a storage of its own, on the same memory.
        if len({tensors[place].untyped_storage()._cdata for place in places}) < 2:  # pyright: ignore
            continue
        base = max((tensors[place] for place in places), key=lambda tensor: tensor.untyped_storage().nbytes())
        first = base.untyped_storage().data_ptr()
        end_of_storage = first + base.untyped_storage().nbytes()
        for place in places:
            each = tensors[place]
            start, end, _ = _span(each, place)
            behind, rest = divmod(start - first, each.element_size())
            if start < first or end > end_of_storage or rest:
                raise AliasingError(f"{shown} overlap in memory that is changed, as no tensors can; pass copies")
            made[place] = torch.as_strided(base, each.shape, each.stride(), behind)
    return made


__all__ = ["Held", "Layout", "Overlap", "apart", "layout_of", "on_one_storage", "overlaps", "storage_address"]
