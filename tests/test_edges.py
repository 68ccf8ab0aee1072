"""Small programs at the edges of operators, as functions and as models, held against eager PyTorch."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import cuvil
from tests.mutation_table import compare_call

Case = tuple[Callable[..., Any], tuple[Tensor, ...]]


def windows_of_changed(x: Tensor) -> Tensor:
    y = x.unfold(1, 2, 1)  # elements in two windows
    x.add_(1)
    return y


def floor_division(x: Tensor) -> Tensor:
    x //= 3
    return x


def shifts(x: Tensor) -> Tensor:
    x <<= 1
    x >>= 2
    return x


def powers(x: Tensor) -> Tensor:
    x **= 2
    x.pow_(x % 3)
    return x


def running_extremes(x: Tensor) -> list[Tensor]:
    return [*x.cummax(0), *x.cummin(0)]


def signs_of_running_extremes(x: Tensor) -> list[Tensor]:
    return [torch.copysign(torch.ones(4), part.values) for part in (x.cummax(0), x.cummin(0))]


ZEROS = torch.tensor([0.0, -0.0, 0.0, -0.0])
CASES: list[Case] = [
    (windows_of_changed, (torch.arange(12.0).reshape(3, 4),)),
    (floor_division, (torch.arange(-6, 6),)),
    (floor_division, (torch.arange(-6.0, 6.0),)),
    (shifts, (torch.arange(-6, 6, dtype=torch.int8) * 20,)),
    (powers, (torch.arange(-6, 6),)),
    (running_extremes, (ZEROS,)),
    (signs_of_running_extremes, (ZEROS,)),
]


class Called(nn.Module):
    """A function as a model."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *arguments: Tensor) -> Any:
        return self.function(*arguments)


@pytest.mark.parametrize("door", ["source", "export"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_edges(case: Case, door: str) -> None:
    function, arguments = case
    given, eager = copy.deepcopy(arguments), copy.deepcopy(arguments)
    compiled = cuvil.compile(function) if door == "source" else cuvil.compile(Called(function), arguments)
    compare_call(function(*eager), compiled(*given), eager, given)


@pytest.mark.parametrize("place", [3, -4, 1 << 40, -(1 << 62)])
def test_no_index_reaches_other_memory(place: int) -> None:
    class Reads(nn.Module):
        def forward(self, x: Tensor, places: Tensor) -> list[Tensor]:
            one = torch.tensor([1.0])
            return [
                x[places],
                x.index_select(0, places.reshape(1)[:1]),
                x.index_put((places,), one),
                x[x.long(), places],
            ]

    x = torch.ones(3, 3)
    results = cuvil.compile(Reads(), (x.clone(), torch.tensor([1])))(x.clone(), torch.tensor([place]))
    assert all(bool((result == 1).all()) for result in results)


@pytest.mark.parametrize("door", ["export", "dynamo"])
def test_a_place_that_a_tensor_tells(door: str) -> None:
    def rows(x: Tensor, place: Tensor) -> list[Tensor]:
        return [x[place], x[:, place] * 2, x[..., place], x[place, place]]

    x, place = torch.arange(12.0).reshape(3, 4), torch.tensor(1)
    model: Any = Called(rows)
    compiled: Any = cuvil.compile(model, (x, place)) if door == "export" else torch.compile(model, backend="cuvil")
    for other in (1, 2, -1):
        torch.testing.assert_close(compiled(x, torch.tensor(other)), rows(x, torch.tensor(other)))


def test_indices_of_nothing_are_not_looked_at() -> None:
    def picked(x: torch.Tensor) -> torch.Tensor:
        return x[:, [-8]]

    x = torch.zeros(8, 2, 0)
    for target in ("cpu", "interpreter"):
        assert cuvil.compile(picked, target=target)(x).shape == picked(x).shape
