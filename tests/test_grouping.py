"""Products of grouped rows, histograms and scatters under a mask give what eager PyTorch gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers.integrations import moe

import cuvil
from cuvil.errors import UnsupportedError


class Function(nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Tensor) -> Any:
        return self.function(*args)


def check(function: Callable[..., Any], *args: Tensor) -> None:
    model = Function(function)
    actual = cuvil.compile(model, args, options={"threads": 1})(*args)
    torch.testing.assert_close(actual, model(*args), equal_nan=True)


OFFSETS = ([3, 3, 7, 9], [0, 0, 0, 9], [9, 9, 9, 9], [1, 2, 3, 4])
"""Of four groups: one is empty, all but the last are, all but the first are, rows are left over."""


@pytest.mark.parametrize("offsets", OFFSETS, ids=str)
@pytest.mark.parametrize("rows", [3, 9], ids=["few", "many"])
def test_rows_are_multiplied_by_the_matrix_of_their_group(offsets: list[int], rows: int) -> None:
    offs = torch.tensor(offsets, dtype=torch.int32).clamp(max=rows)
    x, weights = torch.randn(rows, 8), torch.randn(4, 8, 5)
    assert moe.__name__  # its import defines the op
    check(torch.ops.transformers.grouped_mm_fallback, x, weights, offs)


@pytest.mark.parametrize("is_transposed", [False, True])
def test_grouped_product_of_torch(is_transposed: bool) -> None:
    offs = torch.tensor(OFFSETS[0], dtype=torch.int32)
    x, weights = torch.randn(9, 8).bfloat16(), torch.randn(4, *((16, 8) if is_transposed else (8, 16))).bfloat16()
    check(lambda x, w, offs: F.grouped_mm(x, w.mT if is_transposed else w, offs=offs), x, weights, offs)


def test_grouped_product_without_offsets_is_one_of_stacks() -> None:
    check(F.grouped_mm, torch.randn(4, 3, 8).bfloat16(), torch.randn(4, 8, 16).bfloat16())


def test_histogram_counts_boundaries_and_leaves_out_what_is_beyond() -> None:
    x = torch.tensor([0.0, 1, 2, 3, 3, 1, 4, -1, float("nan"), float("inf"), 2.9, 0.75, 1.5, 2.25])
    check(lambda x: torch.histc(x, 4, 0, 3), x)
    check(lambda x: torch.histc(x, 7, -1, 2), torch.randn(1000))
    check(lambda x: torch.histc(x, 10, -1, 2), torch.randn(10, 100).double())


def test_histogram_over_the_range_of_the_data_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="give min and max"):
        cuvil.compile(Function(lambda x: torch.histc(x, 4)), (torch.randn(5),))


def test_masked_scatter_takes_elements_in_order() -> None:
    check(torch.Tensor.masked_scatter, torch.zeros(3, 4), torch.rand(3, 4) > 0.5, torch.randn(12))
    check(torch.Tensor.masked_scatter, torch.zeros(3, 4), torch.tensor([[True], [False], [True]]), torch.randn(2, 4))


def test_truth_of_all_elements() -> None:
    for values in ([True, False], [True, True], [False, False]):
        check(lambda x: (torch._is_all_true(x), torch._is_any_true(x)), torch.tensor(values))
