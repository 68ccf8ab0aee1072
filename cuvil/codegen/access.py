"""What an emitter of a heavy kernel needs to know of its surroundings: strided operands in, finished elements out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from xdsl.ir import SSAValue

from cuvil.codegen.loops import Index, LoopBuilder


@dataclass(frozen=True)
class StridedOperand:
    """A view of a flat buffer: element [i0, i1, ...] lies at `offset + i0 * strides[0] + i1 * strides[1] + ...`.

    A stride of 0 is a broadcast dim. `offset` and `strides` are in elements.
    """

    buffer: SSAValue
    offset: Index
    shape: tuple[Index, ...]
    strides: tuple[Index, ...]


class Epilogue(Protocol):
    """Where a heavy kernel's results go: the fused element-wise operations and the store."""

    def store(self, b: LoopBuilder, row: Index, column: Index, value: SSAValue, mask: SSAValue | None) -> None:
        """Finish and store result elements [row, column : column + lanes of `value`].

        Rows flatten every result dim but the last group (a contraction's batch and M dims; N, H, W of a channels-last
        convolution or pool), columns flatten the last (N dims; channels). `mask` marks the lanes that exist.
        """
        ...
