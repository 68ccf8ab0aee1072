"""Random programs that change tensors in place, as data: drawn by hypothesis, run as torch, and read by front ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor

VIEWS = ("row", "column", "slice", "transpose", "flat", "step", "whole")
CHANGES = ("add", "mul", "fill", "copy", "neg", "relu", "set")


@dataclass(frozen=True)
class Step:
    """One statement: a view of a tensor, a change of one, or a new tensor; `which` and `other` name tensors so far."""

    kind: str
    what: str
    which: int
    other: int
    number: int


@dataclass(frozen=True)
class RandomProgram:
    """Statements, and the tensors that are given back."""

    steps: tuple[Step, ...]
    results: tuple[int, ...]
    arguments: str
    """How the two arguments lie in memory."""

    def __call__(self, x: Tensor, y: Tensor) -> Any:
        return run_steps(self.steps, self.results, x, y)

    def make(self) -> tuple[Tensor, Tensor]:
        """The arguments of a call."""
        base = torch.arange(24.0).reshape(4, 6)
        if self.arguments == "same":
            return base, base
        if self.arguments == "overlapping":
            return base[:3], base[1:]
        if self.arguments == "transposed":
            return base.t(), torch.ones(6, 4)
        if self.arguments == "gaps":
            return base[:, ::2], base.clone()[1:, :3]
        return base, base * 0.5


def run_steps(steps: Any, results: Any, x: Any, y: Any) -> Any:
    """What the statements give; a front end that reads source reads this function and those that it calls."""
    tensors = [x, y]
    for step in steps:
        one, other = tensors[step.which % len(tensors)], tensors[step.other % len(tensors)]
        if step.kind == "view":
            tensors.append(viewed(one, step.what, step.number))
        elif step.kind == "change":
            changed(one, other, step.what, step.number)
        else:
            tensors.append(one * 2 + step.number)
    return tuple([tensors[place % len(tensors)] for place in results])


def viewed(x: Tensor, what: str, number: int) -> Tensor:
    """A view of a tensor."""
    if x.dim() == 0 or what == "whole":
        return x.detach() if what == "whole" else x
    if what == "row":
        return x[number % x.shape[0]]
    if what == "column":
        return x[..., number % x.shape[-1]]
    if what == "slice":
        return x[min(1, x.shape[0] - 1) :]
    if what == "step":
        return x[..., ::2]
    if what == "transpose":
        return x.transpose(0, -1)
    return x.reshape(-1)


def changed(x: Tensor, other: Tensor, what: str, number: int) -> None:
    """Change a tensor in place."""
    if what == "add":
        x.add_(other.sum() * 0.125)
    elif what == "mul":
        x.mul_(number - 2)
    elif what == "fill":
        x.fill_(number)
    elif what == "copy":
        x.copy_(x.flip(0) if x.dim() else x + 1)
    elif what == "neg":
        x.neg_()
    elif what == "relu":
        x.relu_()
    elif x.dim():
        x[..., 0] = number


def programs() -> st.SearchStrategy[RandomProgram]:
    """Programs of a few statements."""
    numbers = st.integers(0, 5)
    steps = st.one_of(
        st.builds(Step, st.just("view"), st.sampled_from(VIEWS), numbers, numbers, numbers),
        st.builds(Step, st.just("change"), st.sampled_from(CHANGES), numbers, numbers, numbers),
        st.builds(Step, st.just("new"), st.just(""), numbers, numbers, numbers),
    )
    return st.builds(
        RandomProgram,
        st.lists(steps, min_size=1, max_size=6).map(tuple),
        st.lists(numbers, max_size=3).map(tuple),
        st.sampled_from(("apart", "apart", "same", "overlapping", "transposed", "gaps")),
    )
