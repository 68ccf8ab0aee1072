"""The sizes of symbolic dims, from the shapes that arguments really have."""

from __future__ import annotations

from collections.abc import Iterable

from cuvil.errors import UserError
from cuvil.semantics.dims import Dim, DimExpr


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
