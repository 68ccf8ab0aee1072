"""torch.compile of a decoder as `generate` calls it: sequences of any length, caches of keys and values."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor, nn
from transformers import DynamicCache, StaticCache

import cuvil
from benchmarks.architectures.entry import decoder
from benchmarks.healthy_weights import randomize
from benchmarks.measure import relative_error
from cuvil.errors import UserError
from cuvil.frontends.dynamo_shapes import OpenGraph
from cuvil.instrument.warnings import CuvilWarning

TOLERANCE = 2e-6


@pytest.fixture
def model() -> Iterator[nn.Module]:
    torch._dynamo.reset()
    settings = {**decoder(num_key_value_heads=2), "num_hidden_layers": 1, "use_cache": True}
    network = transformers.LlamaForCausalLM(transformers.LlamaConfig(**settings)).eval()
    randomize(network, torch.Generator().manual_seed(0))
    with warnings.catch_warnings():
        warnings.simplefilter("error", CuvilWarning)  # nothing may be left to PyTorch
        yield network
    torch._dynamo.reset()


def compiled_of(model: nn.Module) -> Any:
    return torch.compile(model, backend="cuvil", options={"threads": 1})


def prompt(length: int) -> Tensor:
    return torch.randint(3, 99, (2, length), generator=torch.Generator().manual_seed(length))


def decode(model: nn.Module, compiled: Any, cache_of: Callable[[], Any], steps: int) -> tuple[Any, Any]:
    """A prompt and then single tokens, by both; the caches that they leave."""
    own, eager = cache_of(), cache_of()
    tokens = prompt(5)
    for _ in range(steps):
        actual = compiled(tokens, past_key_values=own).logits
        expected = model(tokens, past_key_values=eager).logits
        assert relative_error(actual, expected) < TOLERANCE
        tokens = expected[:, -1:].argmax(-1)
    return own, eager


def check_caches(own: Any, eager: Any) -> None:
    for mine, its in zip(own.layers, eager.layers, strict=True):
        assert relative_error(mine.keys, its.keys) < TOLERANCE
        assert relative_error(mine.values, its.values) < TOLERANCE


def test_code_for_all_lengths_is_made_once(model: nn.Module) -> None:
    compiled = compiled_of(model)
    with torch.no_grad():
        for length in (8, 11, 5):
            actual = compiled(prompt(length), use_cache=False).logits
            assert relative_error(actual, model(prompt(length), use_cache=False).logits) < TOLERANCE
    graphs = cuvil.explain(compiled).graphs
    assert [graph.compilations for graph in graphs] == [1, 1]


def test_cache_that_grows(model: nn.Module) -> None:
    compiled = compiled_of(model)
    with torch.no_grad():
        check_caches(*decode(model, compiled, lambda: DynamicCache(config=model.config), steps=4))
    graphs = cuvil.explain(compiled).graphs
    assert [graph.compilations for graph in graphs] == [1, 1, 1]  # the prompt, one length, any length


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_cache_that_is_changed_in_place(
    model: nn.Module, mode: Callable[[], contextlib.AbstractContextManager[Any]]
) -> None:
    compiled = compiled_of(model)
    with mode():
        check_caches(*decode(model, compiled, lambda: StaticCache(config=model.config, max_cache_len=16), steps=4))
    assert not any(graph.left for graph in cuvil.explain(compiled).graphs)


def test_keys_and_values_of_different_lengths_are_refused() -> None:
    opened = OpenGraph((), {}, (((0, 2), (1, 2)),), "")
    keys, values = torch.randn(1, 2, 7, 8), torch.randn(1, 2, 5, 8)
    opened.check([keys, keys])
    with pytest.raises(UserError, match="keys and values of different lengths"):
        opened.check([keys, values])


class Attention(nn.Module):
    def forward(self, query: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        return torch.nn.functional.scaled_dot_product_attention(query, keys, values)


def test_more_keys_than_values_are_refused() -> None:
    args = (torch.randn(1, 2, 3, 8), torch.randn(1, 2, 7, 8), torch.randn(1, 2, 5, 8))
    with pytest.raises(UserError, match="attention over 7 keys and 5 values"):
        cuvil.compile(Attention(), args)
