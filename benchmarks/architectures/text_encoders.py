"""Encoders of text, each with its language-model head."""

from __future__ import annotations

from benchmarks.architectures.entry import Architecture, special_tokens, token_ids, tokens, transformer

_POSITIONS_AFTER_PADDING = "position ids counted from the padding"

TEXT_ENCODERS = (
    Architecture("bert", "BertForMaskedLM", transformer(), tokens()),
    Architecture("roberta", "RobertaForMaskedLM", transformer(), tokens(), _POSITIONS_AFTER_PADDING),
    Architecture(
        "distilbert",
        "DistilBertForMaskedLM",
        {
            "vocab_size": 99,
            "dim": 32,
            "n_layers": 2,
            "n_heads": 4,
            "hidden_dim": 64,
            "max_position_embeddings": 64,
            **special_tokens(),
        },
        tokens(),
    ),
    Architecture("albert", "AlbertForMaskedLM", transformer(embedding_size=16), tokens(), "layers share weights"),
    Architecture("electra", "ElectraForMaskedLM", transformer(embedding_size=16), tokens()),
    Architecture(
        "deberta",
        "DebertaForMaskedLM",
        transformer(relative_attention=True, pos_att_type=["c2p", "p2c"], position_biased_input=False),
        tokens(),
        "disentangled attention",
    ),
    Architecture(
        "deberta_v2",
        "DebertaV2ForMaskedLM",
        transformer(
            relative_attention=True,
            pos_att_type=["p2c", "c2p"],
            position_buckets=8,
            norm_rel_ebd="layer_norm",
            share_att_key=True,
            position_biased_input=False,
        ),
        tokens(),
        "disentangled attention, buckets of positions",
    ),
    Architecture("mpnet", "MPNetForMaskedLM", transformer(), tokens(), "relative position bias"),
    Architecture("xlm_roberta", "XLMRobertaForMaskedLM", transformer(), tokens(), _POSITIONS_AFTER_PADDING),
    Architecture("camembert", "CamembertForMaskedLM", transformer(), tokens(), _POSITIONS_AFTER_PADDING),
    Architecture(
        "funnel",
        "FunnelForMaskedLM",
        {
            "vocab_size": 99,
            "block_sizes": [1, 1],
            "d_model": 32,
            "n_head": 4,
            "d_head": 8,
            "d_inner": 64,
            **special_tokens(),
        },
        tokens(),
        "pools the sequence between blocks",
    ),
    Architecture(
        "longformer",
        "LongformerForMaskedLM",
        transformer(attention_window=[4, 4]),
        tokens(length=16),
        "sliding windows of 4",
    ),
    Architecture(
        "big_bird",
        "BigBirdForMaskedLM",
        transformer(attention_type="block_sparse", block_size=4, num_random_blocks=1),
        tokens(length=48),
        "block-sparse attention",
    ),
    Architecture("convbert", "ConvBertForMaskedLM", transformer(embedding_size=16), tokens()),
    Architecture("squeezebert", "SqueezeBertForMaskedLM", transformer(embedding_size=32), tokens()),
    Architecture(
        "nystromformer",
        "NystromformerForMaskedLM",
        transformer(num_landmarks=12, segment_means_seq_len=12),
        token_ids(),
        "as many landmarks as tokens: with fewer, transformers 5.24 fails on its own mask",
    ),
    Architecture("roformer", "RoFormerForMaskedLM", transformer(embedding_size=32), tokens()),
    Architecture(
        "modernbert",
        "ModernBertForMaskedLM",
        transformer(local_attention=8, cls_token_id=3, sep_token_id=4, global_attn_every_n_layers=2),
        tokens(),
        "local and global attention",
    ),
    Architecture("esm", "EsmForMaskedLM", transformer(mask_token_id=5, position_embedding_type="rotary"), tokens()),
    Architecture(
        "xlnet",
        "XLNetLMHeadModel",
        {"vocab_size": 99, "d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 64, **special_tokens()},
        tokens(),
        "use_mems=False",
        {"use_mems": False},
    ),
)
