"""Contractions, attention, convolutions and pools of symbolic sizes: compiled once, run at many, against float64.

Sizes are what is special to the kernels: none, one, a tile of rows and one more or less, more than a block of any kind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, scaled_dot_product_attention, softmax

import cuvil
from cuvil.errors import CuvilError

Shape = tuple[str | int, ...]

ROWS = ((0, 3), (1, 1), (1, 2), (1, 3), (1, 5), (1, 7), (8, 1), (3, 3), (2, 8), (1, 17), (4, 0), (5, 61), (8, 300))
LENGTHS = (
    (1, 1, 1),
    (2, 1, 9),
    (1, 2, 2),
    (1, 15, 40),
    (3, 16, 33),
    (2, 17, 64),
    (1, 33, 31),
    (1, 130, 600),
    (0, 3, 3),
)
IMAGES = ((1, 7, 9), (2, 16, 16), (3, 17, 33), (1, 64, 65), (1, 5, 100), (0, 8, 8))
LINES = ((1, 7), (2, 16), (3, 33), (0, 40), (1, 300))


@dataclass(frozen=True)
class Family:
    """A function of tensors whose shapes name symbols, the sizes those take in turn, and the error allowed."""

    name: str
    function: Callable[..., Tensor]
    shapes: tuple[Shape, ...]
    sizes: Sequence[tuple[int, ...]]
    tolerance: float = 1e-6
    least: int = 0
    weight: nn.Module | None = None


class Program(nn.Module):
    """A family as a module, with its weights if it has any."""

    def __init__(self, family: Family):
        super().__init__()
        self.function, self.weight = family.function, family.weight

    def forward(self, *tensors: Tensor) -> Tensor:
        return self.function(*tensors) if self.weight is None else self.function(self.weight, *tensors)


def attention(**options: Any) -> Callable[..., Tensor]:
    def call(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        return scaled_dot_product_attention(query, key, value, mask, **options)

    return call


def layer(module: nn.Module, x: Tensor) -> Tensor:
    return module(x)


def contractions() -> list[Family]:
    x: Shape = ("b", "s", 40)
    deep: Shape = ("b", "s", 1700)
    left, right = ("b", 3, "s", "t"), ("b", 3, "t", 24)
    return [
        Family("linear", layer, (x,), ROWS, weight=nn.Linear(40, 70)),
        Family("deep-linear", layer, (deep,), ((1, 3), (2, 9), (0, 1)), weight=nn.Linear(1700, 33)),
        Family("linear-gelu-residual", lambda m, x: gelu(m(x)) + x, (x,), ROWS, weight=nn.Linear(40, 40)),
        Family("heads-apart", lambda m, x: m(x).view(x.shape[0], x.shape[1], 4, 8).transpose(1, 2), (x,), ROWS,
               weight=nn.Linear(40, 32)),
        Family("columns-in-rows", lambda x, y: x.transpose(-1, -2) @ y, (("b", "s", 5), ("b", "s", 40)), ROWS),
        Family("weights-by-values", torch.matmul, (left, right), (*LENGTHS, (1, 9, 1100), (2, 3, 0))),
        Family("queries-by-keys", lambda x, y: torch.relu(x @ y.transpose(-1, -2)),
               (("b", 3, "s", 24), ("b", 3, "t", 24)), LENGTHS),
        Family("outer-product", lambda x, y: x[:, :, None] * 2 @ y[:, None, :], (("b", "s"), ("b", "t")), LENGTHS),
    ]  # fmt: skip


def attentions() -> list[Family]:
    def qkv(heads: int, groups: int, size: int, value: int) -> tuple[Shape, ...]:
        return ("b", heads, "s", size), ("b", groups, "t", size), ("b", groups, "t", value)

    def unfused(x: Tensor, y: Tensor, z: Tensor) -> Tensor:
        return softmax(x @ y.transpose(-1, -2) / 8, -1) @ z

    plain = qkv(2, 2, 64, 64)
    return [
        Family("attention", attention(), plain, LENGTHS, least=1),
        Family("causal", attention(is_causal=True), plain, LENGTHS, least=1),
        Family("grouped", attention(enable_gqa=True, scale=0.3), qkv(4, 2, 40, 24), LENGTHS, least=1),
        Family("float-mask", attention(), (*plain, ("b", 1, "s", "t")), LENGTHS, least=1),
        Family("mask-of-keys", attention(), (*plain, (1, 1, 1, "t")), LENGTHS, least=1),
        Family("unfused", unfused, plain, LENGTHS, least=1),
        Family("strided", lambda x: attention()(*x.view(x.shape[0], x.shape[1], 3, 2, 20).permute(2, 0, 3, 1, 4)),
               (("b", "s", 120),), ((1, 1), (2, 7), (1, 16), (1, 33), (0, 4)), least=1),
    ]  # fmt: skip


def windows() -> list[Family]:
    image, line = ("b", 20, "h", "w"), ("b", 20, "h")
    volume = ("b", 20, "h", "w", 5)
    modules: dict[str, tuple[nn.Module, Shape]] = {
        "same": (nn.Conv2d(20, 24, 3, padding=1), image),
        "batch-only": (nn.Conv2d(20, 24, 3, padding=1), ("b", 20, 13, 14)),
        "stem-and-pool": (nn.Sequential(nn.Conv2d(20, 24, 7, 2, 3), nn.ReLU(), nn.MaxPool2d(3, 2, 1)), image),
        "pointwise": (nn.Conv2d(20, 70, 1), image),
        "valid": (nn.Conv2d(20, 24, 3), image),
        "strided-dilated": (nn.Conv2d(20, 40, 3, 2, 2, 2), image),
        "grouped": (nn.Conv2d(20, 40, 3, 1, 1, groups=2), image),
        "depthwise": (nn.Conv2d(20, 20, 3, 1, 1, groups=20), image),
        "depthwise-strided": (nn.Conv2d(20, 20, (3, 5), 2, (1, 2), groups=20), image),
        "depthwise-wide": (nn.Conv2d(20, 20, 9, 1, 4, groups=20), image),
        "depthwise-line": (nn.Conv1d(20, 20, 3, 1, 2, groups=20), line),
        "line": (nn.Conv1d(20, 24, 5, 2, 2), line),
        "transposed": (nn.ConvTranspose2d(20, 24, 3, 2, 1), image),
        "volume": (nn.Conv3d(20, 8, 3, 1, 1), volume),
        "max": (nn.MaxPool2d(3, 2, 1), image),
        "average": (nn.AvgPool2d(3, 2, 1), image),
        "average-of-elements": (nn.AvgPool2d(3, 2, 1, count_include_pad=False), image),
        "pooled-features": (
            nn.Sequential(nn.Conv2d(20, 24, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                          nn.Linear(24, 10)), image),
    }  # fmt: skip
    sizes: dict[Shape, Sequence[tuple[int, ...]]] = {
        image: IMAGES,
        line: LINES,
        volume: IMAGES,
        ("b", 20, 13, 14): ((0,), (1,), (2,), (5,)),
    }
    return [
        Family(name, layer, (shape,), sizes[shape], least=4 if len(shape) > 2 else 0, weight=module)
        for name, (module, shape) in modules.items()
    ]


FAMILIES = [*contractions(), *attentions(), *windows()]


def tensors(family: Family, sizes: dict[str, int]) -> list[Tensor]:
    generator = torch.Generator().manual_seed(sum(sizes.values()))
    shapes = [[sizes[dim] if isinstance(dim, str) else dim for dim in shape] for shape in family.shapes]
    return [torch.randn(shape, generator=generator) for shape in shapes]


def symbols(family: Family) -> list[str]:
    return list(dict.fromkeys(dim for shape in family.shapes for dim in shape if isinstance(dim, str)))


def compiled(family: Family) -> Callable[..., Tensor]:
    names = symbols(family)
    example = tensors(family, dict(zip(names, (3, 23, 29), strict=False)))
    dims = {name: cuvil.Dim(name, min=0 if name == "b" else family.least, max=4096) for name in names}
    dynamic = tuple(
        {place: dims[dim] for place, dim in enumerate(shape) if isinstance(dim, str)} for shape in family.shapes
    )
    return cuvil.compile(Program(family).eval(), tuple(example), dynamic_shapes=(dynamic,))


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_one_compilation_serves_all_sizes(family: Family) -> None:
    native, names = compiled(family), symbols(family)
    program = Program(family).double()
    try:
        for values in family.sizes:
            arguments = tensors(family, dict(zip(names, values, strict=True)))
            with torch.no_grad():
                expected = program(*(each.double() for each in arguments))
            result = native(*arguments)
            assert result.shape == expected.shape, values
            error = torch.linalg.vector_norm(result - expected)
            assert error <= family.tolerance * torch.linalg.vector_norm(expected), values
    finally:
        program.float()


def test_symbolic_channels_are_refused() -> None:
    family = Family("channels", lambda x: torch.nn.functional.max_pool2d(x, 2), (("b", "c", 8, 8),), ())
    with pytest.raises(CuvilError, match="the number of channels is c, which is not known at compile time"):
        compiled(family)
