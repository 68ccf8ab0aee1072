"""What must hold of symbols so that a program's sizes make sense: no dim negative, nothing taken that is not there.

Front ends take shapes from PyTorch, which assumes sizes of 2 and more at times: `x[:, :-1]` has `s - 1` columns, which
is right for s >= 1 alone. An obligation is a dim expression that must not be negative. Most hold for whatever a size
may be; of the others it is found out here whether they hold in the declared ranges, and what is left is checked at each
call.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation

from cuvil.dialects.tensor import ArgReduceOp, SliceOp, TopkOp, numbers, shape_of
from cuvil.semantics.dims import Dim, DimExpr, ShapeEnvironment, SymbolRange

MOST_VALUES = 1 << 14
"""For how many combinations of the symbols' values an obligation is tried out."""


def obligations(function: Operation) -> list[DimExpr]:
    """The expressions that must not be negative, each once; those that never are left out."""
    found: dict[DimExpr, None] = {}
    types: set[TensorType] = set()
    for op in function.walk():
        for value in op.results:
            if isinstance(value.type, TensorType) and value.type not in types:
                types.add(value.type)
                found.update(dict.fromkeys(_open(shape_of(value.type))))
        if isinstance(op, SliceOp):
            found.update(dict.fromkeys(_open(_beyond(op))))
        elif isinstance(op, TopkOp):
            found.update(dict.fromkeys(_open((shape_of(op.input.type)[op.axis.value.data] - op.k.value.data,))))
        elif isinstance(op, ArgReduceOp):
            found.update(dict.fromkeys(_open((shape_of(op.input.type)[op.axis.value.data] - 1,))))
    return [dim for dim in found if any(factor < 0 for _, factor in dim.terms)]


def _beyond(op: SliceOp) -> Iterator[Dim]:
    """How many elements there are behind the last one of a slice."""
    source, result = shape_of(op.input.type), shape_of(op.result.type)
    for size, count, start, step in zip(source, result, numbers(op.starts), numbers(op.steps), strict=True):
        yield size - (count - 1) * step - (start + 1)


def _open(dims: Iterator[Dim] | tuple[Dim, ...]) -> Iterator[DimExpr]:
    for dim in dims:
        if isinstance(dim, DimExpr):
            yield dim


def is_met(dim: Dim, ranges: Mapping[str, SymbolRange]) -> bool:
    """Whether a dim is certainly not negative where the symbols are in their ranges."""
    if isinstance(dim, int):
        return dim >= 0
    low, _ = ShapeEnvironment(dict(ranges)).bounds(dim)
    if low is not None and low >= 0:
        return True
    values = _values(dim, ranges)
    return values is not None and all(dim.evaluate(sizes) >= 0 for sizes in values)


def counterexample(dim: DimExpr, ranges: Mapping[str, SymbolRange]) -> dict[str, int] | None:
    """Values of the symbols in their ranges where a dim is negative: the smallest; None if none is found."""
    values = _values(dim, ranges)
    if values is None:
        least = {name: _least(ranges.get(name, SymbolRange())) for name in sorted(dim.symbols())}
        return least if dim.evaluate(least) < 0 else None
    return next((sizes for sizes in values if dim.evaluate(sizes) < 0), None)


def _values(dim: DimExpr, ranges: Mapping[str, SymbolRange]) -> Iterator[dict[str, int]] | None:
    """All values of a dim's symbols, from the least on; None where there are too many."""
    names = sorted(dim.symbols())
    each: list[range] = []
    for name in names:
        known = ranges.get(name, SymbolRange())
        if known.maximum is None:
            return None
        each.append(range(_least(known), known.maximum + 1, known.multiple_of))
    if math.prod(len(values) for values in each) > MOST_VALUES:
        return None
    return (dict(zip(names, sizes, strict=True)) for sizes in itertools.product(*each))


def _least(known: SymbolRange) -> int:
    return -(-known.minimum // known.multiple_of) * known.multiple_of
