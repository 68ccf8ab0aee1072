"""Layouts of a contraction's right-hand side: panels of a few vectors' columns, packed ahead or inside the kernel.

A matrix B [K, N] is packed as `[ceil(N / nr)][K][nr]`: panel p holds columns p * nr ... of every row of B, row after
row, and the columns past N are zeros. The micro-kernel then reads one contiguous stream, whatever N is, and
needs no mask until the results are stored. Batched matrices are packed one after the other.

`pack_rhs` and `unpack_rhs` are the meaning in NumPy (and pack constant weights at compile time);
`emit_pack_panel` is the same on a slice of one panel, as loop-level IR, for matrices known only at run time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import AnyFloat, DenseArrayBase, IntegerType, f32, i64
from xdsl.ir import Attribute, SSAValue

from cuvil.codegen.loops import Index, LoopBuilder, element_type_of, vector_of, width_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cuvil.targets.cpu import CpuTarget


@dataclass(frozen=True)
class PackedOperand:
    """Matrices packed in panels of `panel` columns: element [batch, k, n] lies at
    `offset + batch . batch_strides + ((n // panel) * K + k) * panel + n % panel`.
    """

    buffer: SSAValue
    offset: Index
    panel: int
    batch_strides: tuple[Index, ...] = ()
    """One per batch dim (0: shared); empty means shared by every batch."""


def element_bits(element_type: Attribute) -> int:
    """The size of a float or integer type in memory, in bits (a boolean takes a byte)."""
    if isinstance(element_type, AnyFloat):
        return element_type.bitwidth
    assert isinstance(element_type, IntegerType)
    return max(8, element_type.width.data)


def accumulator_type(element_type: Attribute) -> Attribute:
    """The type that products of `element_type` are summed in: f32 for the 16-bit floats, else the type itself."""
    is_half = isinstance(element_type, AnyFloat) and element_type.bitwidth == 16
    return f32 if is_half else element_type


def choose_panel(target: CpuTarget, element_type: Attribute, columns: int | None = None) -> int:
    """The panel width for `element_type`: two registers of accumulators, four where registers are only 16 bytes long.

    With `columns` known and no wider than one register, one register.
    """
    lanes = target.lanes(element_bits(accumulator_type(element_type)))
    if columns is not None and columns <= lanes:
        return lanes
    wide = target.vector_bytes <= 16 and target.vector_registers >= 32
    return lanes * (4 if wide else 2)


def packed_size(rows: int, columns: int, panel: int) -> int:
    """The number of elements that a [rows, columns] matrix takes packed."""
    return -(-columns // panel) * rows * panel


def pack_rhs(array: NDArray[Any], panel: int) -> NDArray[Any]:
    """Pack `array` [..., K, N] into flat panels (see the module's text); leading dims stay one after the other."""
    import numpy as np

    *batch, rows, columns = array.shape
    panels = -(-columns // panel)
    padded = np.zeros((*batch, rows, panels * panel), array.dtype)
    padded[..., :columns] = array
    split = padded.reshape(*batch, rows, panels, panel)
    return np.ascontiguousarray(np.moveaxis(split, -2, -3)).reshape(-1)


def unpack_rhs(packed: NDArray[Any], shape: tuple[int, ...], panel: int) -> NDArray[Any]:
    """The inverse of `pack_rhs`: `shape` is [..., K, N]."""
    import numpy as np

    *batch, rows, columns = shape
    panels = -(-columns // panel)
    split = packed.reshape(*batch, panels, rows, panel)
    return np.ascontiguousarray(np.moveaxis(split, -3, -2).reshape(*batch, rows, panels * panel)[..., :columns])


# -- inside a kernel ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MatrixView:
    """A matrix in a flat buffer: element [row, column] lies at position + row * row_stride + column * column_stride."""

    buffer: SSAValue
    position: Index
    row_stride: Index
    column_stride: Index

    def at(self, b: LoopBuilder, row: Index, column: Index) -> MatrixView:
        """The view whose origin is element [row, column]."""
        position = b.linear(self.position, (row, column), (self.row_stride, self.column_stride))
        return MatrixView(self.buffer, position, self.row_stride, self.column_stride)

    def element(self, b: LoopBuilder, row: Index, column: Index) -> Index:
        """The position of element [row, column]."""
        return b.linear(self.position, (row, column), (self.row_stride, self.column_stride))


def convert(b: LoopBuilder, value: SSAValue, element_type: Attribute) -> SSAValue:
    """`value` widened, or narrowed (floats round to nearest even, integers wrap), to `element_type`."""
    source = element_type_of(value.type)
    if source == element_type:
        return value
    result = vector_of(element_type, width_of(value.type))
    wider = element_bits(element_type) > element_bits(source)
    if isinstance(source, AnyFloat):
        return b.op(arith.ExtFOp if wider else arith.TruncFOp, value, result=result)
    return b.op(arith.ExtSIOp if wider else arith.TruncIOp, value, result=result)


Transform: TypeAlias = Callable[[SSAValue], SSAValue]
"""What packing does to each value (a vector or a scalar) on its way: convert, scale ..."""


def emit_pack_panel(
    b: LoopBuilder,
    source: MatrixView,
    rows: Index,
    columns: Index,
    scratch: SSAValue,
    panel: int,
    lanes: int,
    transform: Transform | None = None,
) -> None:
    """scratch[row * panel + column] = transform(source[row, column]), zero for `columns` <= column < `panel`.

    Without a transform, values are converted to the scratch's element type. `columns` may exceed `panel`: the panel is
    then full.
    """
    element_type = element_type_of(scratch.type)
    packer = _Packer(
        b, source, rows, scratch, panel, lanes, transform or (lambda value: convert(b, value, element_type))
    )
    if isinstance(columns, int):
        packer.pack(min(columns, panel))
        return
    with b.if_else(b.compare_index("sge", columns, panel)) as (full, partial):
        with full:
            packer.pack(panel)
        with partial:
            packer.pack(columns)


@dataclass(frozen=True)
class _Packer:
    b: LoopBuilder
    source: MatrixView
    rows: Index
    scratch: SSAValue
    panel: int
    lanes: int
    transform: Transform

    def pack(self, columns: Index) -> None:
        """The cheapest way that the source's strides allow."""
        if self.source.column_stride == 1:
            self._copy_rows(columns)
        elif self.source.row_stride == 1 and columns == self.panel:
            self._transpose_blocks()
        else:
            self._copy_scalars(columns)

    def _copy_rows(self, columns: Index) -> None:
        """Rows are contiguous: whole vectors, the last one masked."""
        b, source, lanes = self.b, self.source, self.lanes
        zero = b.constant(0, element_type_of(self.scratch.type), lanes)
        with b.for_(0, self.rows) as row:
            start = source.element(b, row.index, 0)
            target = b.mul(row.index, self.panel)
            for column in range(0, self.panel, lanes):
                position = b.add(start, column)
                active = lanes if columns == self.panel else b.sub(columns, column)
                if isinstance(active, int) and active >= lanes:
                    value = self.transform(b.load(source.buffer, position, lanes))
                elif isinstance(active, int) and active <= 0:
                    value = zero
                else:
                    mask = b.tail_mask(active if isinstance(active, int) else b.max(active, 0), lanes)
                    value = self.transform(b.masked_load(source.buffer, position, mask, lanes))
                b.store(value, self.scratch, b.add(target, column))

    def _copy_scalars(self, columns: Index) -> None:
        """Any strides: zeros first, then element by element, along the source's columns."""
        b = self.b
        if columns != self.panel:
            zero = b.constant(0, element_type_of(self.scratch.type), self.lanes)
            with b.for_(0, b.mul(self.rows, self.panel), self.lanes) as position:
                b.store(zero, self.scratch, position.index)
        with b.for_(0, columns) as column, b.for_(0, self.rows) as row:
            self._copy_scalar(row.index, column.index)

    def _copy_scalar(self, row: Index, column: Index) -> None:
        b = self.b
        value = self.transform(b.load(self.source.buffer, self.source.element(b, row, column)))
        b.store(value, self.scratch, b.add(b.mul(row, self.panel), column))

    def _transpose_blocks(self) -> None:
        """Columns are contiguous: blocks of lanes x lanes are read along the columns and transposed in registers."""
        b, source, lanes = self.b, self.source, self.lanes
        whole = b.mul(b.div(self.rows, lanes), lanes)
        with b.for_(0, whole, lanes) as row, b.for_(0, self.panel, lanes) as column:
            start = source.element(b, row.index, column.index)
            positions = [b.add(start, b.mul(lane, source.column_stride)) for lane in range(lanes)]
            lines = [self.transform(b.load(source.buffer, position, lanes)) for position in positions]
            target = b.add(b.mul(row.index, self.panel), column.index)
            for line, value in enumerate(transpose(b, lines)):
                b.store(value, self.scratch, b.add(target, line * self.panel))
        if whole != self.rows:
            with b.for_(whole, self.rows) as row, b.for_(0, self.panel) as column:
                self._copy_scalar(row.index, column.index)


def transpose(b: LoopBuilder, lines: list[SSAValue]) -> list[SSAValue]:
    """The transpose of the n x n matrix whose rows are `lines`: result[i][j] = lines[j][i]. n is a power of two.

    log2(n) rounds of n shuffles; each exchanges the off-diagonal halves of blocks twice as large as the last.
    """
    size = len(lines)
    assert size & (size - 1) == 0, "a transpose in registers takes a power of two of lanes"
    half = 1
    while half < size:
        low = [lane if not lane & half else lane - half + size for lane in range(size)]
        high = [lane + half if not lane & half else lane + size for lane in range(size)]
        result = list(lines)
        for line in range(size):
            if not line & half:
                first, second = lines[line], lines[line + half]
                result[line] = _shuffle(b, first, second, low)
                result[line + half] = _shuffle(b, first, second, high)
        lines = result
        half *= 2
    return lines


def _shuffle(b: LoopBuilder, first: SSAValue, second: SSAValue, lanes: list[int]) -> SSAValue:
    mask = DenseArrayBase.from_list(i64, lanes)
    return b.op(vector.ShuffleOp, first, second, result=first.type, mask=mask)
