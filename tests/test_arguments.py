"""What a compiled model is called with: every kind of tensor and array is taken rightly or refused, and kept apart."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode

import cuvil
from cuvil.arguments import ArgumentError
from cuvil.compiled_module import CompiledModule
from cuvil.errors import UserError


class Function(nn.Module):
    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


def compiled(function: Any, *inputs: Any) -> CompiledModule:
    return cuvil.compile(Function(function), inputs)


@pytest.fixture(scope="module")
def linear() -> tuple[nn.Module, Tensor, CompiledModule]:
    torch.manual_seed(0)
    model, x = nn.Sequential(nn.Linear(6, 8), nn.ReLU()).eval().requires_grad_(False), torch.randn(4, 6)
    return model, x, cuvil.compile(model, (x,))


def _read_only(x: Tensor) -> Any:
    array = x.numpy().copy()
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    "same",
    [
        lambda x: torch.complex(x, -x).conj().imag,
        lambda x: x.numpy().astype(">f4"),
        lambda x: np.ascontiguousarray(x.numpy()[::-1])[::-1],
        lambda x: np.asfortranarray(x.numpy()),
        lambda x: x.as_subclass(type("Named", (Tensor,), {})),
        lambda x: x.clone().requires_grad_(),
        _read_only,
    ],
)
def test_the_same_values_in_another_form(
    linear: tuple[nn.Module, Tensor, CompiledModule], same: Callable[[Tensor], Any]
) -> None:
    model, x, run = linear
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.testing.assert_close(run(same(x)), model(x))


def test_overlapping_memory(linear: tuple[nn.Module, Tensor, CompiledModule]) -> None:
    model, x, run = linear
    for view in (x[:1].expand(4, 6), torch.as_strided(x, (4, 6), (1, 1)), torch.as_strided(x, (4, 6), (0, 0))):
        torch.testing.assert_close(run(view), model(view))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("other", "message"),
    [
        (lambda x: x.to_sparse_csr(), r"on cpu \(torch.sparse_csr\)"),
        (lambda x: x.to_mkldnn(), r"on cpu \(torch._mkldnn\)"),
        (lambda x: torch.nested.nested_tensor([x[:2], x[2:]]), "a nested tensor of float32"),
        (lambda x: FakeTensorMode().from_tensor(x), "a FakeTensor"),
        (lambda x: x.numpy().astype(object), "a NumPy array of object"),
        (lambda x: x.numpy().astype("U"), "a NumPy array of <U32"),
        (lambda x: np.ma.masked_array(x.numpy()), "got a masked NumPy array"),
    ],
)
def test_what_is_not_a_plain_tensor_is_refused(
    linear: tuple[nn.Module, Tensor, CompiledModule], other: Callable[[Tensor], Any], message: str
) -> None:
    with pytest.raises(ArgumentError, match=message):
        linear[2](other(linear[1]))


def test_transforms_of_torch_are_refused(linear: tuple[nn.Module, Tensor, CompiledModule]) -> None:
    _, x, run = linear
    with pytest.raises(ArgumentError, match="vmap"):
        torch.vmap(run)(x.expand(2, 4, 6))
    with pytest.raises(ArgumentError), FakeTensorMode():
        run(x)


def test_default_device_and_dtype_of_torch_are_not_the_models(linear: tuple[nn.Module, Tensor, CompiledModule]) -> None:
    model, x, run = linear
    with torch.device("meta"):
        result = run(x)
        again = cuvil.compile(model, (x,))(x)
    torch.testing.assert_close(result, model(x))
    torch.testing.assert_close(again, model(x))


def test_positional_arguments_by_name(linear: tuple[nn.Module, Tensor, CompiledModule]) -> None:
    model, x, run = linear
    torch.testing.assert_close(run(input=x), model(x))
    with pytest.raises(ArgumentError, match=r"unexpected keyword argument 'inputs'; expected input$"):
        run(inputs=x)
    with pytest.raises(ArgumentError, match="unexpected keyword argument 'input'"):
        run(x, input=x)


def test_keyword_arguments_by_position_are_refused_in_words() -> None:
    x = torch.randn(3)
    run = cuvil.compile(Function(lambda x, *, y: x - y), (x,), kwargs={"y": x})
    with pytest.raises(ArgumentError, match="missing keyword argument 'y'"):
        run(x, x)
    with pytest.raises(ArgumentError, match=r"expected 1 positional arguments \(args_0, y\), got 2"):
        run(x, x, y=x)


@pytest.mark.parametrize("value", [3.0, True, torch.tensor(3), torch.ones(2), np.int64(3), "3"])
def test_constants_are_of_their_type(value: Any) -> None:
    x = torch.arange(4)
    run = compiled(lambda x, scale: x * scale, x, 3)
    with pytest.raises(ArgumentError, match="compiled for 3 only"):
        run(x, value)
    torch.testing.assert_close(run(x, 3), x * 3)


def test_a_constant_that_is_not_a_number() -> None:
    run = compiled(lambda x, scale: x * scale, torch.ones(2), float("nan"))
    assert bool(run(torch.ones(2), float("nan")).isnan().all())


def test_examples_that_are_one_tensor_are_two_inputs() -> None:
    x = torch.randn(3)
    run = compiled(lambda x, y: x - 2 * y, x, x)
    torch.testing.assert_close(run(x, x + 1), x - 2 * (x + 1))


# -- results and weights are nobody else's ----------------------------------------------------------------------------


def test_computed_results_are_new_at_each_call() -> None:
    x = torch.randn(2, 2)
    run = compiled(lambda x: ((y := x + 1), y, y.t(), x * 2), x)
    first, same, view, other = run(x)
    assert first is same
    assert view.data_ptr() == first.data_ptr()
    expected = [each.clone() for each in (first, same, view, other)]
    for result in (first, other):
        result.fill_(7)
    assert view.eq(7).all()
    for result, value in zip(run(x), expected, strict=True):
        torch.testing.assert_close(result, value)


@pytest.mark.parametrize("target", ["cpu", "interpreter"])
def test_weights_are_as_they_were_when_compiled(target: str) -> None:
    model = nn.Sequential(nn.Embedding(5, 8), nn.LayerNorm(8), nn.Linear(8, 8)).eval()
    x = torch.tensor([[1, 2, 3]])
    run = cuvil.compile(model, (x,), target=target)
    before = run(x)
    with torch.no_grad():
        for weight in model.parameters():
            weight.zero_()
    assert torch.equal(run(x), before)


def test_copies_share_the_code_and_pickles_are_refused(linear: tuple[nn.Module, Tensor, CompiledModule]) -> None:
    model, x, run = linear
    torch.testing.assert_close(copy.deepcopy({"run": run})["run"](x), model(x))
    with pytest.raises(UserError, match="cannot be pickled"):
        pickle.dumps(run)


# -- constants --------------------------------------------------------------------------------------------------------


def test_constants_of_equal_numbers_that_differ() -> None:
    zeros = torch.tensor([0.0, -0.0, 0.0])
    run = compiled(lambda x: (zeros * 1, torch.full((2,), float("nan")), x + zeros), torch.ones(3))
    result, nans, _ = run(torch.ones(3))
    assert result.signbit().tolist() == [False, True, False]
    assert bool(nans.isnan().all())


def test_numbers_that_wrap() -> None:
    x = torch.arange(4, dtype=torch.uint8)
    run = compiled(lambda x: (x // -7, x % -7, x == -1), x)
    for result, expected in zip(run(x), (x // -7, x % -7, x == -1), strict=True):
        assert torch.equal(result, expected)
