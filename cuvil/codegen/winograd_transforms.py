"""The one-dimensional transforms of Winograd's F(m, 3): input, weight and output, for m = 2 and m = 4.

    y = A^T [(G g) * (B^T d)]        for m outputs y, 3 weights g, a = m + 2 inputs d

Two dimensions apply them to columns and then rows. F(2, 3) interpolates at 0, 1, -1 and infinity. F(4, 3) needs 36
products for 16 outputs, not 64, and rounds more. At the usual points 0, 1, -1, 2, -2 the relative error of 256 channels
in f32 is 3.1e-6; at 0, 5/8, -5/8, 3/2, -3/2, whose powers are exact and near one another, 1.4e-6, and no more
arithmetic (F(2, 3): 5e-7, direct: 8e-7).
Source: Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, 2015, section 4; the points by search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Attribute, SSAValue

from cuvil.codegen.loops import LoopBuilder, element_type_of, width_of

_P, _Q = 5 / 8, 3 / 2
_P2, _Q2 = _P * _P, _Q * _Q


def _weight_row(point: float, other: float) -> list[float]:
    """G's row of `point`: its powers over the product of its distances from 0, -point, other and -other."""
    scale = 2 * point**2 * (point**2 - other**2)
    return [1 / scale, point / scale, point**2 / scale]


WEIGHT_TRANSFORMS: dict[int, list[list[float]]] = {
    2: [[1, 0, 0], [1 / 2, 1 / 2, 1 / 2], [1 / 2, -1 / 2, 1 / 2], [0, 0, 1]],
    4: [
        [1 / (_P2 * _Q2), 0, 0],
        _weight_row(_P, _Q),
        _weight_row(-_P, _Q),
        _weight_row(_Q, _P),
        _weight_row(-_Q, _P),
        [0, 0, 1],
    ],
}
"""G for each m: [m + 2, 3]."""


def weight_matrix(outputs: int) -> list[list[float]]:
    """The weight's whole transform for m = `outputs`, [a * a, 9]: kernel [3, 3], flat => a x a products, flat."""
    g = WEIGHT_TRANSFORMS[outputs]
    return [[x * y for x in row for y in column] for row in g for column in g]


@dataclass(frozen=True)
class _Arithmetic:
    b: LoopBuilder
    like: SSAValue

    def constant(self, number: float) -> SSAValue:
        return self.b.constant(number, self._type, width_of(self.like.type))

    @property
    def _type(self) -> Attribute:
        return element_type_of(self.like.type)

    def add(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        return self.b.add_float(lhs, rhs)

    def sub(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        return self.b.sub_float(lhs, rhs)

    def scale(self, factor: float, value: SSAValue) -> SSAValue:
        return self.b.mul_float(self.constant(factor), value)

    def fma(self, factor: float, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """factor * lhs + rhs."""
        return self.b.fma(self.constant(factor), lhs, rhs)


def transform_input(b: LoopBuilder, d: Sequence[SSAValue]) -> list[SSAValue]:
    """B^T d, for four or six inputs."""
    x = _Arithmetic(b, d[0])
    if len(d) == 4:
        return [x.sub(d[0], d[2]), x.add(d[1], d[2]), x.sub(d[2], d[1]), x.sub(d[1], d[3])]
    even_p, odd_p = x.fma(-_Q2, d[2], d[4]), x.fma(-_Q2, d[1], d[3])
    even_q, odd_q = x.fma(-_P2, d[2], d[4]), x.fma(-_P2, d[1], d[3])
    return [
        x.fma(_P2 * _Q2, d[0], x.fma(-_P2 - _Q2, d[2], d[4])),
        x.fma(_P, odd_p, even_p),
        x.fma(-_P, odd_p, even_p),
        x.fma(_Q, odd_q, even_q),
        x.fma(-_Q, odd_q, even_q),
        x.fma(_P2 * _Q2, d[1], x.fma(-_P2 - _Q2, d[3], d[5])),
    ]


def transform_output(b: LoopBuilder, d: Sequence[SSAValue]) -> list[SSAValue]:
    """A^T d, for four or six products."""
    x = _Arithmetic(b, d[0])
    if len(d) == 4:
        return [x.add(x.add(d[0], d[1]), d[2]), x.sub(x.sub(d[1], d[2]), d[3])]
    sum_p, sum_q = x.add(d[1], d[2]), x.add(d[3], d[4])
    difference_p, difference_q = x.sub(d[1], d[2]), x.sub(d[3], d[4])
    return [
        x.add(x.add(d[0], sum_p), sum_q),
        x.fma(_P, difference_p, x.scale(_Q, difference_q)),
        x.fma(_P2, sum_p, x.scale(_Q2, sum_q)),
        x.fma(_P * _P2, difference_p, x.fma(_Q * _Q2, difference_q, d[5])),
    ]
