"""The operator surface: a fixed part of PyTorch's OpInfo database through native code, and the page that shows it."""

from __future__ import annotations

import json

import pytest
import torch

import cuvil
from benchmarks.operators.checking import Outcome, check, float_difference
from benchmarks.operators.page import PAGE, RESULT_FILE, page, read_results
from benchmarks.operators.report import Results, standing
from benchmarks.operators.samples import dtypes_of, samples
from cuvil.errors import UnsupportedError

EVERY = 12
"""Of the operators that passed when the results were committed, one in so many is checked here."""

ALWAYS = {
    "median": "int64", "cummax": "float32", "searchsorted": "float32", "scatter_add": "bool", "kthvalue": "float32",
    "nn.functional.max_pool2d": "float32", "native_layer_norm": "float32", "lgamma": "float32", "erfinv": "float32",
    "scatter_reduce.mean": "int64", "diagonal_scatter": "float32", "cdist": "float32", "polar": "float32",
    "nn.functional.soft_margin_loss": "float16", "torch.ops.aten._safe_softmax.default": "float32",
}  # fmt: skip


def _fixed_part() -> list[tuple[str, str]]:
    results = json.loads(RESULT_FILE.read_text())["results"][0]
    passed = [name for name, record in results["operators"].items() if record["standing"] == "passed"]
    return [*((name, "float32") for name in passed[::EVERY]), *ALWAYS.items()]


@pytest.mark.parametrize(("op", "dtype"), _fixed_part())
def test_no_sample_is_wrong_and_what_passed_passes(op: str, dtype: str) -> None:
    name = dtype if dtypes_of(op, [dtype]) else dtypes_of(op, ["float64", "int64", "bool"])[0]
    for sample in [*samples(op, name)][:2]:
        verdict = check(sample)
        if verdict is not None:
            wanted = Outcome.EXCLUDED if op == "polar" else Outcome.PASSED
            assert verdict.outcome == wanted, f"sample {sample.number}: {verdict.reason}"


def test_the_page_is_that_of_the_results() -> None:
    assert PAGE.read_text() == page(read_results()), "run `python -m benchmarks.operators --page`"


def test_nothing_is_wrong_in_the_results() -> None:
    results = read_results()
    assert results["samples"].get("wrong", 0) == 0
    assert results["share_passed"] >= 0.85


def test_errors_beyond_eagers_are_told() -> None:
    exact = torch.ones(4, dtype=torch.float64)
    assert float_difference(exact.float(), exact.float() * (1 + 1e-7), exact) is None
    assert "error" in str(float_difference(exact.float(), exact.float() * 1.0001, exact))
    infinite = torch.tensor([1.0, float("inf")])
    assert "elsewhere" in str(float_difference(torch.ones(2), infinite, None))


def test_an_op_with_a_refused_sample_is_counted_in_part() -> None:
    results = Results()
    results.add({"op": "add", "dtype": "float32", "outcomes": {"passed": 2}, "reasons": {}, "wrong": []})
    results.add({"op": "add", "dtype": "bool", "outcomes": {"refused": 1}, "reasons": {}, "wrong": []})
    assert standing(results.by_op()["add"]) == "partly"
    assert results.samples() == {"passed": 2, "refused": 1}


class _Recurrent(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.LSTM(3, 4, num_layers=2, bidirectional=True, dropout=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x)[0]


def test_an_lstm_comes_apart_into_steps() -> None:
    model, x = _Recurrent().eval(), torch.randn(5, 2, 3)
    torch.testing.assert_close(cuvil.compile(model, (x,))(x), model(x).detach())


class _Random(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.rand_like(x)


def test_random_numbers_are_refused_by_name() -> None:
    with pytest.raises(UnsupportedError, match=r"aten\.rand_like.*random numbers"):
        cuvil.compile(_Random().eval(), (torch.ones(2),))
