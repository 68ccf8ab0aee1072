"""Decoders with open batch and sequence, compiled once and compared with eager PyTorch at many shapes.

    python -m benchmarks.dynamic_shapes --json build/dynamic-shapes.json

For each model: batch 1-8 and sequence 1-512 are open, the corners and random shapes are run (30 in all), and both the
number of compilations and the largest error, relative to the norm, are written down. `--target interpreter` compares
the reference meaning instead of native code.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from torch import Tensor, nn
from torch.nn import functional

import cuvil
import cuvil.compiler

VOCABULARY, LONGEST, MOST = 128, 512, 8
CORNERS = [(1, 1), (1, LONGEST), (MOST, 1), (MOST, LONGEST)]
TOLERANCE = 1e-5


class Decoder(nn.Module):
    """Causal self-attention and feed-forward layers over token and position embeddings."""

    def __init__(self, width: int = 64, heads: int = 4, layers: int = 2) -> None:
        super().__init__()
        self.tokens, self.positions = nn.Embedding(VOCABULARY, width), nn.Embedding(LONGEST, width)
        self.heads = heads
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2 * layers))
        self.projections = nn.ModuleList(nn.Linear(width, 3 * width) for _ in range(layers))
        self.feeds = nn.ModuleList(
            nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)) for _ in range(layers)
        )

    def forward(self, tokens: Tensor) -> Tensor:
        batch, length = tokens.shape
        x = self.tokens(tokens) + self.positions(torch.arange(length))
        for number, (project, feed) in enumerate(zip(self.projections, self.feeds, strict=True)):
            parts = project(self.norms[2 * number](x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
            seen = functional.scaled_dot_product_attention(parts[0], parts[1], parts[2], is_causal=True)
            x = x + seen.transpose(1, 2).reshape(batch, length, -1)
            x = x + feed(self.norms[2 * number + 1](x))
        return x @ self.tokens.weight.T


class Logits(nn.Module):
    """A language model of transformers as a function of its tokens."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens: Tensor) -> Tensor:
        return self.model(tokens, use_cache=False).logits


def llama() -> nn.Module:
    """A small Llama: rotary positions, grouped queries, RMS norm, gated feed-forward."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=LONGEST,
    )
    return Logits(LlamaForCausalLM(config))


def gpt2() -> nn.Module:
    """A small GPT-2: learned positions, layer norm, tied embeddings."""
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        vocab_size=VOCABULARY, n_embd=64, n_layer=2, n_head=4, n_positions=LONGEST, bos_token_id=0, eos_token_id=0
    )
    return Logits(GPT2LMHeadModel(config))


MODELS: dict[str, Callable[[], nn.Module]] = {"decoder": Decoder, "llama": llama, "gpt2": gpt2}


def shapes_of(count: int, seed: int) -> list[tuple[int, int]]:
    """The corners, then random shapes, `count` in all."""
    numbers = random.Random(seed)
    drawn = [(numbers.randint(1, MOST), numbers.randint(1, LONGEST)) for _ in range(count - len(CORNERS))]
    return [*CORNERS, *drawn]


def run(name: str, target: str, count: int, seed: int) -> dict[str, Any]:
    """Compile one model and compare it at `count` shapes."""
    torch.manual_seed(seed)
    model = MODELS[name]().eval()
    dims = {0: cuvil.Dim("batch", min=1, max=MOST), 1: cuvil.Dim("seq", min=1, max=LONGEST)}
    example = torch.randint(0, VOCABULARY, (2, 16))
    native = mock.patch("cuvil.compiler.lower_to_native", wraps=cuvil.compiler.lower_to_native)
    with native as compilations:
        started = time.perf_counter()
        compiled = cuvil.compile(model, (example,), dynamic_shapes=(dims,), target=target)
        seconds = time.perf_counter() - started
        shapes = shapes_of(count, seed)
        errors = {f"{batch}x{length}": error_at(model, compiled, batch, length) for batch, length in shapes}
        count_of_compilations = compilations.call_count if target == "cpu" else 1
    worst = max(errors, key=lambda shape: errors[shape])
    return {
        "model": name,
        "target": target,
        "shapes": len(errors),
        "compilations": count_of_compilations,
        "compile_seconds": round(seconds, 3),
        "arena_bytes": compiled.memory.arena_bytes,
        "largest_error": errors[worst],
        "at": worst,
        "matched": sum(error <= TOLERANCE for error in errors.values()),
        "errors": errors,
    }


def error_at(model: nn.Module, compiled: Any, batch: int, length: int) -> float:
    """The norm of the difference from eager PyTorch at one shape, relative to the norm of the result."""
    tokens = torch.randint(0, VOCABULARY, (batch, length))
    with torch.no_grad():
        expected = model(tokens).double()
    got = compiled(tokens)
    if got.shape != expected.shape:
        return float("inf")
    return float((got.double() - expected).norm() / expected.norm())


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=list(MODELS), help=f"of {', '.join(MODELS)}")
    parser.add_argument("--target", default="cpu", choices=["cpu", "interpreter"])
    parser.add_argument("--shapes", type=int, default=30, help="how many shapes, the four corners included")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="where to write the results")
    arguments = parser.parse_args()
    results = [run(name, arguments.target, arguments.shapes, arguments.seed) for name in arguments.models]
    for each in results:
        matched = f"{each['matched']} of {each['shapes']} shapes match, {each['compilations']} compilation(s)"
        worst = f"largest error {each['largest_error']:.1e} at {each['at']}"
        print(f"{each['model']}: {matched}, {worst}, compiled in {each['compile_seconds']} s")
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
