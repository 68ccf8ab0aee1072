"""A fixed-seed slice of the random programs: eager PyTorch, the interpreter and native code agree on every one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.program_properties import run_chunk
from tests.programs.rounding import disagreement, samples

CHUNKS = 4
PROGRAMS = 60


@pytest.mark.parametrize("number", range(CHUNKS))
def test_random_programs(number: int) -> None:
    result = run_chunk(seed=0, number=number, size=PROGRAMS)
    assert not result.failures, "\n\n".join(failure["script"] for failure in result.failures)
    assert result.agreed > PROGRAMS * 0.8, result.refusals


def test_same_seed_same_programs() -> None:
    first, second = (run_chunk(seed=7, number=0, size=3) for _ in range(2))
    assert first.hashes == second.hashes


def agrees(function: Callable[..., Tensor], result: Tensor, *inputs: Any) -> bool:
    """Whether a result passes for that of a function."""
    others, touched = samples(lambda: [function(*inputs)], seed=0)
    return disagreement(result, function(*inputs), [each[0] for each in others], touched[0]) is None


def test_tolerance_follows_conditioning() -> None:
    x = torch.tensor([1e4, 1.0, -1e4]) * 1.1
    assert agrees(torch.sum, x.sum() + 1e-3, x)  # cancelled: the digits are gone
    y = torch.tensor([1.0, 2.0, 3.0]) * 1.1
    assert not agrees(torch.sum, y.sum() + 1e-3, y)


def test_what_nothing_rounds_is_exact() -> None:
    x = torch.tensor([0.0, 1.0])
    assert agrees(torch.Tensor.flip, x.flip(0), x, (0,))
    assert not agrees(torch.relu, torch.tensor([-0.0, 1.0]), x)
    assert not agrees(torch.relu, torch.tensor([0.0, 1.0000001]), x)
    assert not agrees(torch.add, torch.tensor([4, 7]), torch.tensor([2, 3]), 2)


def test_branches_on_rounded_values_are_unstable_only_near_the_threshold() -> None:
    def branched(x: Tensor) -> Tensor:
        return x.exp() if x.exp().sum() > 0.3 + float(torch.tensor(0.1).exp()) else -x

    far = torch.tensor([0.1, 5.0])
    assert not agrees(branched, -far, far)
    near = torch.tensor([0.1, float(torch.log(torch.tensor(0.3)))])
    assert agrees(branched, -near, near) or agrees(branched, near.exp(), near)
