"""A check that compiled code gives what the TorchScript gives that it was made of, on the example inputs."""

from __future__ import annotations

import copy
import math
from typing import Any

import torch
from torch import Tensor

from cuvil.errors import CuvilError
from cuvil.frontends.source import structures


class ScriptMismatchError(CuvilError):
    """Compiled code does not give what the scripted module gives."""


TOLERANCES = {torch.float64: 1e-8, torch.float32: 1e-3, torch.float16: 2e-2, torch.bfloat16: 5e-2}
"""By how much results may differ, relative to the norm of what the script gives."""


def check_agreement(scripted: Any, compiled: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Run a script and the code that was made of it on copies of the example inputs, and compare.

    Raises `ScriptMismatchError` for the first result that differs.
    """
    name = compiled.__name__
    with torch.no_grad():
        expected = scripted(*copy.deepcopy(args), **copy.deepcopy(kwargs))
        got = compiled(*copy.deepcopy(args), **copy.deepcopy(kwargs))
    wanted, given = structures.leaves(expected), structures.leaves(got)
    if len(wanted) != len(given):
        raise ScriptMismatchError(f"{name}: {len(given)} results, the script gives {len(wanted)}")
    for number, (one, other) in enumerate(zip(wanted, given, strict=True)):
        difference = _difference(one, other)
        if difference:
            raise ScriptMismatchError(f"{name}: result {number} is not what the script gives: {difference}")


def _difference(wanted: Any, given: Any) -> str:
    """How a result differs; nothing if it does not."""
    if not isinstance(wanted, Tensor) or not isinstance(given, Tensor):
        same = wanted == given or (wanted != wanted and given != given) or _is_close(wanted, given)
        return "" if same else f"{given!r}, expected {wanted!r}"
    if wanted.shape != given.shape or wanted.dtype != given.dtype:
        return f"{given.dtype} of shape {list(given.shape)}, expected {wanted.dtype} of shape {list(wanted.shape)}"
    tolerance = TOLERANCES.get(wanted.dtype, 0.0)
    one, other = wanted.double(), given.double()
    usual = one.isfinite()
    if not torch.equal(torch.where(usual, 0.0, one).nan_to_num(7.0), torch.where(usual, 0.0, other).nan_to_num(7.0)):
        return "NaN or infinity at other places"
    error = float(torch.where(usual, one - other, 0.0).norm() / torch.where(usual, one, 0.0).norm().clamp_min(1e-12))
    return "" if error <= tolerance else f"relative error {error:.1e}, at most {tolerance:.0e} is expected"


def _is_close(wanted: Any, given: Any) -> bool:
    return isinstance(wanted, float) and isinstance(given, float) and math.isclose(wanted, given, rel_tol=1e-3)
