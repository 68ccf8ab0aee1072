"""One random program by eager PyTorch, the interpreter and native code: agreed, refused, or wrong."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

import cuvil
from cuvil.errors import CuvilError, InternalError, UnsupportedError
from tests.programs.generator import Program
from tests.programs.rounding import disagreement, samples


class Wrong(AssertionError):
    """A program whose results differ, or that fails where eager PyTorch does not."""

    def __init__(self, program: Program, special: bool, reason: str) -> None:
        super().__init__(f"{reason}\n\n{program.script(special, reason)}")
        self.program = program
        self.special = special
        self.reason = reason


@dataclass(frozen=True)
class Outcome:
    """What became of a program."""

    kind: str
    """`agreed`, `refused` by Cuvil, or `invalid`: eager PyTorch refuses it on one of the sets of values."""
    reason: str = ""


def check(program: Program) -> Outcome:
    """Run a program on ordinary and on special values. Raises `Wrong` where anything differs from eager."""
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return _checked(program)
        finally:
            program.forget()


def _checked(program: Program) -> Outcome:
    function = program.function()
    compiled = cuvil.compile(function, options={"threads": 1})
    interpreted = cuvil.compile(function, target="interpreter")
    for special in (False, True):
        inputs = program.arguments(special)
        try:
            expected = _flat(function(*_copies(inputs)))
        except (RuntimeError, IndexError, ValueError, ZeroDivisionError) as error:
            return Outcome("invalid", str(error).partition("\n")[0])
        others: list[list[Tensor]] | None = None
        touched: list[bool] = []
        for name, candidate in (("native", compiled), ("interpreter", interpreted)):
            given = _copies(inputs)
            try:
                results = _flat(candidate(*given))
            except InternalError as error:
                raise Wrong(program, special, f"{name}: internal error: {error}") from error
            except UnsupportedError as error:
                return Outcome("refused", error.message)
            except CuvilError as error:
                raise Wrong(program, special, f"{name}: {type(error).__name__}: {error}") from error
            except Exception as error:
                raise Wrong(program, special, f"{name}: {type(error).__name__}: {error}") from error
            if len(results) != len(expected):
                raise Wrong(program, special, f"{name}: {len(results)} results, eager {len(expected)}")
            for number, (result, reference) in enumerate(zip(results, expected, strict=True)):
                if disagreement(result, reference, [], False) is None:
                    continue
                if others is None:
                    others, touched = samples(_sampled(function, inputs), program.seed)
                reason = disagreement(result, reference, [each[number] for each in others], touched[number])
                if reason is not None:
                    raise Wrong(program, special, f"{name}: result {number}: {reason}")
    return Outcome("agreed")


def _sampled(function: Callable[..., Any], inputs: Sequence[Tensor]) -> Callable[[], list[Tensor]]:
    return lambda: _flat(function(*_copies(inputs)))


def _copies(inputs: Sequence[Tensor]) -> list[Tensor]:
    """Copies with the same strides, overlapping ones included: a program may change its arguments."""
    return [
        each.as_strided((each.untyped_storage().nbytes() // each.element_size(),), (1,), 0)
        .clone()
        .as_strided(each.shape, each.stride(), each.storage_offset())
        for each in inputs
    ]


def _flat(results: Any) -> list[Tensor]:
    return [each if isinstance(each, Tensor) else torch.tensor(each) for each in results]
