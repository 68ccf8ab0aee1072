"""Named dims that a compilation leaves open: `cuvil.compile(model, (x,), dynamic_shapes=({0: cuvil.Dim("batch")},))`.

    batch = cuvil.Dim("batch", min=1, max=8)
    seq = cuvil.Dim("seq", min=1, max=512, multiple_of=8)
    compiled = cuvil.compile(model, (tokens,), dynamic_shapes=({0: batch, 1: seq},))

One compilation serves every size of the range, 0 and 1 included where they are in it. `2 * seq`, `seq + 1` and
`seq - 1` are dims that follow from another. Importing this module imports nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from keyword import iskeyword

_RESERVED = ("floordiv", "mod")
"""Words of dim expressions."""


@dataclass(frozen=True)
class DerivedDim:
    """`factor * root + offset`, made by arithmetic on a `Dim`."""

    root: Dim
    factor: int = 1
    offset: int = 0

    def __mul__(self, factor: int) -> DerivedDim:
        _check_number(factor)
        if factor < 1:
            raise ValueError(f"{self}: a dim is multiplied by a number of at least 1, got {factor}")
        return DerivedDim(self.root, self.factor * factor, self.offset * factor)

    __rmul__ = __mul__

    def __add__(self, number: int) -> DerivedDim:
        _check_number(number)
        return DerivedDim(self.root, self.factor, self.offset + number)

    __radd__ = __add__

    def __sub__(self, number: int) -> DerivedDim:
        _check_number(number)
        return self + -number

    def __str__(self) -> str:
        scaled = self.root.name if self.factor == 1 else f"{self.factor}*{self.root.name}"
        return scaled if not self.offset else f"{scaled} {'+' if self.offset > 0 else '-'} {abs(self.offset)}"


@dataclass(frozen=True)
class Dim:
    """A dim by name: a size from `min` to `max` (None: any) that is a multiple of `multiple_of`.

    Dims of one name in several arguments have the same size. Raises `ValueError` for a name that is no identifier and
    for a range without sizes.
    """

    name: str
    min: int = 1
    max: int | None = None
    multiple_of: int = 1

    def __post_init__(self) -> None:
        if not self.name.isidentifier() or iskeyword(self.name) or self.name in _RESERVED:
            raise ValueError(f"Dim({self.name!r}): a dim's name is an identifier")
        for number in (self.min, self.multiple_of, *(() if self.max is None else (self.max,))):
            _check_number(number)
        if self.min < 0 or self.multiple_of < 1:
            raise ValueError(f"Dim({self.name!r}): min is at least 0 and multiple_of at least 1")
        if self.max is not None and self.max // self.multiple_of * self.multiple_of < self.min:
            what = f"multiple of {self.multiple_of}" if self.multiple_of > 1 else "size"
            raise ValueError(f"Dim({self.name!r}): there is no {what} from {self.min} to {self.max}")

    def __mul__(self, factor: int) -> DerivedDim:
        return DerivedDim(self) * factor

    __rmul__ = __mul__

    def __add__(self, number: int) -> DerivedDim:
        return DerivedDim(self) + number

    __radd__ = __add__

    def __sub__(self, number: int) -> DerivedDim:
        return DerivedDim(self) - number


def _check_number(number: object) -> None:
    if not isinstance(number, int) or isinstance(number, bool):
        raise TypeError(f"expected an int, got {number!r}")
