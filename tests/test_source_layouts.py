"""Functions whose tensors have strides that depend on the way that was taken: eager's numbers, or a located error."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import cuvil
from cuvil.errors import UnsupportedError


def on_one_way(x: Tensor) -> Tensor:
    """Strides of x, or row-major ones."""
    y = x.clone()
    if x.sum() > 3:
        y = y.cumsum(0)
    return y


def writes_a_flattened_clone(x: Tensor) -> Tensor:
    y = on_one_way(x).clone()
    y.flatten()[1:].neg_()  # AT
    return y


def writes_a_flattened_transpose(x: Tensor) -> Tensor:
    y = on_one_way(x).transpose(0, 1) * 2
    y.flatten()[1:].neg_()  # AT
    return y


def writes_what_contiguous_gives(x: Tensor) -> Tensor:
    y = on_one_way(x)
    y.contiguous().neg_()  # AT
    return y


def writes_after_a_loop(x: Tensor) -> Tensor:
    y = x.clone()
    while y.sum() > 3:
        y = -y.cumsum(0)
    y.reshape(-1)[1:].neg_()  # AT
    return y


def asks(x: Tensor) -> Tensor:
    y = on_one_way(x)
    return y if y.is_contiguous() else -y  # AT


def asks_for_strides(x: Tensor) -> Tensor:
    return x * on_one_way(x).stride(0)  # AT


def views(x: Tensor) -> Tensor:
    return on_one_way(x).view(-1)  # AT


def is_not_seen(x: Tensor) -> tuple[Tensor, ...]:
    y = on_one_way(x).clone()
    y[1:].neg_()
    z = y.flatten()
    return y, z + 1, y.transpose(0, 1).reshape(-1)


def is_contiguous_on_both_ways(x: Tensor) -> Tensor:
    y = x.clone()
    y = y.cumsum(0).contiguous() if x.sum() > 3 else y.contiguous()
    y = y.clone()
    y.flatten()[1:].neg_()
    return y


def is_contiguous_after(x: Tensor) -> Tensor:
    y = on_one_way(x).clone().contiguous()
    y.flatten()[1:].neg_()
    return y


def inputs() -> list[Tensor]:
    values = torch.arange(3 * 33 * 4) % 7 + 1.0
    return [(values * sign).as_strided((3, 33, 4, 1), (4, 12, 1, 1)) for sign in (1, -1)]


REFUSED = (
    writes_a_flattened_clone,
    writes_a_flattened_transpose,
    writes_what_contiguous_gives,
    writes_after_a_loop,
    asks,
    asks_for_strides,
    views,
)


@pytest.mark.parametrize("function", REFUSED, ids=lambda function: function.__name__)
def test_what_depends_on_the_strides_is_refused(function: Callable[..., Tensor]) -> None:
    with pytest.raises(UnsupportedError, match=r"call \.contiguous\(\) on each") as caught:
        cuvil.compile(function, target="interpreter")(inputs()[0])
    assert "# AT" in str(caught.value)


@pytest.mark.parametrize(
    "function", [is_not_seen, is_contiguous_on_both_ways, is_contiguous_after], ids=lambda function: function.__name__
)
def test_what_does_not_is_eagers(function: Callable[..., Tensor]) -> None:
    compiled = cuvil.compile(function, target="interpreter")
    for x in inputs():
        torch.testing.assert_close(compiled(x), function(x), rtol=1e-5, atol=1e-5)
