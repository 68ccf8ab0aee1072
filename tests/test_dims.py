"""Symbolic dims: the normal form, its text, arithmetic against numbers, and what a shape environment knows."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuvil.errors import UserError
from cuvil.semantics.dims import (
    Dim,
    DimExpr,
    ShapeEnvironment,
    SymbolRange,
    parse_dim,
    product,
    substitute,
    symbol,
)
from cuvil.semantics.symbol_binding import bind_symbols

NAMES = ("s0", "s1", "batch")
VALUES = st.fixed_dictionaries({name: st.integers(0, 50) for name in NAMES})


class Tree:
    """An expression as it was built, so that it can be computed with dims and with numbers."""

    def __init__(self, text: str, compute: Any) -> None:
        self.text = text
        self.compute = compute

    def __repr__(self) -> str:
        return self.text


def leaf_symbol(name: str) -> Tree:
    return Tree(name, lambda values: values[name])


def leaf_number(number: int) -> Tree:
    return Tree(str(number), lambda values: number)


def binary(operator: str) -> Any:
    functions: dict[str, Any] = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b}

    def combine(pair: tuple[Tree, Tree]) -> Tree:
        a, b = pair
        apply = functions[operator]
        return Tree(f"({a} {operator} {b})", lambda values: apply(a.compute(values), b.compute(values)))

    return combine


def division(operator: str) -> Any:
    def combine(pair: tuple[Tree, int]) -> Tree:
        a, number = pair
        if operator == "floordiv":
            return Tree(f"({a} floordiv {number})", lambda values: a.compute(values) // number)
        return Tree(f"({a} mod {number})", lambda values: a.compute(values) % number)

    return combine


def larger(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    pairs = st.tuples(inner, inner)
    quotients = st.tuples(inner, st.integers(1, 9))
    return st.one_of(
        *(pairs.map(binary(operator)) for operator in "+-*"),
        *(quotients.map(division(operator)) for operator in ("floordiv", "mod")),
    )


TREES = st.recursive(
    st.one_of(st.sampled_from(NAMES).map(leaf_symbol), st.integers(-9, 9).map(leaf_number)), larger, max_leaves=6
)


def dim_of(tree: Tree) -> Dim:
    return tree.compute({name: symbol(name) for name in NAMES})


def number_of(dim: Dim, values: dict[str, int]) -> int:
    return dim if isinstance(dim, int) else dim.evaluate(values)


@given(TREES, VALUES)
def test_evaluation_is_a_homomorphism(tree: Tree, values: dict[str, int]) -> None:
    assert number_of(dim_of(tree), values) == tree.compute(values)


@given(TREES)
def test_the_text_parses_back(tree: Tree) -> None:
    dim = dim_of(tree)
    assert parse_dim(str(dim)) == dim
    assert str(parse_dim(str(dim))) == str(dim)


@given(TREES)
def test_parsing_is_computing(tree: Tree) -> None:
    assert parse_dim(tree.text) == dim_of(tree)


@given(TREES, TREES, TREES)
def test_ring_laws_hold_as_equality_of_normal_forms(a: Tree, b: Tree, c: Tree) -> None:
    x, y, z = dim_of(a), dim_of(b), dim_of(c)
    assert x + y == y + x
    assert x * y == y * x
    assert (x + y) + z == x + (y + z)
    assert (x * y) * z == x * (y * z)
    assert x * (y + z) == x * y + x * z
    assert x - x == 0
    assert x * 1 == x
    assert x + 0 == x
    assert x * 0 == 0


@given(TREES, VALUES)
def test_equal_dims_have_equal_hashes_and_symbols(tree: Tree, values: dict[str, int]) -> None:
    dim, again = dim_of(tree), parse_dim(tree.text)
    assert hash(dim) == hash(again)
    if isinstance(dim, DimExpr):
        assert dim.symbols() <= set(NAMES)
        # Only the symbols that occur are needed.
        assert dim.evaluate({name: values[name] for name in dim.symbols()}) == dim.evaluate(values)


@given(TREES, TREES, VALUES)
def test_substitution_is_evaluation_of_the_replacement(tree: Tree, inner: Tree, values: dict[str, int]) -> None:
    replaced = substitute(dim_of(tree), {"s0": dim_of(inner)})
    number = number_of(dim_of(inner), values)
    assert number_of(replaced, values) == tree.compute({**values, "s0": number})


@given(TREES, VALUES)
def test_bounds_hold(tree: Tree, values: dict[str, int]) -> None:
    environment = ShapeEnvironment({name: SymbolRange(0, 50) for name in NAMES})
    dim = dim_of(tree)
    low, high = environment.bounds(dim)
    number = number_of(dim, values)
    assert low is None or low <= number
    assert high is None or number <= high


@given(TREES, st.integers(1, 8), VALUES)
def test_divisibility_holds(tree: Tree, divisor: int, values: dict[str, int]) -> None:
    environment = ShapeEnvironment({name: SymbolRange(multiple_of=4) for name in NAMES})
    dim = dim_of(tree)
    if environment.is_multiple_of(dim, divisor):
        assert number_of(dim, {name: 4 * value for name, value in values.items()}) % divisor == 0


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("1 + s0", "s0 + 1"),
        ("s0 + s0", "2*s0"),
        ("s1*s0", "s0*s1"),
        ("(s0 + 1)*(s0 - 1)", "s0*s0 - 1"),
        ("-s0 + 3", "-s0 + 3"),
        ("(2*s0 + 6) floordiv 2", "s0 + 3"),
        ("(2*s0 + 7) floordiv 2", "s0 + 3"),
        ("(4*s0 + 3) mod 4", "3"),
        ("s0 floordiv 2", "((s0) floordiv 2)"),
        ("2*(s0 floordiv 2)", "2*((s0) floordiv 2)"),
    ],
)
def test_normal_forms(text: str, normal: str) -> None:
    assert str(parse_dim(text)) == normal


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a number, a symbol or '(' in dim expression '', got 'the end'"),
        ("s0 +", "got 'the end'"),
        ("(s0", "expected ')'"),
        ("s0 s1", "unexpected 's1'"),
        ("s0 floordiv 0", "'floordiv' needs a positive number on its right"),
        ("s0 mod s1", "'mod' needs a positive number on its right"),
        ("s0 / 2", "unexpected '/'"),
    ],
)
def test_malformed_text(text: str, message: str) -> None:
    with pytest.raises(ValueError, match="^" + ".*" + __import__("re").escape(message)):
        parse_dim(text)


def test_product() -> None:
    assert product([]) == 1
    assert product([2, symbol("s0"), 3]) == symbol("s0") * 6


def test_learnt_equalities() -> None:
    environment = ShapeEnvironment()
    s0, s1 = symbol("s0"), symbol("s1")
    assert not environment.is_equal(s0, s1)
    assert environment.assume_equal(s0, s1 * 2)
    assert environment.is_equal(s0 + 1, s1 * 2 + 1)
    assert environment.assume_equal(s1, 4)
    assert environment.is_equal(s0, 8)
    assert not environment.assume_equal(s0, 9)


def test_symbols_are_bound_by_sizes() -> None:
    s0, s1 = symbol("s0"), symbol("s1")
    assert bind_symbols([(s0, 5), (8, 8)]) == {"s0": 5}
    assert bind_symbols([(s0 * 2 + 1, 7)]) == {"s0": 3}
    assert bind_symbols([(s0 + s1, 7), (s1, 3)]) == {"s0": 4, "s1": 3}
    assert bind_symbols([(s0 * s1, 12), (s1, 3)]) == {"s0": 4, "s1": 3}
    with pytest.raises(UserError, match=r"a dim of size 5 is declared as 2\*s0, which is 4 where s0 = 2"):
        bind_symbols([(s0 * 2, 5)])
    with pytest.raises(UserError, match="a dim of size 4 is declared as s0, which is 3 where s0 = 3"):
        bind_symbols([(s0, 3), (s0, 4)])


def test_quotients_of_quotients_are_one() -> None:
    """Two strided windows in a row, as a shape rule makes them, equal one of both strides."""
    h = symbol("h")
    assert ((h - 1) // 2) // 2 == (h - 1) // 4
    nested = ((h - 1) // 2 + 1) // 2
    assert nested == (h + 1) // 4
    assert isinstance(nested, DimExpr)
    assert all(nested.evaluate({"h": size}) == ((size - 1) // 2 + 1) // 2 for size in range(40))
    twice = (2 * (h // 3)) // 4
    assert isinstance(twice, DimExpr)
    assert all(twice.evaluate({"h": size}) == (2 * (size // 3)) // 4 for size in range(40))
