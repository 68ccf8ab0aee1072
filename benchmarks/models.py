"""The model zoo: eight architectures in their usual sizes, and tiny twins of each for tests.

Every model comes from a `transformers` configuration with random weights, so that nothing is downloaded. Inputs are
positional tensors, the output is one tensor, no cache is kept: `torch.export.export(model, inputs, strict=False)` takes
each as it is.

    model, inputs = MODELS["resnet50"].load()
    expected = model(*inputs)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import torch
import transformers
from torch import Tensor, nn
from transformers import PretrainedConfig
from transformers.models.whisper.modeling_whisper import WhisperEncoder

from benchmarks.healthy_weights import calibrate_batch_norms, randomize

Shape = tuple[int, ...]
ConfigMaker = Callable[[bool], PretrainedConfig]
"""The configuration of the full size, or of the tiny one where the argument is true."""
NetworkMaker = Callable[[Any], nn.Module]


class TensorOutput(nn.Module):
    """A `transformers` model as a function of one tensor that returns one field of its output."""

    def __init__(self, model: nn.Module, input_name: str, output_name: str, **options: bool) -> None:
        super().__init__()
        self.model = model
        self.input_name = input_name
        self.output_name = output_name
        self.options = options

    def forward(self, value: Tensor) -> Tensor:
        return getattr(self.model(**{self.input_name: value}, **self.options), self.output_name)


@dataclass(frozen=True)
class Model:
    """One architecture: how its two sizes are made, what they take, and what an inference of the full size costs."""

    name: str
    title: str
    gflop: float
    """Floating-point operations of one inference of the full size, in 1e9; a multiply-add counts as two."""
    config: ConfigMaker
    network: NetworkMaker
    input_name: str
    output_name: str
    input_shape: tuple[Shape, Shape]
    """Of the full and of the tiny size."""
    keeps_cache: bool = False

    def load(self, *, tiny: bool = False, seed: int = 0) -> tuple[nn.Module, tuple[Tensor]]:
        """The model in eval mode and example inputs of batch 1, the same for the same seed."""
        generator = torch.Generator().manual_seed(seed)
        config = self.config(tiny)
        options = {"use_cache": False} if self.keeps_cache else {}
        model = TensorOutput(self.network(config), self.input_name, self.output_name, **options).eval()
        randomize(model, generator)
        if self.input_name == "pixel_values":
            calibrate_batch_norms(model, (self._input(config, generator, tiny=tiny, batch=4),))
        for parameter in model.parameters():
            parameter.requires_grad_(False)
        return model, (self._input(config, generator, tiny=tiny, batch=1),)

    def _input(self, config: PretrainedConfig, generator: torch.Generator, *, tiny: bool, batch: int) -> Tensor:
        shape = (batch, *self.input_shape[tiny])
        if self.input_name == "input_ids":
            return torch.randint(0, config.vocab_size, shape, generator=generator)
        return torch.randn(shape, generator=generator)


def _resnet50(tiny: bool) -> PretrainedConfig:
    if tiny:
        return transformers.ResNetConfig(embedding_size=8, hidden_sizes=[16, 32], depths=[1, 2], num_labels=10)
    return transformers.ResNetConfig(num_labels=1000)


def _mobilenet_v2(tiny: bool) -> PretrainedConfig:
    if tiny:
        return transformers.MobileNetV2Config(image_size=32, depth_multiplier=0.25, min_depth=4, num_labels=10)
    return transformers.MobileNetV2Config(num_labels=1000)


def _convnext_tiny(tiny: bool) -> PretrainedConfig:
    if tiny:
        return transformers.ConvNextConfig(num_stages=2, hidden_sizes=[16, 32], depths=[1, 2], num_labels=10)
    return transformers.ConvNextConfig(num_labels=1000)


def _vit_b16(tiny: bool) -> PretrainedConfig:
    if tiny:
        return transformers.ViTConfig(
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=64,
            image_size=32,
            patch_size=8,
            num_labels=10,
        )
    return transformers.ViTConfig(num_labels=1000)


def _bert_base(tiny: bool) -> PretrainedConfig:
    if tiny:
        return transformers.BertConfig(
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=64,
            vocab_size=100,
            max_position_embeddings=32,
        )
    return transformers.BertConfig()


def _gpt2(tiny: bool) -> PretrainedConfig:
    if tiny:
        return transformers.GPT2Config(n_embd=32, n_layer=2, n_head=4, n_positions=32, vocab_size=100, **_EDGE_TOKENS)
    return transformers.GPT2Config()


def _llama(tiny: bool) -> PretrainedConfig:
    if tiny:
        return transformers.LlamaConfig(
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            intermediate_size=64,
            vocab_size=100,
        )
    return transformers.LlamaConfig(
        hidden_size=768,
        num_hidden_layers=12,
        num_attention_heads=12,
        num_key_value_heads=4,
        intermediate_size=2048,
        vocab_size=8000,
    )


def _whisper_tiny(tiny: bool) -> PretrainedConfig:
    if tiny:
        return transformers.WhisperConfig(
            d_model=32, encoder_layers=2, encoder_attention_heads=4, encoder_ffn_dim=64, max_source_positions=50
        )
    return transformers.WhisperConfig(
        d_model=384, encoder_layers=4, encoder_attention_heads=6, encoder_ffn_dim=1536, max_source_positions=1500
    )


_EDGE_TOKENS = {"bos_token_id": 99, "eos_token_id": 99}
_TOKENS: tuple[Shape, Shape] = ((128,), (12,))
_SOUND: tuple[Shape, Shape] = ((80, 3000), (80, 100))


def _bert_network(config: PretrainedConfig) -> nn.Module:
    return transformers.BertModel(config, add_pooling_layer=False)


def _vision(name: str, title: str, gflop: float, config: ConfigMaker, network: NetworkMaker) -> Model:
    return Model(name, title, gflop, config, network, "pixel_values", "logits", ((3, 224, 224), (3, 32, 32)))


def _decoder(name: str, title: str, gflop: float, config: ConfigMaker, network: NetworkMaker) -> Model:
    return Model(name, title, gflop, config, network, "input_ids", "logits", _TOKENS, keeps_cache=True)


def _encoder(
    name: str,
    title: str,
    gflop: float,
    config: ConfigMaker,
    network: NetworkMaker,
    input_name: str,
    input_shape: tuple[Shape, Shape],
) -> Model:
    return Model(name, title, gflop, config, network, input_name, "last_hidden_state", input_shape)


_MODELS = (
    _vision("resnet50", "ResNet-50", 8.18, _resnet50, transformers.ResNetForImageClassification),
    _vision("mobilenet_v2", "MobileNetV2", 0.60, _mobilenet_v2, transformers.MobileNetV2ForImageClassification),
    _vision("convnext_tiny", "ConvNeXt-tiny", 8.91, _convnext_tiny, transformers.ConvNextForImageClassification),
    _vision("vit_b16", "ViT-B/16", 35.13, _vit_b16, transformers.ViTForImageClassification),
    _encoder("bert_base", "BERT-base", 22.35, _bert_base, _bert_network, "input_ids", _TOKENS),
    _decoder("gpt2", "GPT-2", 32.23, _gpt2, transformers.GPT2LMHeadModel),
    _decoder("llama", "Llama 12 x 768", 21.50, _llama, transformers.LlamaForCausalLM),
    _encoder("whisper_tiny", "Whisper-tiny enc.", 37.0, _whisper_tiny, WhisperEncoder, "input_features", _SOUND),
)

MODELS: Mapping[str, Model] = MappingProxyType({model.name: model for model in _MODELS})
"""The zoo, by name."""
