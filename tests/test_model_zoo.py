"""The benchmark models compute something, the same each time, and torch.export takes them."""

from __future__ import annotations

import io

import pytest
import torch
from rich.console import Console

from benchmarks.comparison import Comparison
from benchmarks.measure import eager_peak_bytes, float64_reference, interleaved, relative_error
from benchmarks.models import MODELS
from benchmarks.report import comparison_table


@pytest.mark.parametrize("name", MODELS)
def test_tiny_model_is_healthy_and_exports(name: str) -> None:
    model, inputs = MODELS[name].load(tiny=True)
    with torch.no_grad():
        output = model(*inputs)
    assert output.isfinite().all()
    assert 0.1 < output.std() < 10.0
    assert relative_error(output, float64_reference(model, inputs)) < 1e-3
    exported = torch.export.export(model, inputs, strict=False)
    assert relative_error(exported.module()(*inputs), output) < 1e-5


def test_same_seed_gives_the_same_model_and_inputs() -> None:
    first, second = (MODELS["mobilenet_v2"].load(tiny=True, seed=3) for _ in range(2))
    assert torch.equal(first[1][0], second[1][0])
    assert torch.equal(first[0](*first[1]), second[0](*second[1]))


def test_peak_counts_what_lives_at_once() -> None:
    class Doubling(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = x + 1.0
            z = y * y
            del y
            return z.exp()

    assert eager_peak_bytes(Doubling(), (torch.zeros(1000),)) == 2 * 4000


def test_reference_stays_in_float64_where_the_model_casts() -> None:
    class Casting(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.to(torch.float32) / 3.0

    reference = float64_reference(Casting(), (torch.ones(4),))
    assert reference.dtype == torch.float64
    assert torch.equal(reference, torch.full((4,), 1.0 / 3.0, dtype=torch.float64))


def test_ratio_is_taken_round_by_round() -> None:
    data = torch.randn(200, 200)
    timings = interleaved({"one": lambda: data @ data, "two": lambda: (data @ data, data @ data)}, seconds=0.1)
    assert timings["one"].ratio_to(timings["one"]) == 1.0
    assert len(timings["one"].rounds) == len(timings["two"].rounds)


def test_comparison_table_fits_a_terminal() -> None:
    rows = [
        Comparison(
            name, MODELS[name].title, 1.0, 99.99, 999.9, 999.9, 999.9, 999.9, 0.75, 1e-6, 1e-6, 50 << 20, 90 << 20, {}
        )
        for name in MODELS
    ]
    narrow = Console(width=80, file=io.StringIO(), force_terminal=False)
    narrow.print(comparison_table(rows))
    assert isinstance(narrow.file, io.StringIO)
    assert "…" not in narrow.file.getvalue()
    assert "geometric mean" in narrow.file.getvalue()
