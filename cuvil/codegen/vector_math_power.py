"""Powers and roots."""

from __future__ import annotations

from cuvil.codegen.vector_math_lanes import Lanes


def rsqrt(x: Lanes) -> Lanes:
    """1 / sqrt(x), each step correctly rounded."""
    return 1.0 / x.sqrt()
