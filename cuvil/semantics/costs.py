"""What an operation costs: floating-point (or integer) operations, and bytes moved if nothing stays in a cache.

Pure functions of types and attributes; with symbolic dims the costs are expressions of them. A multiply-add counts as
two; a transcendental function as the operations of its polynomial (the scalar table's `flops`). Movement costs
no operations. A kernel costs the operations inside it, but moves only what it reads and writes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import IntegerType, MemRefType, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from cuvil.dialects.fused import KernelOp
from cuvil.dialects.tensor import (
    ArgReduceOp,
    CompositeOp,
    ContractOp,
    ConvolutionOp,
    ElementwiseOp,
    PoolOp,
    ReduceOp,
    ScanOp,
    ScatterOp,
    SortOp,
    TopkOp,
    numbers,
    shape_of,
)
from cuvil.semantics.dims import Dim, product


@dataclass(frozen=True)
class Cost:
    """Operations and bytes, as numbers or expressions of symbolic dims."""

    flops: Dim
    bytes: Dim

    @property
    def intensity(self) -> float | None:
        """Operations for each byte moved; None if unknown before the program runs."""
        if not isinstance(self.flops, int) or not isinstance(self.bytes, int):
            return None
        return self.flops / self.bytes if self.bytes else 0.0


def cost_of(op: Operation) -> Cost:
    """The cost of a `cuvil_tensor` op or a kernel; other operations cost nothing themselves."""
    return Cost(flops(op), bytes_moved(op))


def total_cost(op: Operation) -> Cost:
    """The costs of all operations inside `op`, each once: loops and branches are not multiplied or weighed."""
    all_flops: Dim = 0
    all_bytes: Dim = 0
    waiting = [op]
    while waiting:
        inner = waiting.pop()
        all_flops, all_bytes = all_flops + flops(inner), all_bytes + bytes_moved(inner)
        if not isinstance(inner, KernelOp):
            waiting += [each for region in inner.regions for block in region.blocks for each in block.ops]
    return Cost(all_flops, all_bytes)


def flops(op: Operation) -> Dim:
    """The operations that computing `op` takes."""
    if isinstance(op, KernelOp):
        return _sum(flops(inner) for inner in op.body.block.ops)
    if isinstance(op, CompositeOp):
        from cuvil.semantics.decompositions import decompose

        block, _ = decompose(op)
        return _sum(flops(inner) for inner in block.ops)
    if isinstance(op, ElementwiseOp):
        return _elements(op.result) * op.function.flops
    rule = _RULES.get(type(op))
    return 0 if rule is None else rule(op)


def bytes_moved(op: Operation) -> Dim:
    """The bytes of everything that `op` reads and writes."""
    if not (op.name.startswith("cuvil_tensor.") or op.name == "cuvil_fused.copy" or isinstance(op, KernelOp)):
        return 0
    if op.name in ("cuvil_tensor.init_yield", "cuvil_tensor.parameter", "cuvil_tensor.constant", "cuvil_tensor.global"):
        return 0
    return _sum(bytes_of(value.type) for value in (*op.operands, *op.results))


def bytes_of(value_type: Attribute) -> Dim:
    """The bytes of a tensor or memref; 0 for other types. A bool takes one."""
    if not isinstance(value_type, TensorType | MemRefType):
        return 0
    element = value_type.element_type
    bits = element.width.data if isinstance(element, IntegerType) else getattr(element, "bitwidth", 64)
    return product(shape_of(value_type)) * max(bits // 8, 1)


def _sum(terms: Any) -> Dim:
    total: Dim = 0
    for term in terms:
        total = total + term
    return total


def _elements(value: SSAValue) -> Dim:
    return product(shape_of(value.type))


def _contract(op: ContractOp) -> Dim:
    shape = shape_of(op.lhs.type)
    return _elements(op.result) * product(shape[axis] for axis in numbers(op.lhs_contract)) * 2


def _convolution(op: ConvolutionOp) -> Dim:
    return _elements(op.result) * product(shape_of(op.weight.type)[1:]) * 2


def _pool(op: PoolOp) -> Dim:
    return _elements(op.result) * product(numbers(op.kernel))


def _comparisons(op: SortOp | TopkOp) -> Dim:
    """Comparisons of a merge sort, or one pass with a heap of k."""
    extent = shape_of(op.input.type)[op.axis.value.data]
    if isinstance(op, TopkOp):
        return _elements(op.input) * max(op.k.value.data.bit_length(), 1)
    return _elements(op.input) * (max((extent - 1).bit_length(), 1) if isinstance(extent, int) else 10)


_RULES: dict[type[Operation], Callable[[Any], Dim]] = {
    ContractOp: _contract,
    ConvolutionOp: _convolution,
    PoolOp: _pool,
    ReduceOp: lambda op: _elements(op.input),
    ArgReduceOp: lambda op: _elements(op.input),
    ScanOp: lambda op: _elements(op.input),
    ScatterOp: lambda op: 0 if op.kind.data == "assign" else _elements(op.updates),
    SortOp: _comparisons,
    TopkOp: _comparisons,
}
