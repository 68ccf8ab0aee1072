"""Programs that change tensors (`mutation_programs`, `mutation_control_programs`), through every front end."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import cuvil
from cuvil.instrument.warnings import CuvilWarning
from tests import mutation_control_programs, mutation_programs
from tests.mutation_table import Program, compare, compare_call

PROGRAMS = [*mutation_programs.PROGRAMS, *mutation_control_programs.PROGRAMS]


class Called(nn.Module):
    """A function as a module, with the module that it takes."""

    def __init__(self, case: Program, model: nn.Module | None) -> None:
        super().__init__()
        self.function = case.function
        self.model = model

    def forward(self, *args: Any) -> Any:
        return self.function(*([] if self.model is None else [self.model]), *args)


def through(door: str) -> Any:
    return pytest.mark.parametrize(
        "case", [pytest.param(case, id=case.name) for case in PROGRAMS if door in case.doors]
    )


def test_there_are_many() -> None:
    assert len({case.name for case in PROGRAMS}) == len(PROGRAMS) >= 60


@through("export")
def test_exported(case: Program) -> None:
    model = case.model() if case.model is not None else None
    called = Called(case, model)
    called.train(model is not None and model.training)
    compiled = cuvil.compile(called, case.arguments())
    compare(case, compiled, model, calls=3)


@through("source")
def test_source(case: Program) -> None:
    model = case.model() if case.model is not None else None
    compiled = cuvil.compile(case.function)  # pyright: ignore
    first = [] if model is None else [model]
    compare(case, lambda *args: compiled(*first, *args), model)


@through("dynamo")
def test_dynamo(case: Program) -> None:
    model = case.model() if case.model is not None else None
    torch._dynamo.reset()  # pyright: ignore
    compiled = torch.compile(case.function, backend="cuvil")
    first = [] if model is None else [model]
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("error", CuvilWarning)  # nothing is left to PyTorch
        compare(case, lambda *args: compiled(*first, *args), model)


# -- exported programs: other arguments than the example's ------------------------------------------------------------


class Function(nn.Module):
    def __init__(self, function: Callable[..., Any], **buffers: torch.Tensor) -> None:
        super().__init__()
        self.function = function
        for name, value in buffers.items():
            self.register_buffer(name, value)

    def forward(self, *args: Any) -> Any:
        return self.function(self, *args)


def exported(function: Callable[..., Any], *example: torch.Tensor, **buffers: torch.Tensor) -> Any:
    return cuvil.compile(Function(function, **buffers), example)


def add_one(x: Any) -> Any:
    return x.add_(1)


def keep_sum(x: Any, seen: dict[str, Any]) -> Any:
    seen["sum"] = x + seen["start"]
    x *= -1
    return seen


def double_first(x: Any, y: Any) -> Any:
    x.mul_(2)
    return y + 0


@pytest.mark.parametrize("door", ["model", "function"])
@pytest.mark.parametrize("kind", ["plain", "reversed", "big-endian", "column", "field"])
def test_arrays_change(kind: str, door: str) -> None:
    run = exported(lambda m, x: add_one(x), torch.zeros(3, 4)) if door == "model" else cuvil.compile(add_one)
    array: Any = np.zeros((3, 4), ">f4" if kind == "big-endian" else np.float32)
    others = {
        "reversed": array[:, ::-1],
        "column": np.zeros((3, 8), np.float32)[:, ::2],
        "field": np.zeros((3, 4), [("a", "f4"), ("b", "i2")])["a"],
    }
    array = others.get(kind, array)
    result = run(array)
    assert (array == 1).all()
    assert np.shares_memory(result.numpy(), array) == (kind in ("plain", "column"))


def test_a_read_only_array_is_refused() -> None:
    run = exported(lambda m, x: x.add_(1), torch.zeros(3))
    array = np.zeros(3, np.float32)
    array.flags.writeable = False
    with pytest.raises(cuvil.CuvilError, match="read-only array, and the model changes it"):
        run(array)
    assert (array == 0).all()
    with pytest.raises(cuvil.CuvilError, match="read-only array, and the function changes it"):
        cuvil.compile(add_one)(array)
    assert (array == 0).all()


def test_containers_with_arrays_change() -> None:
    array, seen = np.zeros(3)[::-1], {"start": np.ones(3)}
    assert cuvil.compile(keep_sum)(array, seen) is seen
    assert seen["sum"].tolist() == [1, 1, 1]
    assert np.signbit(array).all()  # zeros that only their signs tell apart


@pytest.mark.parametrize("door", ["model", "function"])
def test_arrays_that_overlap_where_torch_cannot_have_them_are_refused(door: str) -> None:
    example = torch.zeros(6)
    is_model = door == "model"
    run = exported(lambda m, x, y: double_first(x, y), example, example) if is_model else cuvil.compile(double_first)
    array = np.arange(8, dtype=np.float32)[::-1]
    with pytest.raises(cuvil.CuvilError, match="shares memory with another one"):
        run(array[:6], array[2:])
    assert array.tolist() == [7, 6, 5, 4, 3, 2, 1, 0]


def test_arrays_that_overlap() -> None:
    def function(m: Any, x: Any, y: Any) -> Any:
        x.mul_(2)
        return y + 0, x

    run = exported(function, torch.zeros(6), torch.zeros(6))
    array, base = np.arange(8, dtype=np.float32), torch.arange(8.0)
    result, same = run(array[:6], array[2:])
    expected, _ = function(None, base[:6], base[2:])
    assert torch.equal(result, expected)
    assert array.tolist() == base.tolist()
    assert np.shares_memory(same.numpy(), array)
    array = np.ones(6, np.float32)
    assert run(array, array)[0].tolist() == [2] * 6


def test_strides_of_the_call_decide() -> None:
    def function(m: Any, x: Any) -> Any:
        y = x.reshape(-1)
        y.add_(1)
        return y

    for first, second in ((torch.zeros(3, 4), torch.zeros(4, 3).t()), (torch.zeros(4, 3).t(), torch.zeros(3, 4))):
        run = exported(function, first.clone())
        for x in (first, second, first):
            twin = x.clone()
            expected = function(None, twin)
            result = run(x)
            assert torch.equal(result, expected)
            assert torch.equal(x, twin)
            assert (result.data_ptr() == x.data_ptr()) == (expected.data_ptr() == twin.data_ptr())
            x.zero_()


def test_elements_that_share_memory_are_refused_as_in_eager() -> None:
    run = exported(lambda m, x: x.add_(1), torch.zeros(3))
    with pytest.raises(Exception, match="more than one element of the written-to tensor"):
        run(torch.zeros(1).expand(3))


def test_arguments_in_the_memory_of_buffers() -> None:
    model = Function(lambda m, x, y: m.sums.add_(x).sum() + m.fixed + y, sums=torch.zeros(3, 4), fixed=torch.ones(4))
    twin = copy.deepcopy(model)
    run = cuvil.compile(model, (torch.zeros(3, 4), torch.zeros(4)))
    for name in ("sums", "fixed"):
        x = torch.ones(3, 4)
        row, other = (
            each.get_buffer("sums")[1] if name == "sums" else each.get_buffer("fixed") for each in (model, twin)
        )
        assert torch.equal(run(x, row), twin(x, other))
        assert torch.equal(model.get_buffer("sums"), twin.get_buffer("sums"))


def test_a_weight_that_is_passed_and_changed() -> None:
    model = Function(lambda m, x: x.add_(1) * m.fixed, fixed=torch.ones(4))
    twin = copy.deepcopy(model)
    run = cuvil.compile(model, (torch.zeros(4),))
    for _ in range(2):
        assert torch.equal(run(model.fixed), twin(twin.fixed))
        assert torch.equal(model.get_buffer("fixed"), twin.get_buffer("fixed"))


def test_buffers_are_read_at_each_call_and_may_be_replaced() -> None:
    model = Function(lambda m, x: m.count.add_(1) * x, count=torch.tensor(0.0))
    run = cuvil.compile(model, (torch.ones(2),))
    assert run(torch.ones(2)).tolist() == [1, 1]
    model.count = torch.tensor(10.0)
    assert run(torch.ones(2)).tolist() == [11, 11]
    model.count = torch.zeros(3)
    with pytest.raises(cuvil.CuvilError, match=r"'count' of the model is torch.float32 \[3\] now"):
        run(torch.ones(2))


def test_overlap_of_different_dtypes_is_refused() -> None:
    run = exported(lambda m, x, y: x.add_(1) + y, torch.zeros(4), torch.zeros(4, dtype=torch.int32))
    x = torch.zeros(4)
    with pytest.raises(cuvil.CuvilError, match="share memory that is changed, and are of different dtypes"):
        run(x, x.view(torch.int32))


def test_plain_programs_are_no_slower() -> None:
    run = exported(lambda m, x, y: x + y, torch.zeros(2), torch.zeros(2))
    assert type(run) is cuvil.CompiledModule


def test_open_sizes() -> None:
    def function(m: Any, x: Any) -> Any:
        m.sums.add_(x.sum(0))
        x.mul_(2)
        return x, x.t(), x[1:], x + m.sums

    model = Function(function, sums=torch.zeros(4))
    twin = copy.deepcopy(model)
    run = cuvil.compile(model, (torch.ones(5, 4),), dynamic_shapes=(({0: cuvil.Dim("rows", min=3, max=64)},),))
    assert model.get_buffer("sums").sum() == 0
    for rows in (5, 3, 64):
        x, other = torch.ones(rows, 4), torch.ones(rows, 4)
        compare_call(twin(other), run(x), (other, twin.get_buffer("sums")), (x, model.get_buffer("sums")))
    with pytest.raises(cuvil.CuvilError, match="have other strides than the example's"):
        run(torch.ones(4, 5).t())
