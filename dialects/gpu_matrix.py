"""Products on tensor cores in `cuvil_gpu`: a warp's fragments, how they are loaded, and `mma`.

A *fragment* is a matrix spread over the warp's 32 lanes, each lane a vector of its elements. For `mma` of 16 x 8 x 16,
lane l with g = l / 4 and t = l % 4 holds

| matrix     | element i of the lane's vector is in row                   | and column                       |
|------------|------------------------------------------------------------|----------------------------------|
| A, 16 x 16 | g, or g + 8 where i is 2, 3, 6 or 7                        | 2t + i % 2, plus 8 from i = 4 on |
| B, 16 x 8  | 2t + i % 2, plus 8 from i = 2 on                           | g                                |
| C, 16 x 8  | g, or g + 8 from i = 2 on                                  | 2t + i % 2                       |

Source: PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type".
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    IndexType,
    IntegerAttr,
    MemRefType,
    UnitAttr,
    VectorType,
    f32,
    i32,
)
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    EqAttrConstraint,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import MemoryReadEffect, Pure
from xdsl.utils.exceptions import VerifyException

from cuvil.dialects.gpu_base import SHARED, check_buffer

MMA_SHAPE = (16, 8, 16)
"""M, N and K of `mma`."""
A_ELEMENTS, B_ELEMENTS, C_ELEMENTS = 8, 4, 4
"""Elements of the fragments that one lane holds."""
MATRIX_ROWS = 8
"""Rows, and elements of a row, of the small matrices that `load_matrix` loads."""


@irdl_op_definition
class MmaOp(IRDLOperation):
    """A warp's product A B + C of 16 x 16 by 16 x 8, halves multiplied, f32 accumulated. sm_80 and up.

    `cuvil_gpu.mma %a, %b, %c : vector<8xbf16>, vector<4xbf16>, vector<4xf32>`
    """

    name = "cuvil_gpu.mma"

    a = operand_def(VectorType)
    b = operand_def(VectorType)
    c = operand_def(VectorType)
    result = result_def(VectorType)

    traits = traits_def(Pure())

    assembly_format = "$a `,` $b `,` $c attr-dict `:` type($a) `,` type($b) `,` type($c) `->` type($result)"

    def __init__(self, a: SSAValue, b: SSAValue, c: SSAValue) -> None:
        super().__init__(operands=[a, b, c], result_types=[c.type])

    def verify_(self) -> None:
        a_type = self.a.type
        assert isinstance(a_type, VectorType)
        element = a_type.element_type
        if not isinstance(element, Float16Type | BFloat16Type):
            raise VerifyException(f"{self.name}: expected factors of f16 or bf16, got {element}")
        for letter, value, expected in (
            ("A", self.a, VectorType(element, [A_ELEMENTS])),
            ("B", self.b, VectorType(element, [B_ELEMENTS])),
            ("C", self.c, VectorType(f32, [C_ELEMENTS])),
            ("the result", self.result, VectorType(f32, [C_ELEMENTS])),
        ):
            if value.type != expected:
                raise VerifyException(f"{self.name}: expected {letter} to be {expected}, got {value.type}")


@irdl_op_definition
class LoadMatrixOp(IRDLOperation):
    """Load `matrices` (1, 2 or 4) of 8 x 8 halves from shared memory, spread over the warp.

    `cuvil_gpu.load_matrix %s[%i] matrices = 4 : memref<1024xbf16, 3 : i32>, vector<8xbf16>`

    Lane l says where row l % 8 of matrix l / 8 begins, at a multiple of 8 elements. Lane l receives, of each matrix,
    elements 2 (l % 4) and 2 (l % 4) + 1 of row l / 4; with `transposed`, of column l / 4.
    """

    name = "cuvil_gpu.load_matrix"

    buffer = operand_def(MemRefType)
    index = operand_def(IndexType)
    matrices = prop_def(IntegerAttr.constr(type=EqAttrConstraint(i32)))
    transposed = opt_prop_def(UnitAttr)
    result = result_def(VectorType)

    traits = traits_def(MemoryReadEffect())

    assembly_format = (
        "$buffer `[` $index `]` `matrices` `=` $matrices (`transposed` $transposed^)? attr-dict "
        "`:` type($buffer) `,` type($result)"
    )

    def __init__(self, buffer: SSAValue, index: SSAValue, matrices: int, transposed: bool = False) -> None:
        assert isinstance(buffer.type, MemRefType)
        super().__init__(
            operands=[buffer, index],
            properties={
                "matrices": IntegerAttr(matrices, i32),
                "transposed": UnitAttr() if transposed else None,
            },
            result_types=[VectorType(buffer.type.element_type, [2 * matrices])],
        )

    def verify_(self) -> None:
        buffer = check_buffer(self, self.buffer.type, SHARED)
        if not isinstance(buffer.element_type, Float16Type | BFloat16Type):
            raise VerifyException(f"{self.name}: expected elements of f16 or bf16, got {buffer}")
        count = self.matrices.value.data
        if count not in (1, 2, 4):
            raise VerifyException(f"{self.name}: expected 1, 2 or 4 matrices, got {count}")
        expected = VectorType(buffer.element_type, [2 * count])
        if self.result.type != expected:
            raise VerifyException(f"{self.name}: expected a result of {expected}, got {self.result.type}")


MATRIX_OPERATIONS: Sequence[type[Operation]] = (LoadMatrixOp, MmaOp)
