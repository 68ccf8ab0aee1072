"""Contractions at loop level, compiled and run: odd extents, types, strides, batches, dynamic sizes, epilogues."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import IndexType, MemRefType
from xdsl.ir import SSAValue

from cuvil.codegen.access import StridedOperand
from cuvil.codegen.contraction import ContractionSpec, PlainStore, emit_contraction
from cuvil.codegen.jit import compile_module
from cuvil.codegen.loops import Index, LoopBuilder, width_of
from cuvil.codegen.microkernel import max_rows
from cuvil.codegen.packing import PackedOperand, choose_panel, pack_rhs, packed_size, unpack_rhs
from cuvil.targets.cpu import CpuTarget
from tests.loop_kernel import ELEMENT_TYPES, build_kernel

EXTENTS = [0, 1, 2, 5, 7, 13, 31, 33, 64, 100]
TARGETS = {name: CpuTarget.named(name) for name in ("x86-64-v4", "x86-64-v3", "x86-64-v2", "aarch64")}
"""Tile shapes of other machines; the code runs here, LLVM splitting the vectors that the machine lacks."""
TOLERANCE = {torch.float32: 1e-6, torch.float64: 1e-14, torch.float16: 1e-3, torch.bfloat16: 1e-2}


@dataclass(frozen=True)
class Case:
    """One contraction; `lhs` and `rhs` name the operands' storage orders."""

    m: int
    n: int
    k: int
    batch: tuple[int, ...] = ()
    dtype: torch.dtype = torch.float32
    lhs: str = "mk"
    rhs: str = "packed"
    dynamic: bool = False
    threads: int = 2
    target: CpuTarget | None = None


def storage(tensor: torch.Tensor, order: str) -> torch.Tensor:
    """`tensor` [..., rows, columns] in memory: row by row, column by column, or with gaps between the columns."""
    if order in ("km", "nk"):
        return tensor.transpose(-1, -2).contiguous()
    if order == "gaps":
        return torch.stack((tensor, torch.zeros_like(tensor)), dim=-1)
    return tensor.contiguous()


def strides(b: LoopBuilder, batch: tuple[int, ...], rows: Index, columns: Index, order: str) -> tuple[Index, ...]:
    inner: tuple[Index, ...] = (columns, 1)
    if order in ("km", "nk"):
        inner = (1, rows)
    elif order == "gaps":
        inner = (b.mul(columns, 2), 2)
    matrix = b.mul(b.mul(rows, columns), 2 if order == "gaps" else 1)
    outer = [b.mul(matrix, int(np.prod(batch[place + 1 :]))) for place in range(len(batch))]
    return (*outer, *inner)


def random(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    if dtype.is_floating_point:
        return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)
    return torch.randint(-100, 100, shape, generator=generator).to(dtype)


def run(case: Case) -> tuple[torch.Tensor, torch.Tensor]:
    """The contraction's result, and what it should be (in float64 or int64)."""
    target = case.target or CpuTarget.host()
    element_type = ELEMENT_TYPES[case.dtype]
    lhs = random((*case.batch, case.m, case.k), case.dtype)
    rhs = random(((case.k, case.n) if case.rhs == "packed" else (*case.batch, case.k, case.n)), case.dtype)
    result = torch.full((*case.batch, case.m, case.n), 3, dtype=case.dtype)
    panel = choose_panel(target, element_type, case.n)

    def emit(b: LoopBuilder, arguments: list[SSAValue]) -> None:
        x, y, out, *sizes = arguments
        m, n, k = sizes or (case.m, case.n, case.k)
        left = StridedOperand(x, 0, (*case.batch, m, k), strides(b, case.batch, m, k, case.lhs))
        right = StridedOperand(y, 0, (*case.batch, k, n), strides(b, case.batch, k, n, case.rhs))
        spec = ContractionSpec.of(case.batch, m, n, k, element_type, case.threads)
        packed = PackedOperand(y, 0, panel)
        emit_contraction(b, target, spec, left, packed if case.rhs == "packed" else right, PlainStore(out, n))

    if case.rhs == "packed":
        # A dtype that NumPy lacks is packed as the integers of its bits.
        bits = rhs.view(torch.int16) if case.dtype == torch.bfloat16 else rhs
        flat = torch.from_numpy(pack_rhs(bits.numpy(), panel))
    else:
        flat = storage(rhs, case.rhs)
    buffers = [storage(lhs, case.lhs), flat, result]
    types = [MemRefType(element_type, [max(1, buffer.numel())]) for buffer in buffers]
    indices = [IndexType()] * 3 if case.dynamic else []
    native = compile_module(build_kernel(emit, [*types, *indices]))  # pyright: ignore[reportArgumentType]
    sizes = (case.m, case.n, case.k) if case.dynamic else ()
    native.function("kernel")(*(buffer.data_ptr() for buffer in buffers), *sizes)
    wide = torch.float64 if case.dtype.is_floating_point else torch.int64
    return result, lhs.to(wide) @ rhs.to(wide)


def check(case: Case) -> None:
    result, expected = run(case)
    if not case.dtype.is_floating_point:
        assert torch.equal(result, expected.to(case.dtype))
        return
    error = torch.linalg.vector_norm(result.double() - expected)
    assert error <= TOLERANCE[case.dtype] * torch.linalg.vector_norm(expected)


@given(
    m=st.sampled_from(EXTENTS),
    n=st.sampled_from(EXTENTS),
    k=st.sampled_from([*EXTENTS, 700]),
    batch=st.sampled_from([(), (1,), (3,), (2, 3)]),
    dtype=st.sampled_from(sorted(ELEMENT_TYPES.keys() - {torch.bool}, key=str)),
    lhs=st.sampled_from(["mk", "km", "gaps"]),
    rhs=st.sampled_from(["packed", "kn", "nk", "gaps"]),
    dynamic=st.booleans(),
    target=st.sampled_from([None, *TARGETS.values()]),
)
def test_contracts_any_extents_types_and_strides(target: CpuTarget | None, **arguments: object) -> None:
    check(Case(target=target, **arguments))  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("rhs", ["packed", "kn", "nk"])
@pytest.mark.parametrize("m", [1, 4, 29, 128])
def test_contracts_long_k_in_blocks(m: int, rhs: str) -> None:
    check(Case(m, 50, 2500, rhs=rhs))


@pytest.mark.parametrize("rhs", ["packed", "nk"])
def test_sums_nothing_to_zeros(rhs: str) -> None:
    result, _ = run(Case(5, 7, 0, rhs=rhs))
    assert torch.equal(result, torch.zeros(5, 7))


@pytest.mark.parametrize("dtype", [torch.int8, torch.int32, torch.int64])
def test_integers_wrap_around(dtype: torch.dtype) -> None:
    result, expected = run(Case(9, 40, 64, dtype=dtype))
    assert torch.equal(result, expected.to(dtype))
    if dtype == torch.int8:
        assert not torch.equal(result.long(), expected)


def test_padding_of_panels_hides_no_nan() -> None:
    """An infinite or NaN row must not leak into columns of other rows through the panels' zeros, nor be lost."""
    lhs = torch.ones(3, 4)
    lhs[1, 2] = float("nan")
    rhs, out = torch.ones(4, 5), torch.zeros(3, 5)
    target = CpuTarget.host()
    panel = choose_panel(target, ELEMENT_TYPES[torch.float32])

    def emit(b: LoopBuilder, arguments: list[SSAValue]) -> None:
        x, y, result = arguments
        spec = ContractionSpec.of((), 3, 5, 4, ELEMENT_TYPES[torch.float32])
        left = StridedOperand(x, 0, (3, 4), (4, 1))
        emit_contraction(b, target, spec, left, PackedOperand(y, 0, panel), PlainStore(result, 5))

    packed = torch.from_numpy(pack_rhs(rhs.numpy(), panel))
    execute(emit, [lhs, packed, out])
    assert torch.equal(out.isnan(), (lhs @ rhs).isnan())


def execute(emit: object, tensors: list[torch.Tensor]) -> None:
    types = [MemRefType(ELEMENT_TYPES[tensor.dtype], [max(1, tensor.numel())]) for tensor in tensors]
    native = compile_module(build_kernel(emit, types))  # pyright: ignore[reportArgumentType]
    native.function("kernel")(*(tensor.data_ptr() for tensor in tensors))


# -- epilogues ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BiasReluResidual:
    """out[row, column] = relu(value + bias[column]) + out[row, column], in place."""

    bias: SSAValue
    out: SSAValue
    columns: int

    def store(self, b: LoopBuilder, row: Index, column: Index, value: SSAValue, mask: SSAValue | None) -> None:
        width = width_of(value.type)
        position = b.add(b.mul(row, self.columns), column)

        def load(buffer: SSAValue, place: Index) -> SSAValue:
            return b.load(buffer, place, width) if mask is None else b.masked_load(buffer, place, mask, width)

        total = b.add_float(value, load(self.bias, column))
        zero = b.constant(0.0, ELEMENT_TYPES[torch.float32], width)
        positive = b.select(b.compare_float("olt", total, zero), zero, total)
        result = b.add_float(positive, load(self.out, position))
        if mask is None:
            b.store(result, self.out, position)
        else:
            b.masked_store(result, self.out, position, mask)


@pytest.mark.parametrize(("m", "n", "k"), [(29, 70, 31), (128, 64, 64), (1, 33, 700)])
def test_fuses_an_epilogue_that_runs_once_for_each_element(m: int, n: int, k: int) -> None:
    target, f32 = CpuTarget.host(), ELEMENT_TYPES[torch.float32]
    lhs, rhs, bias = random((m, k), torch.float32), random((k, n), torch.float32), random((n,), torch.float32)
    residual = random((m, n), torch.float32)
    out = residual.clone()

    def emit(b: LoopBuilder, arguments: list[SSAValue]) -> None:
        x, y, bias_buffer, result = arguments
        left, right = StridedOperand(x, 0, (m, k), (k, 1)), StridedOperand(y, 0, (k, n), (n, 1))
        spec = ContractionSpec.of((), m, n, k, f32, threads=2)
        emit_contraction(b, target, spec, left, right, BiasReluResidual(bias_buffer, result, n))

    execute(emit, [lhs, rhs, bias, out])
    expected = torch.relu(lhs.double() @ rhs.double() + bias) + residual
    assert torch.linalg.vector_norm(out - expected) <= 1e-6 * torch.linalg.vector_norm(expected)


def test_batches_that_share_a_packed_rhs_become_rows() -> None:
    """[4, 3, K] x [K, N] runs as 12 rows: one tile, not four."""
    check(Case(3, 48, 20, batch=(4,)))
    target, f32 = CpuTarget.named("x86-64-v4"), ELEMENT_TYPES[torch.float32]

    def emit(b: LoopBuilder, arguments: list[SSAValue]) -> None:
        x, y, result = arguments
        left = StridedOperand(x, 0, (4, 3, 20), (60, 20, 1))
        spec = ContractionSpec.of((4,), 3, 16, 20, f32)
        emit_contraction(b, target, spec, left, PackedOperand(y, 0, 16), PlainStore(result, 16))

    module = build_kernel(emit, [MemRefType(f32, [240]), MemRefType(f32, [320]), MemRefType(f32, [192])])
    fused = sum(op.name == "vector.fma" for op in module.walk())
    assert fused == 12 * 16 // target.lanes(32)


# -- packing and schedules ---------------------------------------------------------------------------------------------


@given(
    batch=st.sampled_from([(), (2,)]),
    rows=st.integers(0, 9),
    columns=st.integers(1, 70),
    panel=st.sampled_from([4, 8, 16, 32]),
)
def test_packing_round_trips(batch: tuple[int, ...], rows: int, columns: int, panel: int) -> None:
    array = np.arange(int(np.prod(batch)) * rows * columns, dtype=np.float32).reshape(*batch, rows, columns)
    packed = pack_rhs(array, panel)
    assert packed.shape == (int(np.prod(batch)) * packed_size(rows, columns, panel),)
    assert np.array_equal(unpack_rhs(packed, array.shape, panel), array)


def test_packing_puts_a_panel_row_after_row() -> None:
    array = np.arange(12).reshape(2, 6)
    assert pack_rhs(array, 4).tolist() == [0, 1, 2, 3, 6, 7, 8, 9, 4, 5, 0, 0, 10, 11, 0, 0]


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS.keys())
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int8])
def test_tiles_fit_the_registers(target: CpuTarget, dtype: torch.dtype) -> None:
    element_type = ELEMENT_TYPES[dtype]
    lanes = target.lanes(dtype.itemsize * 8)
    vectors = choose_panel(target, element_type) // lanes
    rows = max_rows(target, vectors)
    assert rows * vectors + vectors + 1 <= target.vector_registers
    assert rows * vectors >= 8


def test_the_code_does_not_grow_with_the_extents() -> None:
    target, f32 = TARGETS["x86-64-v4"], ELEMENT_TYPES[torch.float32]

    def operations(size: int) -> int:
        def emit(b: LoopBuilder, arguments: list[SSAValue]) -> None:
            x, y, result = arguments
            left = StridedOperand(x, 0, (size, size), (size, 1))
            spec = ContractionSpec.of((), size, size, size, f32, 2)
            emit_contraction(b, target, spec, left, PackedOperand(y, 0, 32), PlainStore(result, size))

        return sum(1 for _ in build_kernel(emit, [MemRefType(f32, [size * size])] * 3).walk())

    assert all(larger <= 1.1 * smaller for smaller, larger in pairwise(map(operations, (128, 512, 2048))))
