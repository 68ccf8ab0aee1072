"""The sizes of symbolic dims, from the shapes that arguments really have.

`bind_symbols` solves for them each time. `SymbolBinding` finds out once which dim gives which symbol, and makes a
Python function of it that a call spends less than a microsecond in:

    def bind(tensors):
        a0, a1 = tensors[0].shape
        v0 = a0
        v1 = a1
        if not (1 <= v0 <= 8 and 1 <= v1 <= 512): return None
        return (v0, v1,)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cuvil.errors import UnsupportedError, UserError
from cuvil.semantics.dims import Dim, DimExpr, ShapeEnvironment, SymbolRange, substitute, symbol

Shape = Sequence[Dim]


def bind_symbols(dims: Iterable[tuple[Dim, int]]) -> dict[str, int]:
    """The values of all symbols that follow from dims and the sizes they have.

    A dim that is linear in one unknown symbol gives it: `s0` = 5, or `2*s0 + 1` = 7. Others are only checked.
    Raises `UserError` where a size contradicts a dim.
    """
    symbols: dict[str, int] = {}
    waiting = [(dim, size) for dim, size in dims]
    while waiting:
        later = [(dim, size) for dim, size in waiting if not _settle(dim, size, symbols)]
        if len(later) == len(waiting):
            return symbols
        waiting = later
    return symbols


def _settle(dim: Dim, size: int, symbols: dict[str, int]) -> bool:
    """Whether nothing more can be learnt from this dim."""
    if isinstance(dim, DimExpr):
        unknown = dim.symbols() - symbols.keys()
        if len(unknown) > 1:
            return False
        if unknown:
            found = _solve(dim, size, next(iter(unknown)), symbols)
            if found is None:
                return False
            symbols[next(iter(unknown))] = found
    actual = dim if isinstance(dim, int) else dim.evaluate(symbols)
    if actual != size:
        known = ", ".join(f"{name} = {value}" for name, value in sorted(symbols.items()))
        raise UserError(
            f"a dim of size {size} is declared as {dim}, which is {actual}" + (f" where {known}" * bool(known))
        )
    return True


def _solve(dim: DimExpr, size: int, unknown: str, symbols: dict[str, int]) -> int | None:
    """The value of the only unknown symbol of a dim that is linear in it; None if it is not."""
    at_zero, at_one, at_two = (dim.evaluate({**symbols, unknown: value}) for value in (0, 1, 2))
    slope = at_one - at_zero
    if slope == 0 or at_two - at_one != slope or any(not isinstance(a, str) for m, _ in dim.terms for a in m):
        return None
    return (size - at_zero) // slope


@dataclass(frozen=True)
class BoundInput:
    """An input: its name, its shape, and what the caller calls its open dims."""

    name: str
    shape: Shape
    dim_names: Mapping[int, str]


class SymbolBinding:
    """The symbols of a function, as its inputs' shapes give them."""

    def __init__(
        self, inputs: Sequence[BoundInput], ranges: Mapping[str, SymbolRange], obligations: Sequence[DimExpr] = ()
    ) -> None:
        """`obligations` must not be negative. Raises `UnsupportedError` for a symbol that follows from no input."""
        self.inputs = tuple(inputs)
        self.ranges = dict(ranges)
        self.obligations = tuple(obligations)
        self._locals: dict[str, Dim] = {name: symbol(f"v{number}") for number, name in enumerate(ranges)}
        self.bind: Callable[[Sequence[Any]], tuple[int, ...] | None] = _function("bind", self._source())
        """The symbols' values from tensors (or arrays), in order; None where the shapes do not fit."""

    def shapes(self, shapes: Sequence[Shape]) -> Callable[..., tuple[tuple[int, ...], ...]]:
        """A function of the symbols' values, in order, that gives shapes."""
        texts = [_tuple(self._text(dim) for dim in shape) for shape in shapes]
        parameters = ", ".join(str(local) for local in self._locals.values())
        return _function("shapes", [f"def shapes({parameters}):", f"    return {_tuple(texts)}"])

    def fault(self, shapes: Sequence[Sequence[int]]) -> str:
        """What is wrong with inputs of these shapes, for which `bind` gave None."""
        return _fault(self, shapes) or "the arguments' shapes contradict each other"

    def _source(self) -> list[str]:
        lines = ["def bind(tensors):"]
        sizes: dict[tuple[int, int], str] = {}
        for number, given in enumerate(self.inputs):
            if not any(isinstance(dim, DimExpr) for dim in given.shape):
                continue
            names = [f"a{number}_{axis}" for axis in range(len(given.shape))]
            lines.append(f"    {', '.join(names)}, = tensors[{number}].shape")
            sizes.update({(number, axis): name for axis, name in enumerate(names)})
        solved, sources = self._solved(sizes)
        lines += solved
        checks = [f"{name} == {self._text(self._dim(place))}" for place, name in sizes.items() if place not in sources]
        checks += [text for name, known in self.ranges.items() if (text := self._check(name, known))]
        checks += [f"{self._text(dim)} >= 0" for dim in self.obligations]
        if checks:
            lines.append(f"    if not ({' and '.join(checks)}): return None")
        return [*lines, f"    return {_tuple(str(local) for local in self._locals.values())}"]

    def _solved(self, sizes: Mapping[tuple[int, int], str]) -> tuple[list[str], set[tuple[int, int]]]:
        """Assignments that give every symbol, and the dims that need no check because they are one themselves."""
        lines: list[str] = []
        plain: set[tuple[int, int]] = set()
        known: set[str] = set()
        while len(known) < len(self.ranges):
            before = len(known)
            for place, name in sizes.items():
                dim = self._dim(place)
                unknown = dim.symbols() - known if isinstance(dim, DimExpr) else frozenset[str]()
                if len(unknown) != 1 or not isinstance(dim, DimExpr):
                    continue
                (wanted,) = unknown
                linear = linear_in(dim, wanted)
                if linear is None:
                    continue
                factor, rest = linear
                value = name if rest == 0 else f"({name} - ({self._text(rest)}))"
                lines.append(f"    {self._locals[wanted]} = {value if factor == 1 else f'{value} // {factor}'}")
                known.add(wanted)
                if factor == 1 and rest == 0:
                    plain.add(place)
            if len(known) == before:
                missing = next(name for name in self.ranges if name not in known)
                raise UnsupportedError(f"the size of the dim {missing} follows from no input's shape")
        return lines, plain

    def _check(self, name: str, known: SymbolRange) -> str:
        local = self._locals[name]
        upper = "" if known.maximum is None else f" <= {known.maximum}"
        text = f"{known.minimum} <= {local}{upper}"
        return text if known.multiple_of == 1 else f"{text} and {local} % {known.multiple_of} == 0"

    def _dim(self, place: tuple[int, int]) -> Dim:
        number, axis = place
        return self.inputs[number].shape[axis]

    def _text(self, dim: Dim) -> str:
        """A dim as a Python expression of the local names."""
        return str(substitute(dim, self._locals)).replace(" floordiv ", " // ").replace(" mod ", " % ")


def linear_in(dim: DimExpr, name: str) -> tuple[int, Dim] | None:
    """The factor and the rest of a dim that is `factor * name + rest`; None if it is not."""
    rest, factor = substitute(dim, {name: 0}), 0
    slope = dim - rest
    if isinstance(slope, DimExpr) and len(slope.terms) == 1 and slope.terms[0][0] == (name,):
        factor = slope.terms[0][1]
    return (factor, rest) if factor else None


def _tuple(parts: Iterable[str]) -> str:
    return "(" + "".join(f"{part}, " for part in parts) + ")"


def _function(name: str, lines: Sequence[str]) -> Any:
    namespace: dict[str, Any] = {}
    exec("\n".join(lines), namespace)
    return namespace[name]


# -- what is wrong -----------------------------------------------------------------------------------------------------


def _fault(binding: SymbolBinding, shapes: Sequence[Sequence[int]]) -> str | None:
    """The first dim that is out of its range or contradicts another."""
    environment = ShapeEnvironment(binding.ranges)
    symbols: dict[str, int] = {}
    origin: dict[str, str] = {}
    for given, shape in zip(binding.inputs, shapes, strict=True):
        for axis, (dim, size) in enumerate(zip(given.shape, shape, strict=True)):
            where = f"input '{given.name}', dim {axis}"
            if isinstance(dim, int):
                if dim != size:
                    return f"{where}: got {size}, expected {dim}"
                continue
            called = f"{where} ({given.dim_names.get(axis, dim)})"
            expected = _expected(dim, environment)
            if not _is_in_range(dim, size, environment):
                return f"{called}: got {size}, expected {expected}"
            unknown = dim.symbols() - symbols.keys()
            if len(unknown) == 1:
                (name,) = unknown
                linear = linear_in(dim, name)
                if linear is not None:
                    rest = linear[1] if isinstance(linear[1], int) else linear[1].evaluate(symbols)
                    symbols[name], origin[name] = (size - rest) // linear[0], f"dim {axis} of '{given.name}'"
            if dim.symbols() <= symbols.keys() and dim.evaluate(symbols) != size:
                sources = dict.fromkeys(origin[name] for name in sorted(dim.symbols()))
                return f"{called}: got {size}, expected {dim.evaluate(symbols)} as by {', '.join(sources)}"
    for dim in binding.obligations:
        if dim.symbols() <= symbols.keys() and dim.evaluate(symbols) < 0:
            where = " and ".join(f"{name} = {symbols[name]}" for name in sorted(dim.symbols()))
            return (
                f"where {where}, the size {dim} would be {dim.evaluate(symbols)}: the model was traced for larger ones"
            )
    return None


def _is_in_range(dim: DimExpr, size: int, environment: ShapeEnvironment) -> bool:
    low, high = environment.bounds(dim)
    divisor, rest = _divisor(dim, environment)
    return (low is None or size >= low) and (high is None or size <= high) and (size - rest) % divisor == 0


def _expected(dim: DimExpr, environment: ShapeEnvironment) -> str:
    low, high = environment.bounds(dim)
    text = f"at least {low or 0}" if high is None else f"{low or 0}..{high}"
    divisor, rest = _divisor(dim, environment)
    if divisor == 1:
        return text
    return f"{text}, a multiple of {divisor}" + (f" plus {rest}" if rest else "")


def _divisor(dim: DimExpr, environment: ShapeEnvironment) -> tuple[int, int]:
    """What divides a dim but for a constant, and that constant."""
    factors: list[int] = []
    for monomial, factor in dim.terms:
        for atom in monomial:
            factor *= environment.ranges.get(atom, SymbolRange()).multiple_of if isinstance(atom, str) else 1
        factors += [factor] if monomial else []
    return max(math.gcd(*factors), 1), dict(dim.terms).get((), 0)
