"""Whether two results agree: floats by relative norm error, all else exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil.semantics.arrays import Array


@dataclass(frozen=True)
class Difference:
    """How far a result is from its reference."""

    relative_norm: float
    """Norm of the difference, divided by the reference's norm; infinite where only one of the two is finite."""
    max_error: float
    """The largest absolute difference of two elements."""
    is_exact: bool
    """Whether all elements are equal, NaN being equal to NaN."""

    def within(self, tolerance: float) -> bool:
        """Whether the two agree."""
        return self.is_exact or self.relative_norm <= tolerance


def compare(result: Array, reference: Array) -> Difference:
    """The difference of two arrays of one shape; arrays of different shapes are infinitely far apart."""
    result, reference = np.asarray(result), np.asarray(reference)
    if result.shape != reference.shape:
        return Difference(np.inf, np.inf, False)
    is_float = reference.dtype.kind == "f" and result.dtype.kind == "f"
    same = np.asarray(result == reference)
    if is_float:
        same = same | (np.isnan(result) & np.isnan(reference))
    if same.all():
        return Difference(0.0, 0.0, True)
    if not is_float:
        error = np.abs(result.astype(np.float64) - reference.astype(np.float64))
        return Difference(np.inf, float(error.max()), False)
    if not (np.isfinite(result) & np.isfinite(reference) | same).all():
        return Difference(np.inf, np.inf, False)
    finite = np.isfinite(reference)
    wide, exact = result.astype(np.float64)[finite], reference.astype(np.float64)[finite]
    norm, scale = float(np.linalg.norm(wide - exact)), float(np.linalg.norm(exact))
    return Difference(norm / scale if scale else np.inf, float(np.abs(wide - exact).max()), False)
