"""Every program of `mutation_programs`, through every front end, against eager PyTorch."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

import cuvil
from tests.mutation_programs import PROGRAMS, Program, compare


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
    with torch.no_grad():
        compare(case, lambda *args: compiled(*first, *args), model)
