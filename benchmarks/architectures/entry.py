"""What an architecture of the table is: its network, its tiny configuration, its inputs.

    model, inputs = TEXT_ENCODERS[0].load()
    outputs = model(**inputs)

Nothing is downloaded: weights are random, as `benchmarks.healthy_weights` draws them. `transformers` is imported when
an architecture is loaded, so that the table is cheap to list.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.healthy_weights import calibrate_batch_norms, randomize

VOCABULARY = 99
LABELS = 16
PAD, BEGIN, END = 1, 0, 2
"""Token ids with a meaning; inputs have others, and `PAD` where the attention mask is 0."""

Inputs = Callable[[torch.Generator], dict[str, Tensor]]


@dataclass(frozen=True)
class Architecture:
    """One architecture: a class of `transformers`, settings of its configuration, and what it is called with."""

    name: str
    network: str
    settings: Mapping[str, Any]
    inputs: Inputs
    note: str = ""
    """Settings that make it traceable, and what is special; shown in the table."""
    flags: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Keyword arguments of every call that are no tensors."""
    attention: str | None = None
    """`attn_implementation`, where it is not what the network takes by itself."""

    def load(self, *, seed: int = 0) -> tuple[nn.Module, dict[str, Any]]:
        """The model in eval mode and keyword arguments to call it with, the same for the same seed."""
        import transformers

        generator = torch.Generator().manual_seed(seed)
        network: Any = getattr(transformers, self.network)
        config = network.config_class(**self.settings)
        if self.attention is not None:
            config._attn_implementation = self.attention
        with torch.random.fork_rng(devices=()):
            torch.manual_seed(seed)  # for what is drawn and is no parameter: random projections
            model: nn.Module = network(config).eval()
        randomize(model, generator)
        calibrate_batch_norms(model, (), self._large_batch(seed))
        for parameter in model.parameters():
            parameter.requires_grad_(False)
        with torch.no_grad():
            model(**self.arguments(seed=seed))  # RWKV scales its weights at the first call
        return model, self.arguments(seed=seed)

    def _large_batch(self, seed: int) -> dict[str, Any]:
        """Four calls' arguments as one: statistics of few values divide by almost nothing."""
        calls = [self.arguments(seed=seed + number) for number in range(4)]
        return {
            name: torch.cat([call[name] for call in calls]) if isinstance(value, Tensor) else value
            for name, value in calls[0].items()
        }

    def arguments(self, *, seed: int) -> dict[str, Any]:
        """Keyword arguments of a call; another seed gives other values of the same shapes."""
        return {**self.inputs(torch.Generator().manual_seed(seed)), **self.flags}


# -- inputs ------------------------------------------------------------------------------------------------------------


def tokens(batch: int = 2, length: int = 12, *, vocabulary: int = VOCABULARY, name: str = "input_ids") -> Inputs:
    """Token ids and their attention mask; the last sequence is padded at its end."""

    def make(generator: torch.Generator) -> dict[str, Tensor]:
        mask = torch.ones(batch, length, dtype=torch.int64)
        mask[-1, -3:] = 0
        ids = torch.randint(3, vocabulary, (batch, length), generator=generator)
        return {name: torch.where(mask == 1, ids, PAD), "attention_mask": mask}

    return make


def token_ids(batch: int = 2, length: int = 12, *, name: str = "input_ids") -> Inputs:
    """Token ids without a mask."""
    return lambda generator: {name: torch.randint(3, VOCABULARY, (batch, length), generator=generator)}


def numbers(name: str, *shape: int) -> Inputs:
    """Normally distributed numbers: pixels, sound, features."""
    return lambda generator: {name: torch.randn(shape, generator=generator)}


def whole(name: str, *shape: int, high: int = 2) -> Inputs:
    """Whole numbers below `high`: types of tokens, masks."""
    return lambda generator: {name: torch.randint(0, high, shape, generator=generator)}


def boxes(name: str, batch: int, length: int, *, high: int = 100) -> Inputs:
    """Rectangles of words on a page: left, top, right, bottom."""

    def make(generator: torch.Generator) -> dict[str, Tensor]:
        corners = torch.randint(0, high, (batch, length, 2, 2), generator=generator).sort(dim=2).values
        return {name: corners.reshape(batch, length, 4)}

    return make


def ones(name: str, *shape: int) -> Inputs:
    """A mask that hides nothing."""
    return lambda generator: {name: torch.ones(shape, dtype=torch.int64)}


def together(*parts: Inputs) -> Inputs:
    """The inputs of all parts."""

    def make(generator: torch.Generator) -> dict[str, Tensor]:
        return {name: value for part in parts for name, value in part(generator).items()}

    return make


# -- settings ----------------------------------------------------------------------------------------------------------


def special_tokens() -> dict[str, Any]:
    """Ids that lie in the vocabulary."""
    return {"pad_token_id": PAD, "bos_token_id": BEGIN, "eos_token_id": END}


def transformer(**changes: Any) -> dict[str, Any]:
    """Two layers of width 32, under the names that most configurations use."""
    return {
        "vocab_size": VOCABULARY,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 64,
        "max_position_embeddings": 64,
        **special_tokens(),
        **changes,
    }


def decoder(**changes: Any) -> dict[str, Any]:
    """`transformer` for a decoder: keys and values are not kept between calls."""
    return transformer(use_cache=False, **changes)


def vision(**changes: Any) -> dict[str, Any]:
    """`transformer` for images of 32 x 32 in patches of 8 x 8."""
    kept = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
    settings = {name: value for name, value in transformer().items() if name in kept}
    return {**settings, "image_size": 32, "patch_size": 8, "num_labels": LABELS, **changes}
