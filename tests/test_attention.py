"""Attention at loop level, compiled and run, against PyTorch in float64: masks, causality, strides, shared heads."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import scaled_dot_product_attention
from xdsl.context import Context
from xdsl.dialects.builtin import IndexType, MemRefType, i1
from xdsl.ir import SSAValue

from cuvil.codegen.access import StridedOperand
from cuvil.codegen.attention import AttentionSpec, emit_attention
from cuvil.codegen.contraction import PlainStore
from cuvil.codegen.jit import compile_module
from cuvil.codegen.loops import Index, LoopBuilder
from cuvil.passes.lower_math import LowerMathPass
from cuvil.targets.cpu import CpuTarget
from tests.loop_kernel import ELEMENT_TYPES, build_kernel

TARGETS = [None, CpuTarget.named("x86-64-v3"), CpuTarget.named("x86-64-v2"), CpuTarget.named("aarch64")]
LEAST_ERROR = {torch.float32: 3e-7, torch.float64: 3e-15, torch.float16: 1e-3, torch.bfloat16: 1e-2}
"""What an error may be even where eager's happens to be smaller."""


@dataclass(frozen=True)
class Case:
    """One attention; `order` is the order of dims in memory, `mask` names its type and the dims that it has."""

    queries: int
    keys: int
    head_dim: int = 64
    value_dim: int = 64
    batch: int = 1
    heads: int = 2
    kv_heads: int = 2
    dtype: torch.dtype = torch.float32
    causal: bool = False
    mask: str | None = None
    order: str = "bhsd"
    dynamic: bool = False
    causal_offset: int = 0
    masked_rows_are_nan: bool = False
    target: CpuTarget | None = None


@dataclass(frozen=True)
class Problem:
    """The tensors of a case."""

    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    mask: torch.Tensor | None


def make_problem(case: Case) -> Problem:
    generator = torch.Generator().manual_seed(case.queries * 1000 + case.keys)

    def random(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator, dtype=torch.float64).to(case.dtype)

    query = random(case.batch, case.heads, case.queries, case.head_dim)
    key = random(case.batch, case.kv_heads, case.keys, case.head_dim)
    value = random(case.batch, case.kv_heads, case.keys, case.value_dim)
    if case.mask is None:
        return Problem(query, key, value, None)
    kind, broadcast = case.mask.split(" ")
    rows = (case.batch, 1, 1) if broadcast == "rows" else (1, 1, case.queries)
    seen = torch.rand((*rows, case.keys), generator=generator) < 0.6
    if broadcast == "heads" and case.queries > 2:
        seen[0, 0, 1] = False
    mask = seen if kind == "bool" else torch.where(seen, random(*rows, case.keys), -inf)
    return Problem(query, key, value, mask)


def expected(case: Case, problem: Problem, dtype: torch.dtype) -> torch.Tensor:
    """What eager PyTorch computes in `dtype`."""
    mask = problem.mask
    if mask is not None and mask.dtype != torch.bool:
        mask = mask.to(dtype)
    if case.causal:
        seen = torch.ones(case.queries, case.keys, dtype=torch.bool).tril(case.causal_offset)
        if mask is None:
            mask = seen
        else:
            mask = mask & seen if mask.dtype == torch.bool else torch.where(seen, mask, -inf)
    operands = [tensor.to(dtype) for tensor in (problem.query, problem.key, problem.value)]
    shares = case.heads != case.kv_heads
    return scaled_dot_product_attention(*operands, attn_mask=mask, enable_gqa=shares).double()


ORDERS = {"bhsd": (0, 1, 2, 3), "bshd": (0, 2, 1, 3), "bhds": (0, 1, 3, 2)}


def strides(b: LoopBuilder, shape: tuple[Index, ...], order: str) -> tuple[Index, ...]:
    """Strides of a [B, H, S, D] view of dense memory whose dims lie in `order`."""
    result: list[Index] = [0] * 4
    stride: Index = 1
    for dim in reversed(ORDERS[order]):
        result[dim] = stride
        stride = b.mul(stride, shape[dim])
    return tuple(result)


def run(case: Case, problem: Problem) -> torch.Tensor:
    element_type = ELEMENT_TYPES[case.dtype]
    target = case.target or CpuTarget.host()

    def emit(b: LoopBuilder, arguments: list[SSAValue]) -> None:
        query, key, value, out, mask, *sizes = arguments
        s, t = sizes or (case.queries, case.keys)

        def view(buffer: SSAValue, heads: int, length: Index, width: int) -> StridedOperand:
            shape = (case.batch, heads, length, width)
            return StridedOperand(buffer, 0, shape, strides(b, shape, case.order))

        mask_view = None
        if problem.mask is not None:
            batch, _, rows, _ = problem.mask.shape
            mask_strides = (0 if batch == 1 else t, 0, 0 if rows == 1 else t, 1)
            mask_view = StridedOperand(mask, 0, (case.batch, case.heads, s, t), mask_strides)
        spec = AttentionSpec(
            case.batch,
            case.heads,
            case.kv_heads,
            s,
            t,
            case.head_dim,
            case.value_dim,
            element_type,
            1 / sqrt(case.head_dim),
            case.causal,
            case.causal_offset,
            masked_rows_are_nan=case.masked_rows_are_nan,
            threads=2,
        )
        q = view(query, case.heads, s, case.head_dim)
        k = view(key, case.kv_heads, t, case.head_dim)
        v = view(value, case.kv_heads, t, case.value_dim)
        emit_attention(b, target, spec, q, k, v, mask_view, PlainStore(out, case.value_dim))

    result = torch.full((case.batch, case.heads, case.queries, case.value_dim), 7, dtype=case.dtype)
    operands = [
        tensor.permute(ORDERS[case.order]).contiguous() for tensor in (problem.query, problem.key, problem.value)
    ]
    mask = torch.zeros(1, dtype=case.dtype) if problem.mask is None else problem.mask.contiguous()
    buffers = [*operands, result, mask]
    types = [
        MemRefType(i1 if buffer.dtype == torch.bool else ELEMENT_TYPES[buffer.dtype], [max(1, buffer.numel())])
        for buffer in buffers
    ]
    indices = [IndexType()] * 2 if case.dynamic else []
    module = build_kernel(emit, [*types, *indices])  # pyright: ignore[reportArgumentType]
    LowerMathPass().apply(Context(), module)
    sizes = (case.queries, case.keys) if case.dynamic else ()
    compile_module(module).function("kernel")(*(buffer.data_ptr() for buffer in buffers), *sizes)
    return result


def check(case: Case) -> None:
    """The relative norm error is within three times eager's own, both against float64."""
    problem = make_problem(case)
    result = run(case, problem).double()
    exact = expected(case, problem, torch.float64)
    eager = expected(case, problem, case.dtype)
    allowed = max(3 * norm(eager - exact), LEAST_ERROR[case.dtype] * norm(exact))
    assert norm(result - exact) <= allowed


def norm(tensor: torch.Tensor) -> float:
    return float(torch.linalg.vector_norm(tensor))


MASKS = [None, "bool rows", "float rows", "bool heads", "float heads"]


@given(
    sizes=st.sampled_from([1, 2, 5, 13, 16, 31, 32, 33, 64, 100]),
    keys=st.sampled_from([1, 2, 5, 7, 8, 9, 31, 64, 100, 197, 300]),
    head_dim=st.sampled_from([1, 5, 16, 20, 64, 80]),
    value_dim=st.sampled_from([1, 7, 16, 32, 64, 80, 128]),
    batch=st.integers(1, 2),
    heads=st.sampled_from([(1, 1), (2, 2), (4, 2), (3, 1)]),
    dtype=st.sampled_from(sorted(LEAST_ERROR, key=str)),
    causal=st.booleans(),
    mask=st.sampled_from(MASKS),
    order=st.sampled_from(sorted(ORDERS)),
    dynamic=st.booleans(),
    target=st.sampled_from(TARGETS),
)
def test_attends_over_any_shapes_masks_and_strides(
    sizes: int,
    keys: int,
    head_dim: int,
    value_dim: int,
    batch: int,
    heads: tuple[int, int],
    dtype: torch.dtype,
    causal: bool,
    mask: str | None,
    order: str,
    dynamic: bool,
    target: CpuTarget | None,
) -> None:
    queries = min(sizes, keys) if causal else sizes
    check(Case(queries, keys, head_dim, value_dim, batch, *heads, dtype, causal, mask, order, dynamic, target=target))


@pytest.mark.parametrize("queries", [1, 3, 40])
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("causal", [False, True])
def test_attends_with_every_mask(queries: int, mask: str | None, causal: bool) -> None:
    check(Case(queries, 600, mask=mask, causal=causal, heads=4, kv_heads=2))


@pytest.mark.parametrize("queries", [1, 4, 17, 40])
@pytest.mark.parametrize("dynamic", [False, True])
def test_causal_queries_may_follow_earlier_keys(queries: int, dynamic: bool) -> None:
    """New queries against a cache: query s sees the keys up to s + T - S."""
    check(Case(queries, 333, causal=True, causal_offset=333 - queries, dynamic=dynamic))


@pytest.mark.parametrize("queries", [3, 40])
@pytest.mark.parametrize("mask", ["bool heads", "float heads"])
def test_rows_without_a_key_are_zeros(queries: int, mask: str) -> None:
    case = Case(queries, 50, mask=mask)
    assert torch.equal(run(case, make_problem(case))[:, :, 1], torch.zeros(1, 2, 64))


@pytest.mark.parametrize("queries", [3, 40])
def test_rows_without_a_key_are_nan_in_a_plain_softmax(queries: int) -> None:
    case = Case(queries, 50, mask="float heads", masked_rows_are_nan=True)
    nan = run(case, make_problem(case)).isnan()
    assert nan[:, :, 1].all()
    assert not nan[:, :, 2:].any()


@pytest.mark.parametrize("queries", [2, 40])
def test_no_keys_give_zeros(queries: int) -> None:
    case = Case(queries, 0)
    assert torch.equal(run(case, make_problem(case)), torch.zeros(1, 2, queries, 64))


@pytest.mark.parametrize("queries", [2, 40])
def test_a_nan_key_reaches_every_query(queries: int) -> None:
    case = Case(queries, 30)
    problem = make_problem(case)
    problem.key[0, 1, 7, 3] = float("nan")
    nan = run(case, problem).isnan()
    assert nan[:, 1].all()
    assert not nan[:, 0].any()


@pytest.mark.parametrize("queries", [2, 40])
def test_large_scores_do_not_overflow(queries: int) -> None:
    case = Case(queries, 300)
    problem = make_problem(case)
    problem.query.mul_(100)
    result, exact = run(case, problem).double(), expected(case, problem, torch.float64)
    assert norm(result - exact) <= 3 * norm(expected(case, problem, torch.float32) - exact)
