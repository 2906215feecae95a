# SPDX-License-Identifier: BSD-3-Clause
"""Pictures: classifiers, backbones, detectors, depth, segmentation, and pictures and text together."""
from zoo.model import hugging, noise, tokens

SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
PATCHES = SMALL | {"image_size": 32, "patch_size": 8}
BATCH = ({0: (1, 4)},)


def picture(name: str, family: str, size: int = 32, suffix="Model", pick="last_hidden_state", dynamic=BATCH, batch=2, half=False, **settings):
    return hugging(name, "vision", family + suffix, family + "Config", lambda: (noise(batch, 3, size, size),), names=("pixel_values",),
                   pick=pick, dynamic=dynamic, half=half, **settings)  # fmt: skip


def classifier(name: str, family: str, **settings):
    return picture(name, family, suffix="ForImageClassification", pick="logits", **settings)


def text_and_picture(name: str, family: str, text: dict, vision: dict):
    return hugging(name, "vision", family + "Model", family + "Config", lambda: (tokens(8, batch=2), noise(2, 3, 32, 32)),
                   names=("input_ids", "pixel_values"), pick="logits_per_image", text_config=text, vision_config=vision)  # fmt: skip


STAGES = {"hidden_sizes": [8, 16, 24, 32], "depths": [1, 1, 1, 1]}
RESNET = {"embedding_size": 8, "hidden_sizes": [8, 16, 24, 32], "depths": [1, 1, 1, 1]}
CAPTION = {"vocab_size": 100, "max_position_embeddings": 16, "eos_token_id": 2, "bos_token_id": 1, "pad_token_id": 0}


def detr():
    import transformers

    return {"use_timm_backbone": False, "use_pretrained_backbone": False, "backbone": None,
            "backbone_config": transformers.ResNetConfig(out_features=["stage4"], **RESNET)}  # fmt: skip


def lazily(make):
    """Settings that need `transformers` are made when the model is."""
    import dataclasses

    plain = make({})

    def build():
        return make(detr()).build()

    return dataclasses.replace(plain, build=build)


MODELS = [
    classifier("vit", "ViT", half=True, **PATCHES),
    classifier("deit", "DeiT", **PATCHES),
    picture("beit", "Beit", use_relative_position_bias=True, **PATCHES),
    picture("dinov2", "Dinov2", **{k: v for k, v in PATCHES.items() if k != "intermediate_size"}),
    classifier("swin", "Swin", embed_dim=8, depths=[1, 2], num_heads=[1, 2], window_size=4, image_size=32, patch_size=4),
    picture("swinv2", "Swinv2", embed_dim=8, depths=[1, 2], num_heads=[1, 2], window_size=4, image_size=32, patch_size=4),
    classifier("convnext", "ConvNext", **STAGES),
    picture("convnextv2", "ConvNextV2", **STAGES),
    classifier("resnet", "ResNet", half=True, **RESNET),
    picture("regnet", "RegNet", groups_width=8, pick="pooler_output", **RESNET),
    classifier("mobilenet-v1", "MobileNetV1", depth_multiplier=0.25),
    classifier("mobilenet-v2", "MobileNetV2", depth_multiplier=0.25),
    picture("efficientnet", "EfficientNet", width_coefficient=0.25, depth_coefficient=0.25, image_size=32, hidden_dim=320),
    picture("segformer", "Segformer", suffix="ForSemanticSegmentation", pick="logits", hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1],
            num_attention_heads=[1, 1, 2, 2], decoder_hidden_size=16, num_labels=5),
    picture("mobilevit", "MobileViT", size=64, image_size=64, hidden_sizes=[16, 20, 24], neck_hidden_sizes=[8, 8, 8, 12, 12, 16, 32]),
    classifier("levit", "Levit", size=64, image_size=64, hidden_sizes=[16, 24, 32], num_attention_heads=[1, 2, 2], depths=[1, 1, 1], key_dim=[8, 8, 8]),
    picture("pvt", "Pvt", image_size=32, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], num_attention_heads=[1, 1, 2, 2]),
    picture("poolformer", "PoolFormer", hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1]),
    picture("focalnet", "FocalNet", image_size=32, embed_dim=8, depths=[1, 1], hidden_sizes=[8, 16], focal_levels=[1, 1], focal_windows=[3, 3]),
    picture("dpt", "DPT", suffix="ForDepthEstimation", pick="predicted_depth", backbone_out_indices=[0, 1, 2, 3], is_hybrid=False,
            neck_hidden_sizes=[8, 8, 16, 16], fusion_hidden_size=8, reassemble_factors=[4, 2, 1, 0.5], dynamic=None, **PATCHES | {"num_hidden_layers": 4}),
    picture("glpn", "GLPN", size=64, suffix="ForDepthEstimation", pick="predicted_depth", hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1],
            num_attention_heads=[1, 1, 2, 2], decoder_hidden_size=8, batch=1, dynamic=None),
    picture("yolos", "Yolos", suffix="ForObjectDetection", pick=("logits", "pred_boxes"), num_detection_tokens=5,
            **PATCHES | {"image_size": [32, 32]}, dynamic=None),
    hugging("vit-mae", "vision", "ViTMAEModel", "ViTMAEConfig", lambda: (noise(2, 3, 32, 32), noise(2, 16)), names=("pixel_values", "noise"),
            mask_ratio=0.5, **PATCHES),
    picture("swin2sr", "Swin2SR", suffix="ForImageSuperResolution", pick="reconstruction", image_size=16, size=16, patch_size=1, embed_dim=8,
            depths=[1, 1], num_heads=[2, 2], window_size=4, upscale=2, dynamic=None),
    hugging("sam", "vision", "SamVisionModel", "SamVisionConfig", lambda: (noise(1, 3, 64, 64),), names=("pixel_values",), image_size=64,
            patch_size=8, output_channels=16, window_size=4, global_attn_indexes=[1], mlp_dim=48, hidden_size=32, num_hidden_layers=2,
            num_attention_heads=4),
    lazily(lambda extra: picture("detr", "Detr", size=64, batch=1, suffix="ForObjectDetection", pick=("logits", "pred_boxes"), dynamic=None,
                                 d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
                                 encoder_ffn_dim=48, decoder_ffn_dim=48, num_queries=6, num_labels=4, **extra)),
    text_and_picture("clip", "CLIP", SMALL | CAPTION, PATCHES),
    text_and_picture("siglip", "Siglip", SMALL | CAPTION, PATCHES),
]  # fmt: skip
