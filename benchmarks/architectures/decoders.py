"""Decoders of text: causal language models."""

from __future__ import annotations

from benchmarks.architectures.entry import Architecture, decoder, special_tokens, tokens

_GROUPED = {"num_key_value_heads": 2}
_NO_CACHE = "use_cache=False"
_EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32}
_GPT2_NAMES = {"vocab_size": 99, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64, "use_cache": False}
_EVERY_EXPERT = "experts computed one by one"

DECODERS = (
    Architecture("gpt2", "GPT2LMHeadModel", {**_GPT2_NAMES, **special_tokens()}, tokens()),
    Architecture(
        "gpt_neo",
        "GPTNeoForCausalLM",
        {
            "vocab_size": 99,
            "hidden_size": 32,
            "num_layers": 2,
            "num_heads": 4,
            "intermediate_size": 64,
            "attention_types": [[["global", "local"], 1]],
            "window_size": 8,
            "max_position_embeddings": 64,
            "use_cache": False,
            **special_tokens(),
        },
        tokens(),
        "local attention in every other layer",
    ),  # fmt: skip
    Architecture("gptj", "GPTJForCausalLM", {**_GPT2_NAMES, "rotary_dim": 4, **special_tokens()}, tokens()),
    Architecture("gpt_neox", "GPTNeoXForCausalLM", decoder(), tokens(), "parallel residual"),
    Architecture("gpt_bigcode", "GPTBigCodeForCausalLM", {**_GPT2_NAMES, **special_tokens()}, tokens(), "multi-query"),
    Architecture(
        "opt",
        "OPTForCausalLM",
        decoder(ffn_dim=64, word_embed_proj_dim=32),
        tokens(),
        "position ids from the mask",
    ),
    Architecture(
        "bloom",
        "BloomForCausalLM",
        {"vocab_size": 99, "hidden_size": 32, "n_layer": 2, "n_head": 4, "use_cache": False, **special_tokens()},
        tokens(),
        "ALiBi",
    ),
    Architecture("llama", "LlamaForCausalLM", decoder(**_GROUPED), tokens(), "grouped queries"),
    Architecture("mistral", "MistralForCausalLM", decoder(sliding_window=8, **_GROUPED), tokens(), "sliding window"),
    Architecture(
        "mixtral",
        "MixtralForCausalLM",
        decoder(num_local_experts=4, num_experts_per_tok=2, **_GROUPED),
        tokens(),
        "mixture of experts",
    ),
    Architecture("qwen2", "Qwen2ForCausalLM", decoder(**_GROUPED), tokens()),
    Architecture("qwen3", "Qwen3ForCausalLM", decoder(head_dim=8, **_GROUPED), tokens(), "norms of queries and keys"),
    Architecture(
        "qwen2_moe",
        "Qwen2MoeForCausalLM",
        decoder(shared_expert_intermediate_size=32, **_EXPERTS, **_GROUPED),
        tokens(),
        "mixture of experts, a shared one",
    ),
    Architecture("qwen3_moe", "Qwen3MoeForCausalLM", decoder(head_dim=8, **_EXPERTS, **_GROUPED), tokens()),
    Architecture("gemma", "GemmaForCausalLM", decoder(head_dim=8, **_GROUPED), tokens()),
    Architecture(
        "gemma2",
        "Gemma2ForCausalLM",
        decoder(head_dim=8, sliding_window=8, query_pre_attn_scalar=8, **_GROUPED),
        tokens(),
        "soft caps, sliding window",
    ),
    Architecture(
        "gemma3",
        "Gemma3ForCausalLM",
        decoder(head_dim=8, sliding_window=8, query_pre_attn_scalar=8, **_GROUPED),
        tokens(),
        "local and global rotations",
    ),
    Architecture("phi", "PhiForCausalLM", decoder(), tokens(), "partial rotation"),
    Architecture("phi3", "Phi3ForCausalLM", decoder(**_GROUPED), tokens(), "fused projections"),
    Architecture(
        "falcon",
        "FalconForCausalLM",
        decoder(multi_query=True, alibi=False, parallel_attn=True),
        tokens(),
        "multi-query",
    ),
    Architecture(
        "mpt",
        "MptForCausalLM",
        {
            "vocab_size": 99,
            "d_model": 32,
            "n_layers": 2,
            "n_heads": 4,
            "expansion_ratio": 2,
            "max_seq_len": 64,
            "use_cache": False,
            **special_tokens(),
        },
        tokens(),
        "ALiBi",
    ),  # fmt: skip
    Architecture("stablelm", "StableLmForCausalLM", decoder(**_GROUPED), tokens()),
    Architecture("starcoder2", "Starcoder2ForCausalLM", decoder(sliding_window=8, **_GROUPED), tokens()),
    Architecture(
        "olmo", "OlmoForCausalLM", decoder(clip_qkv=2.0), tokens(), "norms without weights, clipped projections"
    ),
    Architecture("olmo2", "Olmo2ForCausalLM", decoder(**_GROUPED), tokens(), "norms after the blocks"),
    Architecture("cohere", "CohereForCausalLM", decoder(**_GROUPED), tokens(), "interleaved rotation"),
    Architecture("granite", "GraniteForCausalLM", decoder(**_GROUPED), tokens()),
    Architecture(
        "deepseek_v3",
        "DeepseekV3ForCausalLM",
        decoder(
            moe_intermediate_size=32,
            num_key_value_heads=4,
            n_routed_experts=4,
            n_shared_experts=1,
            n_group=2,
            topk_group=1,
            num_experts_per_tok=2,
            first_k_dense_replace=1,
            kv_lora_rank=8,
            q_lora_rank=16,
            qk_rope_head_dim=4,
            qk_nope_head_dim=8,
            v_head_dim=8,
        ),
        tokens(),
        "latent attention, groups of experts",
    ),
    Architecture(
        "gpt_oss",
        "GptOssForCausalLM",
        decoder(head_dim=8, sliding_window=8, num_local_experts=4, num_experts_per_tok=2, **_GROUPED),
        tokens(),
        "attention sinks, mixture of experts",
    ),
    Architecture(
        "mamba",
        "MambaForCausalLM",
        {
            "vocab_size": 99,
            "hidden_size": 32,
            "state_size": 4,
            "num_hidden_layers": 2,
            "use_cache": False,
            "time_step_rank": 4,
            **special_tokens(),
        },
        tokens(),
        "selective scan",
    ),  # fmt: skip
    Architecture(
        "rwkv",
        "RwkvForCausalLM",
        {
            "vocab_size": 99,
            "hidden_size": 32,
            "attention_hidden_size": 32,
            "num_hidden_layers": 2,
            "intermediate_size": 64,
            "context_length": 64,
            "use_cache": False,
            **special_tokens(),
        },
        tokens(),
        "linear recurrence",
    ),  # fmt: skip
)
