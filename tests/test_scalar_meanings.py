"""Every row of the scalar-function table against PyTorch: NaN, infinities, signed zeros and wrap-around included."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from cuvil.semantics.scalars import SCALAR_FUNCTIONS

Operation = Callable[..., torch.Tensor]

FLOAT_EDGES = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 2.0, 3.0, -3.0, 7.3, -7.3, 100.0, 1e-3, 1e10, -1e10, 1e30, 1e-40,
    float("inf"), float("-inf"), float("nan"),
]  # fmt: skip

UNARY: dict[str, Operation] = {
    name: getattr(torch, name)
    for name in (
        "abs neg sign exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal sin cos tan asin acos atan sinh cosh "
        "tanh asinh acosh atanh erf erfc sigmoid relu floor ceil round trunc isnan isinf isfinite"
    ).split()
} | {"not": torch.bitwise_not}

BINARY: dict[str, Operation] = {
    name: getattr(torch, name) for name in "add sub mul div fmod pow fmax fmin atan2 copysign eq ne lt le gt ge".split()
} | {
    "floor_div": lambda a, b: torch.div(a, b, rounding_mode="floor"),
    "trunc_div": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    "rem": torch.remainder,
    "max": torch.maximum,
    "min": torch.minimum,
    "and": torch.bitwise_and,
    "or": torch.bitwise_or,
    "xor": torch.bitwise_xor,
    "shl": torch.bitwise_left_shift,
    "shr": torch.bitwise_right_shift,
}

TERNARY: dict[str, Operation] = {
    "select": torch.where,
    "clamp": lambda x, low, high: torch.clamp(x, low, high),
    "fma": lambda a, b, c: (a.double() * b.double() + c.double()).to(a.dtype),
}

OPERATIONS = UNARY | BINARY | TERNARY

# Integer division by zero raises in PyTorch, a shift of a negative count is undefined.
DIVISIONS = ("floor_div", "trunc_div", "rem", "fmod")
SHIFTS = ("shl", "shr")

# Which of two zeros these give depends on PyTorch's code path; IEEE 754 leaves it open.
EITHER_ZERO = ("max", "min", "fmax", "fmin", "clamp")


def meaning(name: str, *operands: Any) -> Any:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        return SCALAR_FUNCTIONS[name].meaning(np, *operands)


def agree(name: str, got: Any, expected: torch.Tensor, operands: tuple[Any, ...]) -> None:
    wanted = expected.numpy()
    assert got.dtype == wanted.dtype, f"{name} gives {got.dtype}, PyTorch {wanted.dtype}"
    if wanted.dtype.kind != "f":
        same = got == wanted
    else:
        # Vector libraries differ in the last bits, never in kind.
        close = np.isclose(got, wanted, rtol=4e-6 if wanted.dtype == np.float32 else 1e-12, atol=0, equal_nan=True)
        with np.errstate(invalid="ignore"):
            tiny = np.abs(got - wanted) < np.finfo(wanted.dtype).tiny
        signs = (np.signbit(got) == np.signbit(wanted)) | np.isnan(wanted)
        same = (close | tiny) & (signs | ((wanted == 0) & (name in EITHER_ZERO)))
    wrong = [(tuple(o[i] for o in operands), got[i], wanted[i]) for i in np.flatnonzero(~same)]
    assert not wrong, f"{name}: (operands, table, PyTorch) = {wrong[:8]}"


def with_domain(letter: str) -> list[str]:
    return [row.name for row in SCALAR_FUNCTIONS.values() if letter in row.domain]


def grid(values: np.ndarray[Any, Any], arity: int) -> tuple[np.ndarray[Any, Any], ...]:
    points = list(itertools.product(range(len(values)), repeat=arity))
    return tuple(values[[point[place] for point in points]] for place in range(arity))


def test_every_row_is_tested() -> None:
    assert set(OPERATIONS) == set(SCALAR_FUNCTIONS)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", with_domain("f"))
def test_floats(name: str, dtype: Any) -> None:
    row = SCALAR_FUNCTIONS[name]
    random = np.random.default_rng(0).standard_normal(200) * 3
    values = np.array([*FLOAT_EDGES, *random[: 200 if row.arity == 1 else 6]], dtype)
    if name in ("rem", "fmod"):
        values = values[np.abs(values) != np.array(1e-40, dtype)]  # PyTorch's vector code gives NaN for such divisors
    operands = grid(values, row.arity)
    if name == "select":
        operands = (operands[0] > 0, *operands[1:])
    expected = OPERATIONS[name](*(torch.from_numpy(operand) for operand in operands))
    agree(name, meaning(name, *operands), expected, operands)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint8])
@pytest.mark.parametrize("name", with_domain("i"))
def test_integers(name: str, dtype: Any) -> None:
    row = SCALAR_FUNCTIONS[name]
    limits = np.iinfo(dtype)
    numbers = {limits.min, limits.min + 1, limits.max, limits.max - 1, 0, 1, 2, 3, 5, 7, 8, 31, 63, 100}
    numbers |= {-1, -2, -3, -7, -8} if limits.min else {200, 254}
    values = np.array(sorted(number for number in numbers if limits.min <= number <= limits.max), dtype)
    operands = grid(values, row.arity)
    if name == "select":
        operands = (operands[0] > 0, *operands[1:])
    elif name in DIVISIONS:
        is_overflow = (operands[0] == limits.min) & (operands[1] == -1) if limits.min else operands[1] == 0
        legal = (operands[1] != 0) & ~is_overflow
        operands = tuple(operand[legal] for operand in operands)
    elif name in SHIFTS:
        legal = (operands[1] >= 0) & (operands[1] < limits.bits)
        operands = tuple(operand[legal] for operand in operands)
    elif name == "pow":
        legal = (operands[1] >= 0) & (operands[1] <= 8)
        operands = tuple(operand[legal] for operand in operands)
    if name in ("isnan", "isinf", "isfinite"):
        expected = OPERATIONS[name](torch.from_numpy(operands[0]))
    else:
        expected = OPERATIONS[name](*(torch.from_numpy(operand) for operand in operands))
    agree(name, meaning(name, *operands), expected, operands)


@pytest.mark.parametrize("name", with_domain("b"))
def test_bools(name: str) -> None:
    row = SCALAR_FUNCTIONS[name]
    operands = grid(np.array([False, True]), row.arity)
    function = OPERATIONS[name]
    expected = function(*(torch.from_numpy(operand) for operand in operands))
    agree(name, meaning(name, *operands), expected, operands)


@pytest.mark.parametrize("name", DIVISIONS)
def test_integer_division_by_zero_gives_zero(name: str) -> None:
    a, b = np.array([5, -5, 0], np.int32), np.zeros(3, np.int32)
    assert meaning(name, a, b).tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("name", "expected"), [("floor_div", -(2**31)), ("trunc_div", -(2**31)), ("rem", 0), ("fmod", 0)]
)
def test_integer_division_that_overflows_wraps(name: str, expected: int) -> None:
    assert meaning(name, np.array([-(2**31)], np.int32), np.array([-1], np.int32)).tolist() == [expected]


def test_integer_power_with_a_negative_exponent() -> None:
    a, b = grid(np.array([-2, -1, 0, 1, 2, -3], np.int32), 2)
    legal = b < 0
    a, b = a[legal], b[legal]
    expected = [int({1: 1, -1: 1 if e % 2 == 0 else -1}.get(int(n), 0)) for n, e in zip(a, b, strict=True)]
    assert meaning("pow", a, b).tolist() == expected


def test_shifts_outside_the_width() -> None:
    a, b = np.array([-8, 8, -8, 8], np.int32), np.array([32, 40, -1, -1], np.int32)
    assert meaning("shl", a, b).tolist() == [0, 0, 0, 0]
    assert meaning("shr", a, b).tolist() == [-1, 0, -1, 0]


VALUES = {"f": np.array(FLOAT_EDGES), "i": np.array([-3, 0, 5]), "b": np.array([True, False])}


def swapped_agree(row: Any) -> bool:
    """Whether a function of two operands gives the same with the two exchanged, on every domain it has."""
    pairs = [grid(values, 2) for letter, values in VALUES.items() if letter in row.domain]
    return all(
        np.array_equal(meaning(row.name, a, b), meaning(row.name, b, a), equal_nan=a.dtype.kind == "f")
        for a, b in pairs
    )


BINARY_ROWS = [row for row in SCALAR_FUNCTIONS.values() if row.arity == 2]


@pytest.mark.parametrize("row", BINARY_ROWS, ids=lambda row: row.name)
def test_rows_are_commutative_as_the_table_says(row: Any) -> None:
    assert row.commutative == swapped_agree(row)


def test_only_functions_of_two_operands_are_commutative() -> None:
    assert not [row.name for row in SCALAR_FUNCTIONS.values() if row.commutative and row.arity != 2]
