"""Arrays as text and back: how `cuvil-run` prints results and reads inputs, the same on every machine.

tensor<2x3xf32> = [[1, 2.5, -0], [nan, inf, -inf]]
"""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr, TensorType
from xdsl.ir import Attribute
from xdsl.utils.exceptions import ParseError

from cuvil.errors import UserError
from cuvil.semantics.arrays import Array, array_of_constant, rounded

LARGEST_WHOLE = 1024
"""Tensors with more elements are summarized."""


def format_array(array: Array, digits: int = 6) -> str:
    """The elements with `digits` significant digits; of a large array its norm, extremes and first elements."""
    if array.size <= LARGEST_WHOLE:
        return _nested(array, digits)
    wide = array.astype(np.float64)
    first = ", ".join(_number(value, digits) for value in array.reshape(-1)[:8])
    facts = {"norm": np.linalg.norm(wide.reshape(-1)), "min": wide.min(), "max": wide.max()}
    summary = ", ".join(f"{name} {_number(np.float64(value), digits)}" for name, value in facts.items())
    return f"[{first}, ...] ({array.size} elements, {summary})"


def _nested(array: Array, digits: int) -> str:
    if array.ndim == 0:
        return _number(array[()], digits)
    return f"[{', '.join(_nested(part, digits) for part in array)}]"


def _number(value: Any, digits: int) -> str:
    if isinstance(value, np.bool_):
        return "true" if value else "false"
    if isinstance(value, np.integer):
        return str(int(value))
    # Positional up to a million, so that 100000 is not 1e+05 and small tests read as they are written.
    number = float(value)
    if number.is_integer() and abs(number) < 1e6:
        return f"{number:.0f}"
    return f"{number:.{digits}g}"


def parse_array(text: str, wanted: Attribute) -> Array:
    """The array that `dense<...> : type`, `dense<...>` or a plain number stands for, given the type it is for.

    Raises `UserError` if the text is malformed or of another type.
    """
    from cuvil.ir_text import LocatingParser
    from cuvil.universe import make_context

    has_type = isinstance(wanted, TensorType) and text.lstrip().startswith("dense") and ":" not in text
    source = f"{text} : {wanted}" if has_type else text
    try:
        parser = LocatingParser(make_context(), source, "<input>")
        value = (
            parser.parse_attribute() if source.lstrip().startswith("dense") else parser.parse_number(allow_boolean=True)
        )
    except ParseError as error:
        raise UserError(f"input '{text}' is malformed: {error.msg}") from error
    if isinstance(value, int | float):
        if isinstance(wanted, TensorType):
            if wanted.get_shape():
                raise UserError(f"input '{text}' is a number, expected {wanted}")
            return rounded(np.array(value), wanted.element_type)
        return rounded(np.array(value), wanted)[()]
    if isinstance(value, IntegerAttr | FloatAttr):
        return rounded(np.array(value.value.data), value.type)
    if not isinstance(value, DenseIntOrFPElementsAttr):
        raise UserError(f"input '{text}' is no dense<...> value")
    return array_of_constant(value)
