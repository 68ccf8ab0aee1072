"""Symbolic dimensions: integer expressions over named unknowns, in a normal form.

A *dim* is an `int` or a `DimExpr`. A `DimExpr` is a polynomial with integer coefficients over *atoms*; an atom is a
symbol (`s0`) or an opaque `floordiv` / `mod` of an expression by a positive integer. Polynomials are kept sorted and
collected, so two expressions that are equal as polynomials are equal objects (`==`), which is what a shape rule
compares. The text form parses back: `2*s0 + 1`, `(s0 + 3) floordiv 2`, `s0*s1`.

Ranges and divisibility of the symbols live in a `ShapeEnvironment`; it answers the questions that need more than the
normal form (`is_equal`, `bounds`, `is_multiple_of`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from typing import TypeAlias

Dim: TypeAlias = "int | DimExpr"
Monomial: TypeAlias = "tuple[Atom, ...]"


@dataclass(frozen=True)
class Quotient:
    """An atom `expression floordiv divisor` or `expression mod divisor`."""

    operator: str
    expression: DimExpr
    divisor: int

    def __str__(self) -> str:
        return f"({self.expression}) {self.operator} {self.divisor}"


Atom: TypeAlias = "str | Quotient"


def _atom_key(atom: Atom) -> tuple[int, str]:
    return (0, atom) if isinstance(atom, str) else (1, str(atom))


def _make(terms: Mapping[Monomial, int]) -> Dim:
    kept = {monomial: factor for monomial, factor in terms.items() if factor}
    if not kept:
        return 0
    if set(kept) == {()}:
        return kept[()]
    ordered = sorted(kept.items(), key=lambda term: (-len(term[0]), [_atom_key(atom) for atom in term[0]]))
    return DimExpr(tuple(ordered))


def _terms(dim: Dim) -> dict[Monomial, int]:
    return {(): dim} if isinstance(dim, int) else dict(dim.terms)


@dataclass(frozen=True)
class DimExpr:
    """A non-constant integer polynomial; build it with `symbol` and arithmetic, not by its constructor."""

    terms: tuple[tuple[Monomial, int], ...]

    def __add__(self, other: Dim) -> Dim:
        total = _terms(self)
        for monomial, factor in _terms(other).items():
            total[monomial] = total.get(monomial, 0) + factor
        return _make(total)

    __radd__ = __add__

    def __neg__(self) -> Dim:
        return self * -1

    def __sub__(self, other: Dim) -> Dim:
        return self + other * -1

    def __rsub__(self, other: int) -> Dim:
        return self * -1 + other

    def __mul__(self, other: Dim) -> Dim:
        total: dict[Monomial, int] = {}
        for left, left_factor in self.terms:
            for right, right_factor in _terms(other).items():
                monomial = tuple(sorted((*left, *right), key=_atom_key))
                total[monomial] = total.get(monomial, 0) + left_factor * right_factor
        return _make(total)

    __rmul__ = __mul__

    def __floordiv__(self, divisor: int) -> Dim:
        if divisor == 1:
            return self
        whole = {monomial: factor // divisor for monomial, factor in self.terms if factor % divisor == 0}
        rest = _make({monomial: factor for monomial, factor in self.terms if factor % divisor})
        if isinstance(rest, int):
            return _make({**whole, (): whole.get((), 0) + rest // divisor})
        rest, divisor = _one_quotient(rest, divisor)
        return _make(whole) + _make({(Quotient("floordiv", rest, divisor),): 1})

    def __mod__(self, divisor: int) -> Dim:
        rest = _make({monomial: factor % divisor for monomial, factor in self.terms})
        return rest % divisor if isinstance(rest, int) else _make({(Quotient("mod", rest, divisor),): 1})

    def symbols(self) -> frozenset[str]:
        """The names that occur, inside quotients too."""
        names: set[str] = set()
        for monomial, _ in self.terms:
            for atom in monomial:
                names |= {atom} if isinstance(atom, str) else atom.expression.symbols()
        return frozenset(names)

    def evaluate(self, values: Mapping[str, int]) -> int:
        """The number this expression is where each symbol has the given value."""

        def of_atom(atom: Atom) -> int:
            if isinstance(atom, str):
                return values[atom]
            number = atom.expression.evaluate(values)
            return number // atom.divisor if atom.operator == "floordiv" else number % atom.divisor

        return sum(factor * reduce(lambda p, a: p * of_atom(a), monomial, 1) for monomial, factor in self.terms)

    def substitute(self, replacement: Mapping[str, Dim]) -> Dim:
        """The expression with symbols replaced by dims."""

        def of_atom(atom: Atom) -> Dim:
            if isinstance(atom, str):
                return replacement.get(atom, symbol(atom))
            inner = substitute(atom.expression, replacement)
            return inner // atom.divisor if atom.operator == "floordiv" else inner % atom.divisor

        total: Dim = 0
        for monomial, factor in self.terms:
            product: Dim = factor
            for atom in monomial:
                product = product * of_atom(atom)
            total = total + product
        return total

    def __str__(self) -> str:
        text = ""
        for monomial, factor in self.terms:
            atoms = "*".join(atom if isinstance(atom, str) else f"({atom})" for atom in monomial)
            size = abs(factor)
            term = str(size) if not atoms else atoms if size == 1 else f"{size}*{atoms}"
            if not text:
                text = f"-{term}" if factor < 0 else term
            else:
                text += f" - {term}" if factor < 0 else f" + {term}"
        return text


def _one_quotient(dividend: DimExpr, divisor: int) -> tuple[DimExpr, int]:
    """`(e floordiv a + c) floordiv b` as `(e + a*c) floordiv a*b`: dividend and divisor; others as they are."""
    terms = dict(dividend.terms)
    offset = terms.pop((), 0)
    if len(terms) != 1:
        return dividend, divisor
    (monomial, factor), *_ = terms.items()
    atom = monomial[0]
    if len(monomial) != 1 or factor != 1 or not isinstance(atom, Quotient) or atom.operator != "floordiv":
        return dividend, divisor
    inner = atom.expression + atom.divisor * offset
    assert isinstance(inner, DimExpr), "a quotient's dividend has symbols"
    return _one_quotient(inner, atom.divisor * divisor)


def symbol(name: str) -> DimExpr:
    """The dim that is the unknown `name`."""
    return DimExpr((((name,), 1),))


def substitute(dim: Dim, replacement: Mapping[str, Dim]) -> Dim:
    """`dim` with symbols replaced; numbers are themselves."""
    return dim if isinstance(dim, int) else dim.substitute(replacement)


def product(dims: Iterable[Dim]) -> Dim:
    """The product of dims; 1 for none."""
    total: Dim = 1
    for dim in dims:
        total = total * dim
    return total


def exact_quotient(dividend: Dim, divisor: Dim) -> Dim | None:
    """The dim that times `divisor` is `dividend`, as polynomials; None where there is none, or by 0.

    `s0*s1 + s1` by `s0 + 1` is `s1`. Where the divisor is 0 at run time, so is the dividend.
    """
    if divisor == 0:
        return None
    quotient: Dim = 0
    rest = dividend
    lead, lead_factor = next(iter(_terms(divisor).items()))
    while rest != 0:
        # Terms are sorted by a monomial order: what leads the rest must be divisible by what leads the divisor.
        first, factor = next(iter(_terms(rest).items()))
        left = _without(first, lead)
        if left is None or factor % lead_factor:
            return None
        step = _make({left: factor // lead_factor})
        quotient = quotient + step
        rest = rest - step * divisor
    return quotient


def _without(monomial: Monomial, divisor: Monomial) -> Monomial | None:
    """A monomial divided by another; None where it is no multiple of it."""
    left = list(monomial)
    for atom in divisor:
        if atom not in left:
            return None
        left.remove(atom)
    return tuple(left)


def symbols_in(dims: Iterable[Dim]) -> frozenset[str]:
    """The names that occur in any of the dims."""
    return frozenset[str]().union(*(dim.symbols() for dim in dims if isinstance(dim, DimExpr)))


_TOKEN = re.compile(r"\s*(?:(\d+)|(floordiv|mod)\b|([A-Za-z_][A-Za-z_0-9]*)|(.))")


@lru_cache(4096)
def parse_dim(text: str) -> Dim:
    """The dim written in `text`; a ValueError that says where it stops making sense."""
    tokens = [match for match in _TOKEN.finditer(text.strip()) if match.group().strip()]
    position = 0

    def peek() -> str:
        return tokens[position].group().strip() if position < len(tokens) else ""

    def take() -> str:
        nonlocal position
        token = peek()
        position += 1
        return token

    def primary() -> Dim:
        token = take()
        if token == "(":
            inner = total()
            if take() != ")":
                raise ValueError(f"expected ')' in dim expression '{text}'")
            return inner
        if token == "-":
            return primary() * -1
        if token.isdigit():
            return int(token)
        if token.isidentifier():
            return symbol(token)
        raise ValueError(f"expected a number, a symbol or '(' in dim expression '{text}', got '{token or 'the end'}'")

    def term() -> Dim:
        value = primary()
        operators: dict[str, Callable[[Dim, int], Dim]] = {
            "floordiv": lambda a, b: a // b,
            "mod": lambda a, b: a % b,
        }
        while peek() in ("*", "floordiv", "mod"):
            operator = take()
            other = primary()
            if operator == "*":
                value = value * other
            elif isinstance(other, int) and other > 0:
                value = operators[operator](value, other)
            else:
                raise ValueError(f"'{operator}' needs a positive number on its right in dim expression '{text}'")
        return value

    def total() -> Dim:
        value = term()
        while peek() in ("+", "-"):
            value = value + term() if take() == "+" else value - term()
        return value

    result = total()
    if position < len(tokens):
        raise ValueError(f"unexpected '{peek()}' in dim expression '{text}'")
    return result


@dataclass(frozen=True)
class SymbolRange:
    """What is known of a symbol: minimum <= s <= maximum (None: unbounded) and s % multiple_of == 0."""

    minimum: int = 0
    maximum: int | None = None
    multiple_of: int = 1

    def allows(self, size: int) -> bool:
        """Whether a symbol may have this value."""
        too_large = self.maximum is not None and size > self.maximum
        return size >= self.minimum and not too_large and size % self.multiple_of == 0

    def __str__(self) -> str:
        multiple = f", multiples of {self.multiple_of}" if self.multiple_of != 1 else ""
        return f"{self.minimum}..{'' if self.maximum is None else self.maximum}{multiple}"


@dataclass
class ShapeEnvironment:
    """The symbols of a function with their ranges, and equalities learnt between dims."""

    ranges: dict[str, SymbolRange] = field(default_factory=dict[str, SymbolRange])
    replacements: dict[str, Dim] = field(default_factory=dict[str, Dim])

    def simplify(self, dim: Dim) -> Dim:
        """`dim` with the learnt equalities applied."""
        return substitute(dim, self.replacements) if self.replacements else dim

    def is_equal(self, lhs: Dim, rhs: Dim) -> bool:
        """Whether the two are certainly the same number."""
        return self.simplify(lhs) == self.simplify(rhs)

    def assume_equal(self, lhs: Dim, rhs: Dim) -> bool:
        """Learn lhs == rhs where one side is a lone symbol; False if they are certainly different."""
        lhs, rhs = self.simplify(lhs), self.simplify(rhs)
        if lhs == rhs:
            return True
        if isinstance(lhs, int) and isinstance(rhs, int):
            return False
        for one, other in ((lhs, rhs), (rhs, lhs)):
            if isinstance(one, DimExpr) and len(one.terms) == 1 and one.terms[0][1] == 1:
                (atoms, _) = one.terms[0]
                if len(atoms) == 1 and isinstance(atoms[0], str):
                    self.replacements = {n: substitute(d, {atoms[0]: other}) for n, d in self.replacements.items()}
                    self.replacements[atoms[0]] = other
                    return True
        return True

    def bounds(self, dim: Dim) -> tuple[int | None, int | None]:
        """Inclusive lower and upper bound of `dim`, None where unbounded."""
        dim = self.simplify(dim)
        if isinstance(dim, int):
            return dim, dim
        low: int | None = 0
        high: int | None = 0
        for monomial, factor in dim.terms:
            term_low, term_high = self._monomial_bounds(monomial)
            if factor < 0:
                term_low, term_high = term_high, term_low
            low = None if low is None or term_low is None else low + factor * term_low
            high = None if high is None or term_high is None else high + factor * term_high
        return low, high

    def _monomial_bounds(self, monomial: Monomial) -> tuple[int | None, int | None]:
        low: int | None = 1
        high: int | None = 1
        for atom in monomial:
            atom_low, atom_high = self._atom_bounds(atom)
            if atom_low is None or atom_low < 0:
                return None, None
            low = None if low is None else low * atom_low
            high = None if high is None or atom_high is None else high * atom_high
        return low, high

    def _atom_bounds(self, atom: Atom) -> tuple[int | None, int | None]:
        if isinstance(atom, str):
            known = self.ranges.get(atom, SymbolRange())
            return known.minimum, known.maximum
        low, high = self.bounds(atom.expression)
        if atom.operator == "mod":
            return 0, atom.divisor - 1
        return (None if low is None else low // atom.divisor, None if high is None else high // atom.divisor)

    def is_multiple_of(self, dim: Dim, divisor: int) -> bool:
        """Whether `dim` is certainly divisible by `divisor`."""
        dim = self.simplify(dim)
        if isinstance(dim, int):
            return dim % divisor == 0
        for monomial, factor in dim.terms:
            for atom in monomial:
                factor *= self.ranges.get(atom, SymbolRange()).multiple_of if isinstance(atom, str) else 1
            if factor % divisor:
                return False
        return True
