"""Every composite, by its decomposition in the interpreter, against PyTorch's op computed in float64."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from xdsl.dialects.builtin import ModuleOp, TensorType, bf16, f16, f32, f64, i1
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue

from cuvil.dialects import tensor as t
from cuvil.semantics.arrays import to_reference
from cuvil.semantics.decompositions import DECOMPOSITIONS
from cuvil.semantics.interpreter import run_function

RANDOM = np.random.default_rng(1)
TOLERANCES = {f32: 2e-6, f64: 1e-13, f16: 1e-3, bf16: 8e-3}
FLOATS = pytest.mark.parametrize("element", [f32, f64, f16, bf16], ids=str)

Build = Callable[..., Operation | SSAValue]


def normal(*shape: int) -> np.ndarray[Any, Any]:
    return RANDOM.standard_normal(shape).astype(np.float32)


def check(
    build: Build,
    expected: Callable[..., torch.Tensor],
    arrays: Sequence[np.ndarray[Any, Any]],
    element: Attribute = f32,
    tolerance: float | None = None,
) -> None:
    """The op on `arrays` (floats as `element`) gives what `expected` gives on the same numbers in float64."""
    types = [i1 if array.dtype == np.bool_ else element for array in arrays]
    values = [to_reference(array, kind) for array, kind in zip(arrays, types, strict=True)]
    function = FuncOp("main", ([TensorType(kind, array.shape) for kind, array in zip(types, arrays, strict=True)], []))
    op = build(*function.body.block.args)
    assert isinstance(op, Operation)
    function.body.block.add_ops([op, ReturnOp(*op.results)])
    function.update_function_type()
    module = ModuleOp([function])
    module.verify()
    (got,) = run_function(module, "main", values)
    exact = [
        torch.from_numpy(value) if value.dtype == np.bool_ else torch.from_numpy(value).double() for value in values
    ]
    wanted = expected(*exact).double().numpy()
    assert got.shape == wanted.shape
    np.testing.assert_array_equal(np.isnan(got), np.isnan(wanted))
    finite = np.isfinite(wanted)
    np.testing.assert_array_equal(got[~finite], wanted[~finite])
    error = np.linalg.norm(got[finite].astype(np.float64) - wanted[finite])
    assert error <= (tolerance or TOLERANCES[element]) * np.linalg.norm(wanted[finite])


def test_every_composite_has_a_decomposition() -> None:
    assert set(DECOMPOSITIONS) == set(t.COMPOSITES)


@FLOATS
def test_softmax(element: Attribute) -> None:
    x = normal(3, 5, 7) * 20
    check(lambda v: t.SoftmaxOp(v, 1), lambda v: v.softmax(1), [x], element)
    check(lambda v: t.LogSoftmaxOp(v, 2), lambda v: v.log_softmax(2), [x], element)


def test_softmax_at_the_edges() -> None:
    x = np.array([[-np.inf, 1], [-np.inf, -np.inf], [np.inf, 1], [np.nan, 1], [1e30, 1e30]], np.float32)
    check(lambda v: t.SoftmaxOp(v, 1), lambda v: v.softmax(1), [x])
    check(lambda v: t.LogSoftmaxOp(v, 1), lambda v: v.log_softmax(1), [x])


@FLOATS
def test_layer_norm(element: Attribute) -> None:
    x, w, b = normal(3, 5, 7) * 3 + 2, normal(5, 7), normal(5, 7)
    check(
        lambda v, s, o: t.LayerNormOp(v, [1, 2], 1e-5, s, o),
        lambda v, s, o: F.layer_norm(v, [5, 7], s, o, 1e-5),
        [x, w, b],
        element,
    )
    check(lambda v: t.LayerNormOp(v, [2], 1e-5), lambda v: F.layer_norm(v, [7], None, None, 1e-5), [x], element)


def test_layer_norm_is_accurate_far_from_zero() -> None:
    x = normal(4, 64) + 1000
    check(lambda v: t.LayerNormOp(v, [1], 1e-5), lambda v: F.layer_norm(v, [64]), [x], tolerance=1e-4)


def test_layer_norm_over_axes_in_any_order() -> None:
    x, w = normal(3, 5, 7), normal(7, 5)
    check(lambda v, s: t.LayerNormOp(v, [2, 1], 1e-5, s), lambda v, s: F.layer_norm(v, [5, 7], s.T), [x, w])


@FLOATS
def test_rms_norm(element: Attribute) -> None:
    x, w = normal(3, 5, 7), normal(7)
    check(lambda v, s: t.RmsNormOp(v, [2], 1e-6, s), lambda v, s: F.rms_norm(v, [7], s, 1e-6), [x, w], element)
    check(lambda v: t.RmsNormOp(v, [1, 2], 1e-6), lambda v: F.rms_norm(v, [5, 7], None, 1e-6), [x], element)


@FLOATS
def test_batch_norm(element: Attribute) -> None:
    x, m, v, w, b = normal(2, 5, 4, 3), normal(5), np.abs(normal(5)) + 0.1, normal(5), normal(5)
    check(
        lambda *a: t.BatchNormOp(a[0], a[1], a[2], 1, 1e-5, a[3], a[4]),
        lambda *a: F.batch_norm(a[0], a[1], a[2], a[3], a[4], eps=1e-5),
        [x, m, v, w, b],
        element,
    )
    check(
        lambda *a: t.BatchNormOp(a[0], a[1], a[2], 1, 1e-3),
        lambda *a: F.batch_norm(a[0], a[1], a[2], eps=1e-3),
        [x, m, v],
        element,
    )
    last = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
    check(
        lambda *a: t.BatchNormOp(a[0], a[1], a[2], 3, 1e-5, None, a[3]),
        lambda *a: F.batch_norm(a[0].permute(0, 3, 1, 2), a[1], a[2], None, a[3]).permute(0, 2, 3, 1),
        [last, m, v, b],
        element,
    )


@FLOATS
def test_group_norm(element: Attribute) -> None:
    x, w, b = normal(2, 6, 4, 3), normal(6), normal(6)
    check(lambda v, s, o: t.GroupNormOp(v, 3, 1e-5, s, o), lambda v, s, o: F.group_norm(v, 3, s, o), [x, w, b], element)
    check(lambda v: t.GroupNormOp(v, 2, 1e-5), lambda v: F.group_norm(v, 2), [x], element)


@FLOATS
def test_gelu_and_silu(element: Attribute) -> None:
    x = normal(4, 50) * 3
    check(lambda v: t.GeluOp(v), F.gelu, [x], element)
    check(lambda v: t.GeluOp(v, "tanh"), lambda v: F.gelu(v, approximate="tanh"), [x], element)
    check(lambda v: t.SiluOp(v), F.silu, [x], element)
    edges = np.array([np.inf, -np.inf, np.nan, 0.0], np.float32)
    check(lambda v: t.GeluOp(v), F.gelu, [edges])
    check(lambda v: t.SiluOp(v), F.silu, [edges])


@FLOATS
def test_linear(element: Attribute) -> None:
    x, w, b = normal(2, 3, 8), normal(5, 8), normal(5)
    check(lambda v, s, o: t.LinearOp(v, s, o), F.linear, [x, w, b], element)
    check(lambda v, s: t.LinearOp(v, s), F.linear, [x[0, 0], w], element)


@FLOATS
def test_attention(element: Attribute) -> None:
    q, k, v, m = normal(2, 4, 5, 8), normal(2, 4, 6, 8), normal(2, 4, 6, 3), normal(2, 4, 5, 6)
    check(
        lambda a, b, c: t.AttentionOp(a, b, c, 0.25),
        lambda a, b, c: F.scaled_dot_product_attention(a, b, c, scale=0.25),
        [q, k, v],
        element,
    )
    check(
        lambda a, b, c, d: t.AttentionOp(a, b, c, 0.25, d),
        lambda a, b, c, d: F.scaled_dot_product_attention(a, b, c, d, scale=0.25),
        [q, k, v, m],
        element,
    )


def test_attention_with_grouped_heads() -> None:
    q, k, v = normal(2, 6, 5, 8), normal(2, 2, 5, 8), normal(2, 2, 5, 8)
    check(
        lambda a, b, c: t.AttentionOp(a, b, c, 0.3, causal=True),
        lambda a, b, c: F.scaled_dot_product_attention(a, b, c, is_causal=True, scale=0.3, enable_gqa=True),
        [q, k, v],
    )
    check(
        lambda a, b, c: t.AttentionOp(a, b, c, 0.3),
        lambda a, b, c: F.scaled_dot_product_attention(a, b, c, scale=0.3, enable_gqa=True),
        [q[0], k[0], v[0]],
    )


@pytest.mark.parametrize(("rows", "columns"), [(5, 7), (7, 5), (4, 4)])
def test_causal_attention_counts_from_the_first_position(rows: int, columns: int) -> None:
    q, k, v = normal(1, 2, rows, 8), normal(1, 2, columns, 8), normal(1, 2, columns, 8)
    check(
        lambda a, b, c: t.AttentionOp(a, b, c, 0.3, causal=True),
        lambda a, b, c: F.scaled_dot_product_attention(a, b, c, is_causal=True, scale=0.3),
        [q, k, v],
    )


@pytest.mark.parametrize("of", ["bool", "float"])
def test_attention_rows_without_any_score_give_zero(of: str) -> None:
    q, k, v = normal(1, 2, 5, 8), normal(1, 2, 6, 8), normal(1, 2, 6, 8)
    mask = RANDOM.random((1, 2, 5, 6)) < 0.5
    mask[0, 1, 2] = False
    given = mask if of == "bool" else np.where(mask, 0, -np.inf).astype(np.float32)
    check(
        lambda a, b, c, d: t.AttentionOp(a, b, c, 0.3, d),
        lambda a, b, c, d: F.scaled_dot_product_attention(a, b, c, d, scale=0.3),
        [q, k, v, given],
    )


@FLOATS
def test_rope(element: Attribute) -> None:
    x, angle = normal(2, 3, 8), normal(2, 3, 4)
    angle = np.concatenate([angle, angle], -1)

    def expected(v: torch.Tensor, c: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
        first, second = v.chunk(2, -1)
        return v * c + torch.cat([-second, first], -1) * s

    check(lambda v, c, s: t.RopeOp(v, c, s), expected, [x, np.cos(angle), np.sin(angle)], element)
