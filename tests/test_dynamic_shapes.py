"""Open dims: one compilation serves the whole declared range, 0 and 1 included, and what is outside is refused."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

import cuvil
from cuvil import Dim
from cuvil.arguments import ArgumentError
from cuvil.errors import UserError
from cuvil.lowering import lower_to_native
from cuvil.semantics.dims import DimExpr, SymbolRange, symbol
from cuvil.semantics.symbol_binding import BoundInput, SymbolBinding

BATCH, SEQ = Dim("batch", min=1, max=8), Dim("seq", min=1, max=64)
SHAPES = [(1, 1), (8, 64), (1, 64), (8, 1), (3, 5), (2, 33)]

EXPRESSIONS: dict[str, Callable[[Tensor], Any]] = {
    "mean over an open dim": lambda x: x.mean(1),
    "a size as a number": lambda x: x / x.shape[1] + x.shape[0] ** 0.5,
    "the last element": lambda x: x[:, -1] + 1,
    "slices": lambda x: x[:, : x.shape[1] - 1].sum(1) + x[:, 1:].sum(1),
    "flattened": lambda x: x.reshape(-1) * 2,
    "a range": lambda x: torch.arange(x.shape[1]) + x,
    "softmax": lambda x: torch.softmax(x, 1),
    "concatenated": lambda x: torch.cat([x, x * 2], 1),
    "a triangle": lambda x: (x[:, :, None] * x[:, None, :]).tril(),
    "repeated": lambda x: x.repeat(2, 3).repeat_interleave(2, 1),
    "padded": lambda x: functional.pad(x, (1, 2)),
    "filled": lambda x: x.new_full((x.shape[0], 3), 2.0) + x.new_zeros(x.shape[0], 1),
    "running sum": lambda x: torch.cumsum(x, 1),
    "sorted": lambda x: x.sort(1).values,
    "the largest": lambda x: x.argmax(1),
    "a mask": lambda x: torch.where(torch.arange(x.shape[1]) <= torch.arange(x.shape[0])[:, None], x, 0.0),
    "half of it": lambda x: x[:, : (x.shape[1] + 1) // 2] * 2,
    "rolled": lambda x: x.roll(3, 1) - x.roll(-1, 0),
    "layer norm": lambda x: functional.layer_norm(x[:, :, None] * torch.arange(16.0), (16,)),
}


class Calls(nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Tensor) -> Any:
        return self.function(*args)


def compiled(function: Callable[..., Any], *example: Tensor, dims: Any = None, target: str = "cpu") -> Any:
    dims = tuple({0: BATCH, 1: SEQ} for _ in example) if dims is None else dims
    return cuvil.compile(Calls(function).eval(), example, dynamic_shapes={"args": dims}, target=target)


def assert_same(got: Any, expected: Any) -> None:
    torch.testing.assert_close(got, expected, rtol=2e-5, atol=2e-5, equal_nan=True)


@pytest.mark.parametrize("name", EXPRESSIONS)
@pytest.mark.parametrize("target", ["cpu", "interpreter"])
def test_one_compilation_serves_every_size(name: str, target: str) -> None:
    function = EXPRESSIONS[name]
    once = compiled(function, torch.randn(2, 7), target=target)
    for shape in SHAPES:
        x = torch.randn(shape)
        assert_same(once(x), function(x))


@pytest.mark.parametrize("example", [(1, 1), (1, 5), (4, 1)])
def test_examples_of_one_are_not_taken_for_constants(example: tuple[int, int]) -> None:
    once = compiled(lambda x: x.sum(1) * x.shape[0], torch.randn(example))
    for shape in SHAPES:
        x = torch.randn(shape)
        assert_same(once(x), x.sum(1) * x.shape[0])


def test_empty_inputs() -> None:
    dims = ({0: Dim("rows", min=0, max=9)},)
    once = compiled(lambda x: (x.sum(0), x.mean(0), x * 2), torch.randn(3, 4), dims=dims)
    for rows in (0, 1, 9):
        x = torch.randn(rows, 4)
        assert_same(once(x), (x.sum(0), x.mean(0), x * 2))


@pytest.mark.parametrize("function", [lambda x: x[:, :-1].sum(1), lambda x: x[:, -1] + 1, lambda x: x[:, 2:5] * 2])
def test_shapes_that_torch_traced_for_larger_sizes_are_refused(function: Callable[[Tensor], Tensor]) -> None:
    """In eager PyTorch `x[:, :-1]` of no columns has none; the exported program would have minus one."""
    dims = ({0: BATCH, 1: Dim("seq", min=0, max=64)},)
    with pytest.raises(UserError, match=r"traced for larger sizes: where seq = 0|does not hold for all declared sizes"):
        compiled(function, torch.randn(2, 7), dims=dims)


def test_sizes_that_ranges_do_not_decide_are_checked_at_the_call() -> None:
    rows, columns = symbol("rows"), symbol("columns")
    product = rows * columns - columns * 3
    assert isinstance(product, DimExpr)
    ranges = {"rows": SymbolRange(1, None), "columns": SymbolRange(1, None)}
    binding = SymbolBinding([BoundInput("x", (rows, columns), {})], ranges, [product])
    assert binding.bind([torch.ones(3, 7)]) == (3, 7)
    assert binding.bind([torch.ones(2, 7)]) is None
    assert "where columns = 7 and rows = 2, the size" in binding.fault([(2, 7)])


def test_derived_dims_and_multiples() -> None:
    width = Dim("width", min=8, max=64, multiple_of=8)
    dims = ({1: width}, {1: 2 * width}, {0: width + 1})
    example = (torch.randn(3, 16), torch.randn(3, 32), torch.randn(17))
    once = compiled(lambda x, y, z: torch.cat([x, y], 1) + z[1:].sum(), *example, dims=dims)
    for size in (8, 64, 24):
        x, y, z = torch.randn(3, size), torch.randn(3, 2 * size), torch.randn(size + 1)
        assert_same(once(x, y, z), torch.cat([x, y], 1) + z[1:].sum())
    with pytest.raises(ArgumentError, match=r"dim 1 \(width\): got 12, expected 8..64, a multiple of 8"):
        once(torch.randn(3, 12), torch.randn(3, 24), torch.randn(13))
    with pytest.raises(ArgumentError, match=r"dim 1 \(2\*width\): got 48, expected 32 as by dim 1 of"):
        once(torch.randn(3, 16), torch.randn(3, 48), torch.randn(17))


@pytest.mark.parametrize("offset", [-1, 1, 3])
def test_sizes_around_another_one(offset: int) -> None:
    """torch counts such dims from the least of them: the ranges are those of the dims all the same."""
    width = Dim("width", min=4, max=9)
    once = compiled(
        lambda x, y: (x.sum(), y * 2),
        torch.randn(5, 2),
        torch.randn(5 + offset, 2),
        dims=({0: width}, {0: width + offset}),
    )
    for size in (4, 5, 9):
        x, y = torch.randn(size, 2), torch.randn(size + offset, 2)
        assert_same(once(x, y), (x.sum(), y * 2))
    for size in (3, 10):
        with pytest.raises(ArgumentError, match=rf"dim 0 \(width\): got {size}, expected 4..9"):
            once(torch.randn(size, 2), torch.randn(size + offset, 2))


@pytest.mark.parametrize(
    "dim", [2 * Dim("half", min=0, max=9), Dim("rows", min=0, max=64, multiple_of=2), 2 * Dim("half", min=0) + 2]
)
def test_views_of_inputs_with_derived_dims(dim: Any) -> None:
    once = compiled(lambda x: (*x.chunk(2), x.view(-1, 2), x * 2), torch.randn(6, 4), dims=({0: dim},))
    for rows in (2, 4, 18):
        x = torch.randn(rows, 4)
        results = once(x)
        assert_same(results, (*x.chunk(2), x.view(-1, 2), x * 2))
        assert [each.data_ptr() for each in results[:3]] == [x.data_ptr(), x[rows // 2 :].data_ptr(), x.data_ptr()]


@pytest.mark.parametrize("target", ["cpu", "interpreter"])
def test_loops_that_carry_open_dims(target: str) -> None:
    def function(x: Tensor) -> Any:
        start = torch.zeros((), dtype=torch.int64)
        rows = x * 2
        return torch.while_loop(
            lambda i, x, y: i < 3, lambda i, x, y: (i + 1, y + x.shape[0], x * 0.5), (start, x, rows)
        )

    once = compiled(function, torch.randn(3, 4), target=target)
    for shape in SHAPES:
        x = torch.randn(shape)
        assert_same(once(x), function(x))


def test_torch_s_dims_are_taken_too() -> None:
    rows = torch.export.Dim("rows", min=1, max=6)
    once = compiled(lambda x, y: x + y[:, :1], torch.randn(3, 4), torch.randn(3, 2), dims=({0: rows}, {0: rows}))
    x, y = torch.randn(1, 4), torch.randn(1, 2)
    assert_same(once(x, y), x + y[:, :1])
    with pytest.raises(ArgumentError, match=r"dim 0 \(rows\): got 7, expected 1..6"):
        once(torch.randn(7, 4), torch.randn(7, 2))


@pytest.mark.parametrize("target", ["cpu", "interpreter"])
@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ([(9, 4), (9, 4)], r"input 'args_0', dim 0 \(batch\): got 9, expected 1..8"),
        ([(2, 65), (2, 65)], r"input 'args_0', dim 1 \(seq\): got 65, expected 1..64"),
        ([(2, 0), (2, 0)], r"input 'args_0', dim 1 \(seq\): got 0, expected 1..64"),
        ([(2, 4), (2, 5)], r"input 'args_1', dim 1 \(seq\): got 5, expected 4 as by dim 1 of 'args_0'"),
        ([(2, 4), (2, 4, 1)], r"input 'args_1': got float32 \[2, 4, 1\] on cpu, expected float32 \[batch, seq\]"),
    ],
)
def test_sizes_are_checked_at_the_call(shapes: list[tuple[int, ...]], message: str, target: str) -> None:
    once = compiled(lambda x, y: x + y, torch.randn(2, 4), torch.randn(2, 4), target=target)
    with pytest.raises(ArgumentError, match=message):
        once(*(torch.randn(shape) for shape in shapes))


class TakesAnotherWay(nn.Module):
    """A branch on a size of one that torch.export does not see."""

    def forward(self, x: Tensor) -> Tensor:
        return x + 1 if x.shape[0] == 1 else x * 2


def test_another_way_for_size_one_is_found() -> None:
    with pytest.raises(UserError, match=r"where batch = 1.*declare Dim\('batch', min=2\)"):
        cuvil.compile(TakesAnotherWay().eval(), (torch.randn(3, 4),), dynamic_shapes=({0: BATCH},))
    larger = cuvil.compile(
        TakesAnotherWay().eval(), (torch.randn(3, 4),), dynamic_shapes=({0: Dim("batch", min=2, max=8)},)
    )
    x = torch.randn(5, 4)
    assert_same(larger(x), x * 2)


def test_what_the_model_fixes_is_said() -> None:
    with pytest.raises(UserError, match=r"does not hold for all declared sizes: seq is fixed to 7; declare seq = 7"):
        compiled(lambda x: x + torch.ones(7), torch.randn(2, 7))


@pytest.mark.parametrize(
    ("example", "dims", "message"),
    [
        ((9, 4), ({0: BATCH},), "the example's batch is 9, expected 1..8"),
        ((2, 4), ({2: BATCH},), "has no dim 2"),
        ((2, 3), ({0: BATCH, 1: 2 * BATCH},), r"dim 1 \(2\*batch\): the example has 3, not 4"),
    ],
)
def test_an_example_that_does_not_fit_is_refused(example: tuple[int, int], dims: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        compiled(lambda x: x + 1, torch.randn(example), dims=dims)


@pytest.mark.parametrize("arguments", [("1x",), ("for",), ("n", 5, 4), ("n", -1), ("n", 1, 7, 8), ("n", 1, 8, 0)])
def test_a_dim_without_sizes_is_refused(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match="Dim"):
        Dim(*arguments)


def test_functions_have_no_dynamic_shapes() -> None:
    def twice(x: Tensor) -> Tensor:
        return x * 2

    with pytest.raises(UserError, match="dynamic_shapes is for models"):
        cuvil.compile(twice, (torch.ones(2),), dynamic_shapes=({0: BATCH},))  # pyright: ignore


class Decoder(nn.Module):
    """Two layers of causal attention over tokens, with learned positions."""

    def __init__(self, width: int = 32, heads: int = 4) -> None:
        super().__init__()
        self.tokens, self.positions = nn.Embedding(64, width), nn.Embedding(64, width)
        self.heads = heads
        self.attention = nn.ModuleList(nn.Linear(width, 3 * width) for _ in "ab")
        self.feed = nn.ModuleList(nn.Sequential(nn.Linear(width, 64), nn.GELU(), nn.Linear(64, width)) for _ in "ab")
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens: Tensor) -> Tensor:
        batch, length = tokens.shape
        x = self.tokens(tokens) + self.positions(torch.arange(length))
        for attention, feed in zip(self.attention, self.feed, strict=True):
            parts = attention(self.norm(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
            seen = functional.scaled_dot_product_attention(parts[0], parts[1], parts[2], is_causal=True)
            x = x + seen.transpose(1, 2).reshape(batch, length, -1)
            x = x + feed(self.norm(x))
        return self.norm(x) @ self.tokens.weight.T


@pytest.mark.parametrize("target", ["cpu", "interpreter"])
def test_a_decoder_is_compiled_once(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compilations: list[object] = []

    def counted(*args: Any) -> Any:
        compilations.append(args)
        return lower_to_native(*args)

    monkeypatch.setattr("cuvil.compiler.lower_to_native", counted)
    torch.manual_seed(0)
    model = Decoder().eval()
    example = torch.randint(0, 64, (2, 7))
    once = cuvil.compile(model, (example,), dynamic_shapes=({0: BATCH, 1: SEQ},), target=target)
    numbers = random.Random(0)
    for shape in [*SHAPES, *((numbers.randint(1, 8), numbers.randint(1, 64)) for _ in range(4))]:
        tokens = torch.randint(0, 64, shape)
        with torch.no_grad():
            torch.testing.assert_close(once(tokens), model(tokens), rtol=1e-4, atol=1e-4)
    assert len(compilations) == (target == "cpu")
