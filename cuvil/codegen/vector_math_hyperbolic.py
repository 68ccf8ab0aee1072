"""tanh, sinh, cosh and their inverses."""

from __future__ import annotations

from cuvil.codegen.vector_math_exponential import expm1_halved
from cuvil.codegen.vector_math_lanes import Lanes

# tanh is 1 in the type from half of this on.
_TANH_RANGE = {32: 18.1, 64: 38.2}


def tanh(x: Lanes) -> Lanes:
    """(exp(2|x|) - 1) / (exp(2|x|) + 1), which does not cancel near zero."""
    magnitude = x.abs()
    half = expm1_halved((magnitude + magnitude).at_most(_TANH_RANGE[x.bits]))
    return (half / (half + 1.0)).copysign(x)
