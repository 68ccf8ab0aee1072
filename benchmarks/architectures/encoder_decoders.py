"""Encoders with decoders: translation, summaries, speech."""

from __future__ import annotations

from typing import Any

from benchmarks.architectures.entry import Architecture, numbers, special_tokens, together, token_ids, tokens

_PAIR = together(tokens(), token_ids(length=7, name="decoder_input_ids"))


def _bart(**changes: Any) -> dict[str, Any]:
    return {
        "vocab_size": 99,
        "d_model": 32,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "encoder_attention_heads": 4,
        "decoder_attention_heads": 4,
        "encoder_ffn_dim": 64,
        "decoder_ffn_dim": 64,
        "max_position_embeddings": 64,
        "decoder_start_token_id": 2,
        "forced_eos_token_id": 2,
        "use_cache": False,
        **special_tokens(),
        **changes,
    }


def _t5(**changes: Any) -> dict[str, Any]:
    return {
        "vocab_size": 99,
        "d_model": 32,
        "d_kv": 8,
        "d_ff": 64,
        "num_layers": 2,
        "num_heads": 4,
        "relative_attention_num_buckets": 8,
        "relative_attention_max_distance": 16,
        "decoder_start_token_id": 0,
        "use_cache": False,
        **special_tokens(),
        **changes,
    }


ENCODER_DECODERS = (
    Architecture("t5", "T5ForConditionalGeneration", _t5(), _PAIR, "relative position bias"),
    Architecture("mt5", "MT5ForConditionalGeneration", _t5(feed_forward_proj="gated-gelu"), _PAIR),
    Architecture("bart", "BartForConditionalGeneration", _bart(), _PAIR),
    Architecture("mbart", "MBartForConditionalGeneration", _bart(scale_embedding=True), _PAIR),
    Architecture("pegasus", "PegasusForConditionalGeneration", _bart(), _PAIR, "sinusoids"),
    Architecture("marian", "MarianMTModel", _bart(activation_function="swish"), _PAIR, "sinusoids"),
    Architecture("m2m_100", "M2M100ForConditionalGeneration", _bart(), _PAIR, "sinusoids counted from the padding"),
    Architecture("blenderbot", "BlenderbotForConditionalGeneration", _bart(), _PAIR),
    Architecture(
        "whisper",
        "WhisperForConditionalGeneration",
        _bart(max_source_positions=20, max_target_positions=32, num_mel_bins=16),
        together(numbers("input_features", 2, 16, 40), token_ids(length=7, name="decoder_input_ids")),
        "speech",
    ),
)
