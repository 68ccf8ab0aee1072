"""One sample through Cuvil and through eager PyTorch, and what became of it.

The rule for floating-point results: NaN and infinities stand where eager's stand; everywhere else the error against
eager PyTorch in float64, as a relative norm, is at most `ERROR_MULTIPLE` times eager's own error plus
`ROUNDINGS` roundings of the result's dtype. Integers and bools are equal. Dtypes and shapes are eager's.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import torch
from torch.utils import _pytree as pytree

import cuvil
from benchmarks.operators.samples import DTYPES, PICKS_AMONG_EQUALS, UNINITIALIZED, Sample, SampleCall
from cuvil.errors import InternalError, PipelineError, UserError
from cuvil.frontends.aten_graph import UnsupportedOpsError

ERROR_MULTIPLE = 3.0
ROUNDINGS = 4.0


class Outcome(StrEnum):
    """What became of a sample."""

    PASSED = "passed"
    REFUSED = "refused"
    WRONG = "wrong"
    EXCLUDED = "excluded"
    """Not counted: random, complex, sparse or quantized; see `Verdict.reason`."""


@dataclass(frozen=True)
class Verdict:
    """An outcome and why."""

    outcome: Outcome
    reason: str = ""


def check(sample: Sample) -> Verdict | None:
    """What becomes of a sample; None where eager PyTorch itself refuses it."""
    torch.manual_seed(1)
    before = torch.get_rng_state()
    try:
        with torch.no_grad():
            expected = sample.call(*_copies(sample.tensors))
    except Exception:
        return None
    excluded = None if torch.equal(before, torch.get_rng_state()) else "random"
    excluded = excluded or _exotic([*sample.tensors, *pytree.tree_leaves(expected), *sample.call.leaves])
    got = _compiled_result(sample)
    if isinstance(got, Verdict):
        # Cuvil must say so clearly even of what is not counted.
        return Verdict(Outcome.EXCLUDED, excluded) if excluded and got.outcome == Outcome.REFUSED else got
    if excluded == "random":
        return Verdict(Outcome.WRONG, "random numbers were compiled without a word")
    difference = _difference(sample, expected, got)
    if difference is not None:
        return Verdict(Outcome.WRONG, difference)
    return Verdict(Outcome.EXCLUDED, excluded) if excluded else Verdict(Outcome.PASSED)


def _compiled_result(sample: Sample) -> Any:
    """What compiled code gives, or the verdict if there is no such code."""
    try:
        compiled = cuvil.compile(sample.call.eval(), _copies(sample.tensors), options={"threads": 1})
        return compiled(*_copies(sample.tensors))
    except (InternalError, PipelineError) as error:
        return Verdict(Outcome.WRONG, f"internal error: {_line(error.message)}")
    except UserError as error:
        reason = _refusal(error)
        if reason is None:
            return Verdict(Outcome.WRONG, f"a refusal that names no op: {_line(str(error))}")
        return Verdict(Outcome.REFUSED, reason)
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return Verdict(
            Outcome.WRONG, f"{type(error).__name__}: {_line(str(error))} ({place.filename[-40:]}:{place.lineno})"
        )


def _refusal(error: UserError) -> str | None:
    """The ops that an error names and why, without places in the source; None if it names none."""
    if isinstance(error, UnsupportedOpsError):
        return _line("; ".join(dict.fromkeys(f"{problem.op}: {problem.reason}" for problem in error.problems)))
    return _line(error.message) if _OP.search(error.message) else None


_OP = re.compile(r"\b(aten\.|prims\.|torch\.(?!export)|input|output|number)")
"""What names an op, an input or an output."""


def _copies(tensors: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """Copies with the tensors' own strides, since ops may change their arguments."""
    return tuple(_copy(tensor) for tensor in tensors)


def _copy(tensor: torch.Tensor) -> torch.Tensor:
    tensor = tensor.detach()
    if tensor.layout != torch.strided or tensor.is_quantized or tensor.is_conj() or tensor.is_neg():
        return tensor.clone()
    size = sum((count - 1) * step for count, step in zip(tensor.shape, tensor.stride(), strict=True)) + 1
    if tensor.numel() == 0:
        return tensor.clone()
    storage = torch.as_strided(tensor, (size,), (1,)).clone()
    return torch.as_strided(storage, tensor.shape, tensor.stride())


def _exotic(leaves: Sequence[Any]) -> str | None:
    for leaf in leaves:
        if isinstance(leaf, complex) or (isinstance(leaf, torch.dtype) and leaf.is_complex):
            return "complex"
        if not isinstance(leaf, torch.Tensor):
            continue
        if leaf.layout != torch.strided:
            return "sparse"
        if leaf.is_quantized:
            return "quantized"
        if leaf.dtype.is_complex:
            return "complex"
    return None


def _line(text: str) -> str:
    return " ".join(text.split())[:300]


# -- comparison ------------------------------------------------------------------------------------------------------


def _difference(sample: Sample, expected: Any, got: Any) -> str | None:
    """How compiled results differ from eager's; None if they do not."""
    wanted, given = pytree.tree_leaves(expected), pytree.tree_leaves(got)
    if len(wanted) != len(given):
        return f"{len(given)} results, eager has {len(wanted)}"
    precise: list[Any] | None = None
    for place, (one, two) in enumerate(zip(wanted, given, strict=True)):
        if not isinstance(one, torch.Tensor):
            if isinstance(two, torch.Tensor) or (one != two and one == one):
                return f"result {place} is {two}, eager gives {one}"
            continue
        if not isinstance(two, torch.Tensor) or one.dtype != two.dtype or one.shape != two.shape:
            found = f"{two.dtype} {list(two.shape)}" if isinstance(two, torch.Tensor) else repr(two)
            return f"result {place} is {found}, eager gives {one.dtype} {list(one.shape)}"
        if sample.op in UNINITIALIZED or same(one, two):
            continue
        if sample.op in PICKS_AMONG_EQUALS and _pick_the_same(sample.tensors[0], one, two):
            continue
        if not one.dtype.is_floating_point:
            return f"result {place}: {int((one != two).sum())} of {one.numel()} elements differ: {_example(one, two)}"
        precise = _precise(sample) if precise is None else precise
        difference = float_difference(one, two, precise[place] if place < len(precise) else None)
        if difference is not None:
            return f"result {place}: {difference}"
    return None


def _pick_the_same(source: torch.Tensor, one: torch.Tensor, two: torch.Tensor) -> bool:
    """Whether two tensors of places name equal elements along one of the source's dims."""
    if one.dtype != torch.int64:
        return False
    for dim in range(source.dim()):
        places = (one, two) if one.dim() == source.dim() else (one.unsqueeze(dim), two.unsqueeze(dim))
        try:
            if same(*(torch.gather(source, dim, index) for index in places)):
                return True
        except RuntimeError:
            continue
    return False


def same(one: torch.Tensor, two: torch.Tensor) -> bool:
    """Whether two tensors of one dtype and shape are equal, NaN being equal to NaN."""
    return bool(((one == two) | ((one != one) & (two != two))).all())


def float_difference(eager: torch.Tensor, compiled: torch.Tensor, precise: torch.Tensor | None) -> str | None:
    """How far compiled floats are off, beyond what the rule allows; None if they are near enough."""
    one, two = eager.double(), compiled.double()
    if not same(torch.where(one.isfinite(), 0.0, one), torch.where(two.isfinite(), 0.0, two)):
        place = one.isfinite() != two.isfinite()
        return f"NaN or infinities are elsewhere: {_example(one, two, place if place.any() else None)}"
    reference = one if precise is None or precise.shape != one.shape else precise.double()
    finite = one.isfinite() & reference.isfinite()
    if not finite.any():
        return None
    one, two, reference = one[finite], two[finite], reference[finite]
    scale = float(torch.linalg.vector_norm(reference))
    limit = ROUNDINGS * torch.finfo(eager.dtype).eps * scale
    own = float(torch.linalg.vector_norm(one - reference))
    error = float(torch.linalg.vector_norm(two - reference))
    if error <= ERROR_MULTIPLE * own + limit + _smallest(eager.dtype) * one.numel():
        return None
    return f"error {error:.3g} of norm {scale:.3g}, eager's is {own:.3g}: {_example(one, two)}"


def _smallest(dtype: torch.dtype) -> float:
    """What flushed denormals may lose."""
    return torch.finfo(dtype).tiny


def _example(one: torch.Tensor, two: torch.Tensor, places: torch.Tensor | None = None) -> str:
    if places is None:
        places = (one != two) & ~((one != one) & (two != two))
        if one.dtype.is_floating_point:
            places = (one - two).nan_to_num(nan=1e300).abs() == (one - two).nan_to_num(nan=1e300).abs().max()
    where = places.nonzero()
    if not len(where):
        return ""
    at = tuple(where[0].tolist())
    return f"{two[at].item()} instead of {one[at].item()} at {list(at)}"


def _precise(sample: Sample) -> list[Any]:
    """Eager's results in float64."""
    source = DTYPES[sample.dtype]
    call: SampleCall = sample.call.with_dtype(source, torch.float64) if source.is_floating_point else sample.call
    tensors = [
        tensor.detach().double() if tensor.dtype in (torch.float32, torch.float16, torch.bfloat16) else tensor.clone()
        for tensor in sample.tensors
    ]
    default = torch.get_default_dtype()
    try:
        torch.set_default_dtype(torch.float64)
        with torch.no_grad():
            return pytree.tree_leaves(call(*tensors))
    except Exception:
        return []
    finally:
        torch.set_default_dtype(default)
