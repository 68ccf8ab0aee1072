"""Products on tensor cores: fragments are put together to matrices, multiplied, and taken apart again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cuvil.dialects import gpu_matrix
from cuvil.dialects.gpu_matrix import A_ELEMENTS, B_ELEMENTS, C_ELEMENTS, MATRIX_ROWS, MMA_SHAPE
from cuvil.semantics.simulator.memory import WARP_SIZE, Array
from cuvil.semantics.simulator.rules_threads import need_whole_warp
from cuvil.semantics.simulator.warp import Rule, Warp

Values = Sequence[Any]

_LANES = np.arange(WARP_SIZE)[:, None]
_GROUP, _WITHIN = _LANES // 4, _LANES % 4


def _a_places() -> tuple[Array, Array]:
    i = np.arange(A_ELEMENTS)
    return _GROUP + 8 * (i // 2 % 2), 2 * _WITHIN + i % 2 + 8 * (i // 4)


def _b_places() -> tuple[Array, Array]:
    i = np.arange(B_ELEMENTS)
    return 2 * _WITHIN + i % 2 + 8 * (i // 2), np.broadcast_to(_GROUP, (WARP_SIZE, B_ELEMENTS))


def _c_places() -> tuple[Array, Array]:
    i = np.arange(C_ELEMENTS)
    return _GROUP + 8 * (i // 2), 2 * _WITHIN + i % 2


def _matrix(fragment: Array, places: tuple[Array, Array], shape: tuple[int, int]) -> Array:
    matrix = np.zeros(shape, np.float64)
    matrix[places] = fragment
    return matrix


def _mma(warp: Warp, op: gpu_matrix.MmaOp, operands: Values) -> Values:
    need_whole_warp(warp, op)
    a, b, c = operands
    m, n, k = MMA_SHAPE
    # Products of halves are exact in float64; tensor cores add them with at least the accuracy of float32.
    result = _matrix(a, _a_places(), (m, k)) @ _matrix(b, _b_places(), (k, n)) + _matrix(c, _c_places(), (m, n))
    return [result[_c_places()].astype(np.float32)]


def _load_matrix(warp: Warp, op: gpu_matrix.LoadMatrixOp, operands: Values) -> Values:
    need_whole_warp(warp, op)
    buffer, index = operands
    count = op.matrices.value.data
    rows = index[: MATRIX_ROWS * count]
    access = warp.access(op, slice(0, MATRIX_ROWS * count))
    buffer.check_aligned(rows, MATRIX_ROWS, access)
    loaded = buffer.read(rows[:, None] + np.arange(MATRIX_ROWS), access)
    matrices = loaded.reshape(count, MATRIX_ROWS, MATRIX_ROWS)
    if op.transposed is not None:
        matrices = matrices.transpose(0, 2, 1)
    lanes = np.arange(WARP_SIZE)
    pairs = matrices[:, lanes // 4].reshape(count, WARP_SIZE, 4, 2)[:, lanes, lanes % 4]
    return [np.ascontiguousarray(pairs.transpose(1, 0, 2).reshape(WARP_SIZE, 2 * count))]


RULES: dict[str, Rule] = {"cuvil_gpu.mma": _mma, "cuvil_gpu.load_matrix": _load_matrix}
