# SPDX-License-Identifier: BSD-3-Clause
"""Whole models, small: what the ops do together."""
import torch
from torch import nn
from torch.nn import functional as F

from cases.case import case, dim, f32, i64

CONV, CLAMPED, LINEAR = "aten.convolution.default", "et_vk.conv_with_clamp.default", "aten.linear.default"
NORM, EMBEDDING, MEAN = "aten.native_layer_norm.default", "aten.embedding.default", "aten.mean.dim"


def conv_norm(inputs, outputs, size, stride=1, groups=1):
    """As in torchvision's models: the norm has seen data."""
    norm = nn.BatchNorm2d(outputs)
    norm.running_mean.normal_(0, 0.2)
    norm.running_var.uniform_(0.5, 1.5)
    nn.init.uniform_(norm.weight, 0.5, 1.5)
    nn.init.normal_(norm.bias, 0, 0.2)
    return [nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False), norm]


class InvertedResidual(nn.Module):
    def __init__(self, inputs, outputs, stride, expansion):
        super().__init__()
        wide = inputs * expansion
        expand = [*conv_norm(inputs, wide, 1), nn.ReLU6()] if expansion > 1 else []
        self.layers = nn.Sequential(*expand, *conv_norm(wide, wide, 3, stride, groups=wide), nn.ReLU6(),
                                    *conv_norm(wide, outputs, 1))  # fmt: skip
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x):
        y = self.layers(x)
        return x + y if self.adds else y


class MobileNet(nn.Module):
    """MobileNetV2 with few blocks."""

    def __init__(self, classes=10):
        super().__init__()
        self.features = nn.Sequential(
            *conv_norm(3, 8, 3, stride=2), nn.ReLU6(),
            InvertedResidual(8, 8, 1, 1),
            InvertedResidual(8, 12, 2, 6), InvertedResidual(12, 12, 1, 6),
            InvertedResidual(12, 20, 2, 6), InvertedResidual(20, 20, 1, 6),
            *conv_norm(20, 64, 1), nn.ReLU6(),
        )  # fmt: skip
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(64, classes))

    def forward(self, x):
        return self.classifier(F.adaptive_avg_pool2d(self.features(x), 1).flatten(1))


class Encoder(nn.Module):
    """A sentence encoder: positions, layers of attention and a feed-forward net, the mean over the tokens."""

    def __init__(self, vocabulary=31, width=16, heads=2, layers=2, positions=12):
        super().__init__()
        self.words, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(positions, width)
        self.norm, self.heads = nn.LayerNorm(width), heads
        self.layers = nn.ModuleList(nn.ModuleDict({
            "qkv": nn.Linear(width, 3 * width), "out": nn.Linear(width, width), "up": nn.Linear(width, 4 * width),
            "down": nn.Linear(4 * width, width), "norm1": nn.LayerNorm(width), "norm2": nn.LayerNorm(width),
        }) for _ in range(layers))  # fmt: skip

    def attend(self, layer, x):
        batch, count, width = x.shape
        q, k, v = (
            part.reshape(batch, count, self.heads, width // self.heads).transpose(1, 2)
            for part in layer["qkv"](x).split(width, -1)
        )
        y = torch.softmax(q @ k.transpose(2, 3) * q.shape[-1] ** -0.5, -1) @ v
        return layer["out"](y.transpose(1, 2).reshape(batch, count, width))

    def forward(self, tokens):
        x = self.norm(self.words(tokens) + self.positions.weight[: tokens.shape[1]])
        for layer in self.layers:
            x = layer["norm1"](x + self.attend(layer, x))
            x = layer["norm2"](x + layer["down"](F.gelu(layer["up"](x))))
        y = x.mean(1)
        return y / y.pow(2).sum(-1, keepdim=True).sqrt()


class Decoder(nn.Module):
    """Layers that split their heads before they rotate them, all of a head or a part of it. `parallel`: attention and the
    feed-forward net read the same input."""

    def __init__(self, rotated, parallel, vocabulary=31, width=32, heads=4, groups=2, layers=2, positions=8):
        super().__init__()
        self.heads, self.groups, self.parallel, self.dim = heads, groups, parallel, width // heads
        self.words, self.head = nn.Embedding(vocabulary, width), nn.Linear(width, vocabulary, bias=False)
        angles = torch.outer(torch.arange(positions), 100.0 ** -(torch.arange(0, rotated, 2) / rotated)).repeat(1, 2)
        self.register_buffer("cosines", angles.cos()[None], persistent=False)
        self.register_buffer("sines", angles.sin()[None], persistent=False)
        self.register_buffer("hidden", torch.full((positions, positions), -1e9).triu(1), persistent=False)
        self.layers = nn.ModuleList(nn.ModuleDict({
            "q": nn.Linear(width, width), "k": nn.Linear(width, groups * self.dim), "v": nn.Linear(width, groups * self.dim),
            "out": nn.Linear(width, width), "up": nn.Linear(width, 2 * width), "down": nn.Linear(2 * width, width),
            "norm1": nn.LayerNorm(width), "norm2": nn.LayerNorm(width),
        }) for _ in range(layers))  # fmt: skip

    def turned(self, x, cosines, sines):
        width = cosines.shape[-1]
        rotated, rest = x[..., :width], x[..., width:]
        low, high = rotated[..., : width // 2], rotated[..., width // 2 :]
        return torch.cat([rotated * cosines + torch.cat((-high, low), -1) * sines, rest], -1)

    def attend(self, layer, x):
        batch, count, width = x.shape
        split = lambda part, heads: part.view(batch, count, heads, self.dim).transpose(1, 2)  # noqa: E731
        q, k, v = split(layer["q"](x), self.heads), split(layer["k"](x), self.groups), split(layer["v"](x), self.groups)
        cosines, sines = self.cosines.unsqueeze(1), self.sines.unsqueeze(1)
        q, k = self.turned(q, cosines, sines), self.turned(k, cosines, sines)
        k, v = (part.repeat_interleave(self.heads // self.groups, 1) for part in (k, v))
        y = torch.softmax(q @ k.transpose(2, 3) * self.dim**-0.5 + self.hidden, -1) @ v
        return layer["out"](y.transpose(1, 2).reshape(batch, count, width))

    def forward(self, tokens):
        x = self.words(tokens)
        for layer in self.layers:
            y = x + self.attend(layer, layer["norm1"](x))
            x = y + layer["down"](F.gelu(layer["up"](layer["norm2"](x if self.parallel else y))))
        return self.head(x)


ROTARY = "et_vk.apply_rotary_emb_hf.default"

CASES = [
    case("models/decoder_rotated", lambda: Decoder(8, False), i64(1, 8, low=0, high=31), expect_ops=[ROTARY, EMBEDDING]),
    case("models/decoder_partly_rotated", lambda: Decoder(4, True, groups=4), i64(2, 8, low=0, high=31),
         expect_ops=[ROTARY, EMBEDDING]),
    case("models/mobilenet", MobileNet, f32(1, 3, 32, 32), expect_ops=[CLAMPED, CONV, LINEAR]),
    case("models/mobilenet_fp16", MobileNet, f32(1, 3, 32, 32), compile={"force_fp16": True}, nmse=1e-5,
         expect_ops=[CLAMPED, CONV, LINEAR]),
    case("models/encoder", Encoder, i64(1, dim("s", 2, 12), low=0, high=31), live=[7, 2], beyond=True,
         expect_ops=[NORM, EMBEDDING, MEAN]),
]  # fmt: skip
