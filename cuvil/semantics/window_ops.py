"""Convolutions and pools with some of their attributes replaced, for passes that move padding or change layouts."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from cuvil.dialects import tensor as ct


def convolution_like(
    op: ct.ConvolutionOp,
    value: SSAValue,
    *,
    order: Sequence[int] | None = None,
    low: Sequence[int] | None = None,
    high: Sequence[int] | None = None,
) -> ct.ConvolutionOp:
    """`op` on another input, in another order of dims, or with other padding."""
    return ct.ConvolutionOp(
        value,
        op.weight,
        input_order=ct.numbers(op.input_order) if order is None else order,
        strides=ct.numbers(op.strides),
        low=ct.numbers(op.low) if low is None else low,
        high=ct.numbers(op.high) if high is None else high,
        dilation=ct.numbers(op.dilation),
        input_dilation=ct.numbers(op.input_dilation),
        groups=op.groups.value.data,
    )


def pool_like(
    op: ct.PoolOp,
    value: SSAValue,
    *,
    kind: str | None = None,
    order: Sequence[int] | None = None,
    low: Sequence[int] | None = None,
    high: Sequence[int] | None = None,
) -> ct.PoolOp:
    """`op` on another input, of another kind, in another order of dims, or with other padding."""
    return ct.PoolOp(
        op.kind.data if kind is None else kind,
        value,
        input_order=ct.numbers(op.input_order) if order is None else order,
        kernel=ct.numbers(op.kernel),
        strides=ct.numbers(op.strides),
        low=ct.numbers(op.low) if low is None else low,
        high=ct.numbers(op.high) if high is None else high,
        dilation=ct.numbers(op.dilation),
    )
