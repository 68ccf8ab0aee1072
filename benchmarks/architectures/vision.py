"""Vision: classification, segmentation, detection, features."""

from __future__ import annotations

from benchmarks.architectures.entry import LABELS, Architecture, numbers, vision

_IMAGES = numbers("pixel_values", 2, 3, 32, 32)
_STAGES = {"hidden_sizes": [8, 16, 24, 32], "depths": [1, 1, 2, 1], "num_labels": LABELS}
_DETECTION = {
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "num_queries": 5,
}

VISION = (
    Architecture("vit", "ViTForImageClassification", vision(), _IMAGES),
    Architecture("deit", "DeiTForImageClassificationWithTeacher", vision(), _IMAGES, "two heads"),
    Architecture("beit", "BeitForImageClassification", vision(use_relative_position_bias=True), _IMAGES),
    Architecture("dinov2", "Dinov2ForImageClassification", vision(), _IMAGES, "layer scale"),
    Architecture(
        "swin",
        "SwinForImageClassification",
        {
            "image_size": 32,
            "patch_size": 2,
            "embed_dim": 16,
            "depths": [2, 2],
            "num_heads": [2, 4],
            "window_size": 4,
            "num_labels": LABELS,
        },
        _IMAGES,
        "shifted windows",
    ),
    Architecture("convnext", "ConvNextForImageClassification", _STAGES, _IMAGES),
    Architecture("convnextv2", "ConvNextV2ForImageClassification", _STAGES, _IMAGES),
    Architecture(
        "resnet",
        "ResNetForImageClassification",
        {"embedding_size": 8, **_STAGES},
        numbers("pixel_values", 2, 3, 64, 64),
    ),
    Architecture(
        "regnet",
        "RegNetForImageClassification",
        {"embedding_size": 8, "groups_width": 8, "layer_type": "y", **_STAGES},
        numbers("pixel_values", 2, 3, 64, 64),
        "grouped convolutions, squeeze and excitation",
    ),
    Architecture(
        "mobilenet_v2",
        "MobileNetV2ForImageClassification",
        {"image_size": 96, "depth_multiplier": 0.25, "min_depth": 4, "num_labels": LABELS},
        numbers("pixel_values", 2, 3, 96, 96),
        "depthwise convolutions",
    ),
    Architecture(
        "mobilevit",
        "MobileViTForImageClassification",
        {
            "image_size": 64,
            "hidden_sizes": [16, 24, 32],
            "neck_hidden_sizes": [8, 8, 16, 16, 24, 24, 32],
            "num_attention_heads": 4,
            "num_labels": LABELS,
        },
        numbers("pixel_values", 2, 3, 64, 64),
        "convolutions and attention",
    ),
    Architecture(
        "efficientnet",
        "EfficientNetForImageClassification",
        {
            "image_size": 96,
            "width_coefficient": 0.25,
            "depth_coefficient": 0.25,
            "hidden_dim": 320,
            "num_labels": LABELS,
        },
        numbers("pixel_values", 2, 3, 96, 96),
        "depthwise convolutions, squeeze and excitation",
    ),
    Architecture(
        "segformer",
        "SegformerForSemanticSegmentation",
        {
            "hidden_sizes": [8, 16, 24, 32],
            "depths": [1, 1, 1, 1],
            "decoder_hidden_size": 16,
            "num_attention_heads": [1, 2, 3, 4],
        },
        numbers("pixel_values", 2, 3, 64, 64),
        "segmentation",
    ),
    Architecture(
        "detr",
        "DetrForObjectDetection",
        {
            **_DETECTION,
            "use_timm_backbone": False,
            "use_pretrained_backbone": False,
            "backbone": None,
        },
        numbers("pixel_values", 1, 3, 64, 64),
        "detection, ResNet backbone",
    ),
    Architecture(
        "yolos",
        "YolosForObjectDetection",
        vision(image_size=[32, 32], num_detection_tokens=5),
        _IMAGES,
        "detection",
    ),
)
