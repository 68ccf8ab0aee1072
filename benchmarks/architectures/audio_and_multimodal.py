"""Sound; and text with images or with the layout of a page."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from benchmarks.architectures.entry import (
    END,
    Architecture,
    boxes,
    decoder,
    numbers,
    ones,
    together,
    tokens,
    transformer,
    vision,
)

_IMAGE_TOKEN = 98
_SOUND = numbers("input_values", 2, 400)
_IMAGES = numbers("pixel_values", 2, 3, 32, 32)


def _speech(**changes: Any) -> dict[str, Any]:
    return transformer(
        conv_dim=[16, 16, 16],
        conv_kernel=[10, 3, 3],
        conv_stride=[5, 2, 2],
        num_feat_extract_layers=3,
        num_conv_pos_embeddings=16,
        num_conv_pos_embedding_groups=2,
        **changes,
    )


def _image_tokens(generator: torch.Generator) -> dict[str, Tensor]:
    """A prompt with a place for each patch of the image."""
    ids = torch.randint(3, _IMAGE_TOKEN, (2, 24), generator=generator)
    ids[:, 2:18] = _IMAGE_TOKEN
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids)}


AUDIO = (
    Architecture("wav2vec2", "Wav2Vec2ForCTC", _speech(), _SOUND),
    Architecture("hubert", "HubertForCTC", _speech(), _SOUND),
    Architecture("wavlm", "WavLMForCTC", _speech(num_buckets=16, max_bucket_distance=32), _SOUND),
    Architecture(
        "audio_spectrogram_transformer",
        "ASTForAudioClassification",
        {**vision(patch_size=8), "num_mel_bins": 16, "max_length": 32, "frequency_stride": 4, "time_stride": 4},
        numbers("input_values", 2, 32, 16),
        "spectrogram patches",
    ),
)

MULTIMODAL = (
    Architecture(
        "clip",
        "CLIPModel",
        {"text_config": transformer(projection_dim=16), "vision_config": vision(), "projection_dim": 16},
        together(tokens(), _IMAGES),
    ),
    Architecture(
        "siglip",
        "SiglipModel",
        {"text_config": transformer(projection_size=32), "vision_config": vision()},
        together(tokens(), _IMAGES),
    ),
    Architecture(
        "blip",
        "BlipForImageTextRetrieval",
        {
            "text_config": transformer(encoder_hidden_size=32, sep_token_id=END),
            "vision_config": vision(),
            "projection_dim": 16,
            "image_text_hidden_size": 16,
        },
        together(tokens(), _IMAGES),
        "cross attention",
    ),
    Architecture(
        "vilt",
        "ViltForQuestionAnswering",
        {**transformer(), "image_size": 32, "patch_size": 8, "num_labels": 7},
        together(tokens(), _IMAGES, ones("pixel_mask", 2, 32, 32)),
    ),
    Architecture(
        "layoutlm",
        "LayoutLMForMaskedLM",
        transformer(max_2d_position_embeddings=128),
        together(tokens(), boxes("bbox", 2, 12)),
        "text on a page",
    ),
    Architecture(
        "llava",
        "LlavaForConditionalGeneration",
        {
            "text_config": {"model_type": "llama", **decoder(num_key_value_heads=2)},
            "vision_config": {"model_type": "clip_vision_model", **vision()},
            "image_token_index": _IMAGE_TOKEN,
        },
        together(_image_tokens, _IMAGES),
        "images among the tokens",
    ),
)
