"""The table of architectures, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from benchmarks.architectures.audio_and_multimodal import AUDIO, MULTIMODAL
from benchmarks.architectures.decoders import DECODERS
from benchmarks.architectures.encoder_decoders import ENCODER_DECODERS
from benchmarks.architectures.entry import Architecture
from benchmarks.architectures.text_encoders import TEXT_ENCODERS
from benchmarks.architectures.vision import VISION

KINDS: Mapping[str, tuple[Architecture, ...]] = MappingProxyType(
    {
        "text encoders": TEXT_ENCODERS,
        "decoders": DECODERS,
        "encoder-decoders": ENCODER_DECODERS,
        "vision": VISION,
        "audio": AUDIO,
        "multimodal": MULTIMODAL,
    }
)
"""Architectures by what they are for."""

ARCHITECTURES: Mapping[str, Architecture] = MappingProxyType(
    {architecture.name: architecture for kind in KINDS.values() for architecture in kind}
)
"""All of them, by name."""

KIND_OF: Mapping[str, str] = MappingProxyType(
    {architecture.name: kind for kind, members in KINDS.items() for architecture in members}
)
"""The kind of each."""

IN_BFLOAT16 = (
    "bert",
    "modernbert",
    "gpt2",
    "llama",
    "qwen3",
    "gemma2",
    "mixtral",
    "t5",
    "vit",
    "whisper",
)
"""Those that are checked in bfloat16 too."""
