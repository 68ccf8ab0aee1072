"""Kernels of the `loop` family: element-wise regions, movement, and reductions along any axes.

Three loop shapes, chosen by what the region holds: *pointwise* where nothing is reduced, *rows* for reductions over
trailing axes and what depends on them, *columns* for one level of reductions over other axes.
"""

from __future__ import annotations

from cuvil.codegen.column_loops import Columns
from cuvil.codegen.loop_kernel import LoopKernel
from cuvil.codegen.loops import LoopBuilder
from cuvil.codegen.pointwise_loops import Pointwise
from cuvil.codegen.row_loops import Rows, is_rowwise


def emit_loop_kernel(b: LoopBuilder, kernel: LoopKernel) -> None:
    """Append the loops that compute `kernel`."""
    if not kernel.reductions:
        Pointwise(b, kernel).emit()
    elif is_rowwise(kernel):
        Rows(b, kernel).emit()
    else:
        Columns(b, kernel).emit()
