"""The front end from torch.export: every family of aten ops through the reference interpreter against eager.

A case is a function and its inputs. Each family is exported once, as a module that returns all of its cases' results,
and compared case by case. Floats are float64 unless a case is about another dtype, so that the comparison is about
meaning and not rounding; values include NaN, infinities and -0.0 where functions are element-wise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils import _pytree as pytree

from cuvil.frontends.aten_types import array_of_tensor
from cuvil.frontends.exported import trace_model
from cuvil.ir_text import parse_module, print_op
from cuvil.semantics.interpreter import run_function
from cuvil.universe import make_context

Case = tuple[Callable[..., Any], tuple[Any, ...]]


class Together(nn.Module):
    """The results of all cases of a family."""

    def __init__(self, cases: dict[str, Case]) -> None:
        super().__init__()
        self.cases = cases

    def forward(self, *inputs: Any) -> list[Any]:
        remaining = iter(inputs)
        return [function(*(next(remaining) for _ in given)) for function, given in self.cases.values()]


def interpreted(model: nn.Module, inputs: tuple[Any, ...]) -> list[Tensor]:
    """The results of the imported module, all of them, as eager gives them; its text parses back to the same."""
    imported = trace_model(model, inputs)
    imported.module.verify()
    text = print_op(imported.module)
    assert print_op(parse_module(make_context(), text)) == text
    arrays = [array_of_tensor(value) for value in pytree.tree_leaves(inputs) if isinstance(value, Tensor)]
    results = run_function(imported.module, "main", arrays, imported.parameters)
    made = [output for output in imported.outputs if output.type is not None]
    return [
        torch.tensor(np.array(result, order="C"), dtype=output.dtype)
        for result, output in zip(results, made, strict=True)
    ]


TOLERANCES = {torch.float64: 1e-12, torch.float32: 2e-6, torch.float16: 2e-3, torch.bfloat16: 2e-2}
OPEN_ZEROS = ("fmax", "fmin", "relu6", "softshrink", "extremes of NaN")
"""Where PyTorch leaves the sign of a zero to the machine."""


def differences(cases: dict[str, Case]) -> list[str]:
    """What is wrong, case by case."""
    inputs = tuple(value for _, given in cases.values() for value in given)
    wrong: list[str] = []
    results = iter(interpreted(Together(cases), inputs))
    for name, (function, given) in cases.items():
        for expected in pytree.tree_leaves(function(*given)):
            got = next(results)
            try:
                tolerance = TOLERANCES.get(expected.dtype, 0)
                torch.testing.assert_close(got, expected, rtol=tolerance, atol=tolerance, equal_nan=True)
                if expected.is_floating_point() and name not in OPEN_ZEROS:
                    zero = expected == 0
                    assert bool((got.signbit() == expected.signbit())[zero].all()), "signs of zeros differ"
            except AssertionError as error:
                wrong.append(f"{name}: {' '.join(str(error).split())[:300]}")
    return wrong


def values(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def integers(*shape: int, low: int = -5, high: int = 6, seed: int = 0, dtype: torch.dtype = torch.int64) -> Tensor:
    return torch.randint(low, high, shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


X = values(3, 4)
Y = values(3, 4, seed=1)
POSITIVE = X.abs() + 0.1
INSIDE = X.tanh() * 0.9
SPECIAL = torch.tensor([math.nan, math.inf, -math.inf, -0.0, 0.0, 1.5, -2.5, 0.5, 3.0, -7.25], dtype=torch.float64)
OTHER = torch.tensor([1.0, -2.0, math.nan, 0.0, -0.0, -1.5, 2.5, math.inf, -3.0, 7.0], dtype=torch.float64)
WHOLE = integers(3, 4)
NONZERO = torch.where(WHOLE == 0, 3, WHOLE).flip(0)
TRUTH = integers(3, 4) > 0
MATRIX = values(4, 5, seed=2)

UNARY = (
    "abs neg sign floor ceil trunc round relu exp exp2 expm1 sin cos tan atan sinh cosh tanh asinh erf erfc sigmoid "
    "square isnan isinf isfinite logical_not rsqrt sqrt log log2 log10 log1p reciprocal frac sgn deg2rad"
).split()
BINARY = "add sub mul div maximum minimum fmax fmin atan2 copysign eq ne lt le gt ge hypot".split()


def unary_cases() -> dict[str, Case]:
    cases: dict[str, Case] = {name: (getattr(torch, name), (SPECIAL,)) for name in UNARY}
    cases |= {name: (getattr(torch, name), (INSIDE,)) for name in ("asin", "acos", "atanh")}
    cases["acosh"] = (torch.acosh, (POSITIVE + 1,))
    cases["round.decimals"] = (lambda x: torch.round(x, decimals=2), (X,))
    cases["nan_to_num"] = (lambda x: torch.nan_to_num(x, nan=7.0), (SPECIAL,))
    for name in ("exp", "sqrt", "sigmoid", "reciprocal", "tanh"):
        cases[f"{name} of integers"] = (getattr(torch, name), (WHOLE.abs() + 1,))
    for name in ("abs", "neg", "sign", "relu", "square", "bitwise_not", "floor", "isnan", "logical_not", "round"):
        cases[f"{name} of integers"] = (getattr(torch, name), (WHOLE,))
    for name in ("logical_not", "bitwise_not", "isfinite"):
        cases[f"{name} of bools"] = (getattr(torch, name), (TRUTH,))
    return cases


def binary_cases() -> dict[str, Case]:
    cases: dict[str, Case] = {name: (getattr(torch, name), (SPECIAL, OTHER)) for name in BINARY}
    cases |= {
        "broadcasting": (lambda x, y: x * y + 1, (X, values(4))),
        "0-d with dims": (lambda x, y: x + y, (values(3, dtype=torch.float32), torch.tensor(2.0, dtype=torch.float64))),
        "integer with float scalar": (lambda x: x * 0.5, (WHOLE,)),
        "float scalar power": (lambda x: 2.0**x, (X,)),
        "bool with integer": (lambda x, y: x + y, (TRUTH, WHOLE)),
        "bool plus bool": (lambda x, y: x + y, (TRUTH, ~TRUTH)),
        "bool times bool": (lambda x, y: x * y, (TRUTH, TRUTH)),
        "integer times bool scalar": (lambda x: x + True, (WHOLE,)),
        "division of integers": (lambda x, y: x / y, (WHOLE, NONZERO)),
        "floor division": (lambda x, y: (x // y, torch.div(x, y, rounding_mode="floor")), (WHOLE, NONZERO)),
        "truncating division": (lambda x, y: torch.div(x, y, rounding_mode="trunc"), (WHOLE, NONZERO)),
        "float floor division": (lambda x, y: x // y, (X * 3, Y)),
        "remainder": (lambda x, y: (x % y, torch.fmod(x, y)), (WHOLE, NONZERO)),
        "float remainder": (lambda x, y: (x % y, torch.fmod(x, y)), (SPECIAL[3:], OTHER[3:])),
        "reflected": (lambda x: (1.5 - x, 2 / x, 3 // (x * x + 1)), (X,)),
        "alpha": (lambda x, y: torch.add(x, y, alpha=2) - torch.sub(x, y, alpha=0.5), (X, Y)),
        "powers": (lambda x: (x**2, x**3, x**0.5, x**-1, x**-2, x**-0.5, x**1, x**1.7), (POSITIVE,)),
        "powers of special values": (lambda x: (x**2, x**3, x**0.5, x**2.5, x**0), (SPECIAL,)),
        "tensor power": (lambda x, y: x**y, (POSITIVE, Y)),
        "integer power": (lambda x: (x**2, x**3, x**5, x**0), (WHOLE,)),
        "bitwise": (lambda x, y: (x & y, x | y, x ^ y), (WHOLE, NONZERO)),
        "bool bitwise": (lambda x, y: (x & y, x | y, x ^ y), (TRUTH, ~TRUTH)),
        "shifts": (lambda x: (x << 2, x >> 1), (WHOLE,)),
        "logical": (lambda x, y: (torch.logical_and(x, y), torch.logical_or(x, y)), (WHOLE, TRUTH)),
        "comparison across dtypes": (lambda x, y: (x < y, x == 2, y >= 0.5), (WHOLE, X)),
        "where": (lambda c, x, y: (torch.where(c, x, y), torch.where(c, x, 0.0), torch.where(c, 1, y)), (TRUTH, X, Y)),
        "where across dtypes": (lambda c, x, y: torch.where(c, x, y), (TRUTH, WHOLE, Y)),
        "clamp": (lambda x: (x.clamp(-1, 1), x.clamp(min=0.5), x.clamp(max=0.5)), (SPECIAL,)),
        "clamp by tensors": (lambda x, y: x.clamp(y - 0.1, y + 0.1), (X, Y)),
        "clamp of integers": (lambda x: (x.clamp(-2, 2), x.clamp(min=0.5)), (WHOLE,)),
        "masked_fill": (lambda x, m: (x.masked_fill(m, -math.inf), x.masked_fill(m, 2)), (X, TRUTH)),
        "lerp": (lambda x, y: torch.lerp(x, y, 0.3), (X, Y)),
        "addcmul": (lambda x, y: (torch.addcmul(x, y, y, value=2), torch.addcdiv(x, y, y + 9)), (X, Y)),
        "xlogy": (torch.xlogy, (X, POSITIVE)),
        "logaddexp": (torch.logaddexp, (X, Y)),
        "casts": (lambda x: (x.to(torch.int32), x.bool(), x.float(), x.half().double()), (X * 3,)),
        "integer casts": (lambda x: (x.to(torch.int8), x.to(torch.uint8), x.double(), x.bool()), (WHOLE * 60,)),
        "wrapping": (lambda x: (x * x + x, -x), (integers(20, low=-128, high=128, dtype=torch.int8),)),
        "unsigned": (lambda x: (x + x, x - 200, x // 3, x > 127), (integers(20, low=0, high=256, dtype=torch.uint8),)),
        "empty": (lambda x: (x + 1, x.sum(), x.relu()), (values(0, 3),)),
        "0-d": (lambda x: (x * 2, x.exp(), x.sum(), x.softmax(0), x.max()), (torch.tensor(0.5, dtype=torch.float64),)),
        "non-contiguous": (lambda x, y: x.t() * 2 + y, (values(4, 3).t().t(), values(6, 8)[::2, ::2])),
    }
    return cases


def activation_cases() -> dict[str, Case]:
    x = torch.cat([SPECIAL, values(30) * 3])
    plain: list[Callable[..., Any]] = [
        F.relu, F.relu6, F.hardtanh, F.hardswish, F.hardsigmoid, F.leaky_relu, F.elu, F.selu, F.celu, F.softplus,
        F.mish, F.logsigmoid, F.softsign, F.hardshrink, F.softshrink, F.tanhshrink, F.silu, F.gelu, torch.sigmoid,
        torch.tanh,
    ]  # fmt: skip
    cases: dict[str, Case] = {function.__name__: (function, (x[3:],)) for function in plain}
    cases |= {f"{function.__name__} of NaN": (function, (x[:1],)) for function in plain}
    cases |= {
        "gelu by tanh": (lambda x: F.gelu(x, approximate="tanh"), (x[3:],)),
        "leaky_relu by slope": (lambda x: F.leaky_relu(x, 0.3), (x,)),
        "hardtanh by bounds": (lambda x: F.hardtanh(x, -2.0, 0.5), (x,)),
        "elu by alpha": (lambda x: F.elu(x, 0.7), (x[3:],)),
        "softplus by beta": (lambda x: F.softplus(x, 2.0, 5.0), (x[3:],)),
        "prelu": (F.prelu, (values(2, 3, 4), values(3, seed=3))),
        "glu": (lambda x: F.glu(x, 1), (values(2, 6),)),
        "threshold": (lambda x: F.threshold(x, 0.1, 20.0), (x,)),
        "softmax": (lambda x: (x.softmax(-1), x.softmax(0)), (X,)),
        "log_softmax": (lambda x: x.log_softmax(1), (X,)),
        "softmax by dtype": (lambda x: F.softmax(x, -1, dtype=torch.float64), (WHOLE,)),
        "softmin": (lambda x: F.softmin(x, 1), (X,)),
        "dropout": (lambda x: F.dropout(x, 0.5, training=False), (X,)),
    }
    return cases


def movement_cases() -> dict[str, Case]:
    x = values(2, 3, 4)
    return {
        "views": (lambda x: (x.view(6, 4), x.reshape(-1), x.flatten(1), x.unflatten(2, (2, 2))), (x,)),
        "squeeze": (lambda x: (x[:, :1].squeeze(1), x.unsqueeze(0), x[:1].squeeze()), (x,)),
        "permute": (lambda x: (x.permute(2, 0, 1), x.transpose(0, -1), x.mT, x.movedim(0, 2)), (x,)),
        "t": (lambda x: (x.t(), x.T), (X,)),
        "reshape of a transpose": (lambda x: x.transpose(1, 2).reshape(2, -1), (x,)),
        "expand": (lambda x: (x[:, :1].expand(-1, 5, -1), x.expand(3, 2, 3, 4)), (x,)),
        "slices": (lambda x: (x[1:], x[:, ::2], x[..., -3:-1], x[:, 5:], x[:, :-1], x[0, 1, 2]), (x,)),
        "select": (lambda x: (x.select(1, -1), x[:, 0]), (x,)),
        "narrow": (lambda x: x.narrow(2, 1, 2), (x,)),
        "split": (lambda x: (x.split(2, 2), x.split([1, 3], 2), x.chunk(2, 1), x.unbind(0)), (x,)),
        "cat": (lambda x, y: (torch.cat([x, y]), torch.stack([x, y], 1), torch.cat([x, y.int()], -1)), (X, Y)),
        "cat with empty": (lambda x, y: torch.cat([x, y]), (torch.zeros(0, dtype=torch.float64), X)),
        "hstack": (lambda x, y: (torch.hstack([x, y]), torch.vstack([x, y])), (X, Y)),
        "flip": (lambda x: x.flip(0, 2), (x,)),
        "roll": (lambda x: (x.roll(1, 0), x.roll((1, -2), (1, 2)), x.roll(5)), (x,)),
        "repeat": (lambda x: (x.repeat(2, 1, 3), x.repeat(2, 1, 1, 1), x.repeat_interleave(2, 1)), (x,)),
        "tile": (lambda x: x.tile(2), (x,)),
        "constant pad": (lambda x: (F.pad(x, (1, 2), value=3.0), F.pad(x, (0, 0, 1, 0)), F.pad(x, (-1, 1))), (x,)),
        "other pads": (lambda x: [F.pad(x, (1, 2), mode=m) for m in ("reflect", "replicate", "circular")], (x,)),
        "pixel_shuffle": (lambda x: F.pixel_shuffle(x, 2), (values(1, 8, 2, 3),)),
        "upsample": (lambda x: F.interpolate(x, scale_factor=2, mode="nearest"), (values(1, 2, 2, 3),)),
        "upsample by a fraction": (lambda x: F.interpolate(x, (3, 5), mode="nearest"), (values(1, 2, 2, 3),)),
        "bilinear": (lambda x: F.interpolate(x, (4, 5), mode="bilinear"), (values(1, 2, 2, 3),)),
        "unfold": (lambda x: x.unfold(2, 2, 1), (x,)),
        "diagonal": (lambda x: (x.diagonal(0, 1, 2), x.diagonal(1, 1, 2), x.diagonal(-1, 1, 2)), (x,)),
        "tril": (lambda x: (x.tril(), x.triu(1), x.tril(-1)), (x,)),
        "meshgrid": (lambda x, y: torch.meshgrid(x, y, indexing="ij"), (values(3), values(2))),
        "rot90": (lambda x: torch.rot90(x, 1, (1, 2)), (x,)),
    }


def creation_cases() -> dict[str, Case]:
    return {
        "likes": (lambda x: (torch.zeros_like(x), torch.ones_like(x), torch.full_like(x, 2.5)), (X,)),
        "news": (lambda x: (x.new_zeros(2), x.new_ones(2, 2), x.new_full((3,), 7.0)), (X,)),
        "fills": (lambda x: x + torch.zeros(4) + torch.ones(3, 1) + torch.full((4,), 1.5), (X,)),
        "ranges": (lambda x: (torch.arange(5), torch.arange(2, 11, 3), torch.arange(0, 1, 0.3), x), (X,)),
        "linspace": (lambda x: (torch.linspace(0, 1, 5, dtype=torch.float64), torch.eye(3, 4), x), (X,)),
        "scalar tensor": (lambda x: x * torch.tensor(3.0) + torch.tensor([1.0, 2.0, 3.0, 4.0]), (X,)),
    }


def indexing_cases() -> dict[str, Case]:
    x = values(3, 4, 5)
    rows = torch.tensor([2, 0, -1])
    columns = torch.tensor([1, 3, -2])
    place = integers(3, 2, 5, low=0, high=4)
    return {
        "embedding": (F.embedding, (integers(2, 3, low=0, high=6), values(6, 4))),
        "index_select": (lambda x, i: (x.index_select(1, i), x.index_select(0, i)), (x, torch.tensor([2, 0]))),
        "gather": (lambda x, i: (x.gather(1, i), torch.take_along_dim(x, i, 1)), (x, place)),
        "index": (lambda x, i, j: (x[i], x[:, i], x[i, j], x[:, i, j], x[i, :, j]), (x, rows, columns)),
        "index by matrix": (lambda x, i: x[i], (x, integers(2, 2, low=0, high=3))),
        "index by None": (lambda x, i: (x[None, i], x[i, None], x[i, ..., 1]), (x, rows)),
        "scatter": (
            lambda x, i, s: (x.scatter(1, i, s), x.scatter(1, i, 9.0)),
            (x, place.sort(1).values, values(3, 2, 5)),
        ),
        "scatter_add": (lambda x, i, s: x.scatter_add(1, i, s), (x, place, values(3, 2, 5))),
        "scatter_reduce": (lambda x, i, s: x.scatter_reduce(1, i, s, "amax"), (x, place, values(3, 2, 5))),
        "index_put": (lambda x, i, j, v: x.index_put((i, j), v), (x, rows, columns, values(3, 5))),
        "index_add": (lambda x, i, v: x.index_add(0, i, v), (x, torch.tensor([1, 1, 0]), values(3, 4, 5))),
        "slice_scatter": (lambda x, v: x.slice_scatter(v, 1, 1, 3), (x, values(3, 2, 5))),
        "slice_scatter by steps": (lambda x, v: x.slice_scatter(v, 1, 0, 4, 2), (x, values(3, 2, 5))),
        "select_scatter": (lambda x, v: x.select_scatter(v, 1, -1), (x, values(3, 5))),
        "diff": (lambda x: (x.diff(), x.diff(2, 0)), (x,)),
        "one_hot": (lambda i: F.one_hot(i, 4), (torch.tensor([0, 3, 1]),)),
        "masked assignment": (masked_assignment, (X, TRUTH)),
        "slice assignment": (slice_assignment, (X,)),
        "view then update": (view_then_update, (X,)),
        "updates in a row": (updates_in_a_row, (X, Y)),
    }


def masked_assignment(x: Tensor, mask: Tensor) -> Tensor:
    y = x.clone()
    y[mask] = 5.0
    return y


def slice_assignment(x: Tensor) -> Tensor:
    y = torch.zeros_like(x)
    y[:, 1:3] = x[:, :2]
    y[0, 0] = 3.0
    return y


def view_then_update(x: Tensor) -> tuple[Tensor, Tensor]:
    y = x * 2
    z = y.view(-1)
    y.add_(1)
    return y, z


def updates_in_a_row(x: Tensor, y: Tensor) -> Tensor:
    z = x * 2
    z += y
    z.relu_()
    w = z.mul_(3)
    w -= 1
    return z + w


def reduction_cases() -> dict[str, Case]:
    x = values(2, 3, 4)
    nan = torch.stack([SPECIAL, OTHER])
    return {
        "sum": (lambda x: (x.sum(), x.sum(1), x.sum((0, 2), keepdim=True), x.sum(-1)), (x,)),
        "sum of integers": (
            lambda x, b: (x.sum(), b.sum(0), x.to(torch.int8).sum(), x.sum(dtype=torch.int32)),
            (WHOLE, TRUTH),
        ),
        "mean": (lambda x: (x.mean(), x.mean(1, keepdim=True), x.mean((1, 2))), (x,)),
        "var": (lambda x: (x.var(), x.var(1), x.var(2, unbiased=False), x.std(0), torch.var_mean(x, 1)), (x,)),
        "var by correction": (lambda x: (torch.var(x, 1, correction=2), torch.std(x, (0, 1), correction=0)), (x,)),
        "extremes": (
            lambda x: (x.amax(1), x.amin((0, 1)), x.max(), x.min(), x.max(1), x.min(2, True), x.aminmax()),
            (x,),
        ),
        "extremes of NaN": (lambda x: (x.amax(1), x.amin(0), x.max(1), x.argmin(1)), (nan,)),
        "argmax": (lambda x: (x.argmax(), x.argmax(1), x.argmin(2, keepdim=True)), (x,)),
        "argmax of equals": (lambda x: (x.argmax(1), x.argmin(0)), (WHOLE,)),
        "any": (lambda x, b: (x.any(), b.any(1), b.all(0), x.all(), b.all()), (WHOLE, TRUTH)),
        "prod": (lambda x, i: (x.prod(), x.prod(1), i.prod()), (x, WHOLE)),
        "count_nonzero": (lambda x: (x.count_nonzero(), x.count_nonzero(1)), (WHOLE,)),
        "cumsum": (lambda x, b: (x.cumsum(1), x.cumprod(-1), b.cumsum(0), x.cumsum(0).flip(0)), (x, TRUTH)),
        "logsumexp": (lambda x: (x.logsumexp(1), x.logsumexp((0, 2), True)), (x,)),
        "sort": (lambda x: (x.sort(), x.sort(1, descending=True), x.argsort(0)), (x,)),
        "sort of NaN": (lambda x: x.sort(stable=True), (nan,)),
        "topk": (lambda x: (x.topk(2), x.topk(2, 1, largest=False)), (x,)),
        "norm": (
            lambda x: (x.norm(), x.norm(1, 2), torch.linalg.vector_norm(x, 3, 1), x.norm(dim=1, p=math.inf)),
            (x,),
        ),
        "normalize": (lambda x: (F.normalize(x, dim=1), F.cosine_similarity(x[0], x[1])), (x,)),
        "of nothing": (lambda x: (x.sum(0), x.mean(0), x.prod(0), x.any(0)), (values(0, 3),)),
        "losses": (lambda x, y: (F.mse_loss(x, y), F.l1_loss(x, y), F.smooth_l1_loss(x, y)), (X, Y)),
        "cross entropy": (F.cross_entropy, (X, torch.tensor([1, 0, 3]))),
    }


def contraction_cases() -> dict[str, Case]:
    a, b = values(2, 3, 4), values(2, 4, 5)
    return {
        "matmul": (lambda a, b: (a @ b, a[0] @ b[0], a @ b[0], a[0] @ b), (a, b)),
        "matmul of vectors": (
            lambda a, b: (a[0, 0] @ b[0, :, 0], a[0, 0] @ b, a @ b[0, :, 0], a[0] @ b[0, :, 1]),
            (a, b),
        ),
        "matmul of broadcast stacks": (lambda a, b: a[:, None] @ b[None], (a, b)),
        "mm": (lambda a, b: (a.mm(b), a.mv(b[:, 0]), torch.dot(a[0], b[:, 0])), (X, MATRIX)),
        "bmm": (torch.bmm, (a, b)),
        "addmm": (
            lambda c, a, b: (torch.addmm(c, a, b), torch.addmm(c, a, b, beta=0.5, alpha=2)),
            (values(5), X, MATRIX),
        ),
        "baddbmm": (lambda c, a, b: torch.baddbmm(c, a, b, alpha=0.1), (values(2, 3, 5), a, b)),
        "integer matmul": (lambda a: a @ a.t(), (WHOLE,)),
        "linear": (
            lambda x, w, c: (F.linear(x, w, c), F.linear(x, w), F.linear(x[0, 0], w, c)),
            (a, values(6, 4), values(6)),
        ),
        "einsum": (
            lambda a, b: (
                torch.einsum("bij,bjk->bik", a, b),
                torch.einsum("bij,bjk->ik", a, b),
                torch.einsum("bij->ji", a),
            ),
            (a, b),
        ),
        "outer": (lambda a, b: (torch.outer(a, b), torch.kron(a, b)), (values(3), values(2))),
        "tensordot": (lambda a, b: torch.tensordot(a, b, dims=([2, 0], [1, 0])), (a, b)),
        "attention": (F.scaled_dot_product_attention, (values(2, 3, 4, 8), values(2, 3, 5, 8), values(2, 3, 5, 6))),
        "causal attention": (
            lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.3),
            (values(2, 3, 5, 8), values(2, 3, 5, 8, seed=1), values(2, 3, 5, 8, seed=2)),
        ),
        "masked attention": (
            lambda q, m: (
                F.scaled_dot_product_attention(q, q, q, m),
                F.scaled_dot_product_attention(q, q, q, m.double()),
            ),
            (values(2, 3, 5, 8), torch.ones(5, 5).tril().bool()),
        ),
        "attention with masked rows": (
            lambda q, m: F.scaled_dot_product_attention(q, q, q, m),
            (values(2, 3, 5, 8), torch.ones(5, 5).triu(1).bool()),
        ),
        "grouped attention": (
            lambda q, k: F.scaled_dot_product_attention(q, k, k, enable_gqa=True),
            (values(2, 4, 5, 8), values(2, 2, 5, 8)),
        ),
        "attention of rank 2 and 3": (
            lambda q: (F.scaled_dot_product_attention(q, q, q), F.scaled_dot_product_attention(q[0], q[0], q[0])),
            (values(2, 5, 8),),
        ),
    }


def convolution_cases() -> dict[str, Case]:
    x, w, b = values(2, 4, 7, 6), values(6, 4, 3, 3), values(6)
    transposed = values(4, 3, 3, 2)
    return {
        "conv2d": (
            lambda x, w, b: (F.conv2d(x, w, b), F.conv2d(x, w, stride=2, padding=1), F.conv2d(x[0], w, b)),
            (x, w, b),
        ),
        "conv2d dilated": (
            lambda x, w: (F.conv2d(x, w, dilation=2, padding=(2, 1)), F.conv2d(x, w, padding="same")),
            (x, w),
        ),
        "conv2d grouped": (lambda x, w: F.conv2d(x, w, groups=2, padding=1), (x, values(6, 2, 3, 3))),
        "conv2d depthwise": (lambda x, w: F.conv2d(x, w, groups=4, padding=1), (x, values(4, 1, 3, 3))),
        "conv1d": (lambda x, w: F.conv1d(x, w, padding=1), (values(2, 4, 9), values(5, 4, 3))),
        "conv3d": (lambda x, w: F.conv3d(x, w, stride=2), (values(1, 2, 5, 5, 5), values(3, 2, 2, 2, 2))),
        "transposed": (
            lambda x, w: (
                F.conv_transpose2d(x, w),
                F.conv_transpose2d(x, w, stride=2, padding=1, output_padding=1),
                F.conv_transpose2d(x, w, padding=2, dilation=(1, 2)),
                F.conv_transpose2d(x, w, stride=3, padding=3),
            ),
            (x, transposed),
        ),
        "transposed grouped": (lambda x, w, b: F.conv_transpose2d(x, w, b, 2, groups=2), (x, transposed, values(6))),
        "transposed 1d": (lambda x, w: F.conv_transpose1d(x, w, stride=2), (values(2, 4, 5), values(4, 3, 3))),
        "max_pool": (
            lambda x: (F.max_pool2d(x, 3, 2, 1), F.max_pool2d(x, 2, ceil_mode=True), F.max_pool2d(x[0], (2, 3), 1)),
            (x,),
        ),
        "adaptive_max_pool": (
            lambda x: (
                F.adaptive_max_pool2d(x, (2, 3)),
                F.adaptive_max_pool2d(x[0], 1),
                F.adaptive_max_pool1d(x[0], 4),
            ),
            (values(2, 3, 7, 9),),
        ),
        "max_pool dilated": (lambda x: F.max_pool2d(x, 2, 1, dilation=2), (x,)),
        "max_pool1d": (lambda x: (F.max_pool1d(x, 3, 2), F.max_pool1d(x[0], 2)), (values(2, 3, 9),)),
        "avg_pool": (
            lambda x: (
                F.avg_pool2d(x, 3, 2, 1),
                F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
                F.avg_pool2d(x, 3, 2, 1, ceil_mode=True),
                F.avg_pool2d(x, 2, ceil_mode=True, count_include_pad=False),
                F.avg_pool2d(x, 2, divisor_override=3),
                F.avg_pool1d(x[0], 2),
            ),
            (x,),
        ),
        "adaptive_avg_pool": (
            lambda x: [F.adaptive_avg_pool2d(x, size) for size in (1, (7, 3), (3, 4), (None, 2))],
            (x,),
        ),
        "adaptive_avg_pool1d": (lambda x: F.adaptive_avg_pool1d(x, 4), (values(2, 3, 9),)),
    }


def half_cases() -> dict[str, Case]:
    """16-bit floats are computed in float32 and rounded once."""
    cases: dict[str, Case] = {}
    for dtype in (torch.float16, torch.bfloat16):
        x, y = values(3, 8, dtype=dtype), values(3, 8, seed=1, dtype=dtype)
        cases |= {
            f"{dtype}: scalars": (lambda x: (x * 0.1 + 3, x / 3, x > 0.1), (x,)),
            f"{dtype}: functions": (lambda x, y: (x.exp(), F.silu(x), F.gelu(x), F.elu(x), x * y, x.sigmoid()), (x, y)),
            f"{dtype}: reductions": (lambda x: (x.sum(1), x.mean(), x.softmax(-1), x.amax(0), x.var(1)), (x,)),
            f"{dtype}: products": (lambda x, y: (x @ y.t(), F.linear(x, y), F.layer_norm(x, (8,))), (x, y)),
            f"{dtype}: promotion": (lambda x: (x + x.float(), x * torch.arange(8)), (x,)),
        }
    return cases


def norm_cases() -> dict[str, Case]:
    x, image, channel = values(2, 3, 8), values(2, 6, 4, 5), values(6)
    return {
        "layer_norm": (
            lambda x, w, b: (F.layer_norm(x, (8,), w, b), F.layer_norm(x, (3, 8))),
            (x, values(8), values(8)),
        ),
        "layer_norm without bias": (lambda x, w: F.layer_norm(x, (8,), w, eps=1e-3), (x, values(8))),
        "rms_norm": (lambda x, w: (F.rms_norm(x, (8,), w, 1e-6), F.rms_norm(x, (3, 8))), (x, values(8))),
        "batch_norm": (
            lambda x, m, v, w: (
                F.batch_norm(x, m, v, w, m),
                F.batch_norm(x, m, v, eps=1e-3),
                F.batch_norm(x[:, :, 0, 0], m, v),
                F.batch_norm(x, None, None, w, m, training=True),
            ),
            (image, channel, channel.abs() + 0.5, values(6, seed=2)),
        ),
        "group_norm": (lambda x, w: (F.group_norm(x, 3, w, w), F.group_norm(x, 2)), (image, channel)),
        "instance_norm": (lambda x, w: F.instance_norm(x, weight=w, bias=w), (image, channel)),
        "local_response_norm": (lambda x: F.local_response_norm(x, 3), (image,)),
    }


FAMILIES: dict[str, Callable[[], dict[str, Case]]] = {
    "unary": unary_cases,
    "binary": binary_cases,
    "activation": activation_cases,
    "movement": movement_cases,
    "creation": creation_cases,
    "indexing": indexing_cases,
    "reduction": reduction_cases,
    "contraction": contraction_cases,
    "convolution": convolution_cases,
    "half": half_cases,
    "norm": norm_cases,
}


@pytest.mark.parametrize("family", FAMILIES)
def test_family_matches_eager(family: str) -> None:
    assert differences(FAMILIES[family]()) == []
