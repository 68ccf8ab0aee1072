"""`check=` of `cuvil.register_op`: the torch op, the reference and what is compiled agree on samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from cuvil.custom_ops import CustomOpError, RegisteredOp
from cuvil.errors import CuvilError
from cuvil.frontends.aten_types import array_of_tensor
from cuvil.semantics.arrays import Array
from cuvil.semantics.comparison import compare

_TOLERANCE = {torch.float64: 1e-9, torch.float32: 1e-5, torch.float16: 4e-3, torch.bfloat16: 2e-2}
"""Relative norm errors that one op stays within, written twice: some units in the last place."""


def check_samples(op: RegisteredOp, samples: Sequence[Sequence[Any]]) -> None:
    """Run the op on samples in every way that it has. Raises `CustomOpError` where they differ."""
    library, _, rest = op.name.partition("::")
    name, _, overload = rest.partition(".")
    packet = getattr(getattr(torch.ops, library), name, None)
    if packet is None:
        raise CustomOpError(f"op '{op.name}': torch knows no such op; define it by torch.library.custom_op before")
    function = getattr(packet, overload or packet.overloads()[0])
    arguments = function._schema.arguments
    for number, sample in enumerate(samples):
        if not isinstance(sample, list | tuple):  # a tensor is a sequence too
            raise CustomOpError(
                f"op '{op.name}': sample {number} is a tuple of arguments, got {type(sample).__name__}: check=[(x, y)]"
            )
        try:
            with torch.no_grad():
                expected = _several(function(*sample))
        except Exception as error:
            raise CustomOpError(f"op '{op.name}': sample {number}: the torch op failed: {error}") from error
        for what, results in _ways(op, function, arguments, sample):
            _compare(f"op '{op.name}': sample {number}: {what}", results, expected)


def _ways(op: RegisteredOp, function: Any, arguments: Sequence[Any], sample: Sequence[Any]) -> list[tuple[str, Any]]:
    whole = [*sample, *(argument.default_value for argument in arguments[len(sample) :])]
    names = [argument.name for argument in arguments]
    tensors = [each for each in whole if isinstance(each, Tensor)]
    numbers = {name: each for name, each in zip(names, whole, strict=True) if not isinstance(each, Tensor)}
    found: list[tuple[str, Any]] = []
    if op.reference is not None:
        try:
            made = op.reference(*(array_of_tensor(each) for each in tensors), **numbers)
        except Exception as error:
            raise CustomOpError(f"op '{op.name}': the reference failed: {type(error).__name__}: {error}") from error
        found.append(("the reference", _several(made)))
    try:
        compiled = _compiled(function, names, numbers, tensors)
    except CuvilError as error:
        raise CustomOpError(f"op '{op.name}': it cannot be compiled for a sample: {error.message}") from error
    found.append(("compiled code", _several(compiled)))
    return found


def _compiled(function: Any, names: Sequence[str], numbers: dict[str, Any], tensors: Sequence[Tensor]) -> Any:
    from cuvil.compiler import compile

    class Sample(torch.nn.Module):
        def forward(self, *given: Tensor) -> Any:
            remaining = iter(given)
            count = len(numbers) + len(given)
            return function(*(numbers[name] if name in numbers else next(remaining) for name in names[:count]))

    return compile(Sample().eval(), tuple(tensors))(*tensors)


def _compare(what: str, results: Sequence[Any], expected: Sequence[Tensor]) -> None:
    if len(results) != len(expected):
        raise CustomOpError(f"{what} gives {len(results)} results, the torch op {len(expected)}")
    for number, (result, reference) in enumerate(zip(results, expected, strict=True)):
        array: Array = array_of_tensor(result) if isinstance(result, Tensor) else result
        difference = compare(array, array_of_tensor(reference))
        if not difference.within(_TOLERANCE.get(reference.dtype, 0.0)):
            which = "" if len(expected) == 1 else f"result {number} of "
            raise CustomOpError(
                f"{which}{what} differs from the torch op: relative norm error {difference.relative_norm:.3g}, "
                f"largest difference {difference.max_error:.3g}"
            )


def _several(results: Any) -> list[Any]:
    return list(results) if isinstance(results, list | tuple) else [results]
