# SPDX-License-Identifier: BSD-3-Clause
"""Architectures written out: recurrent nets, and pictures from pictures."""
import inspect

import torch
from torch import nn
from torch.nn import functional as F
from zoo.model import Model, noise, spread, tokens


class Recurrent(nn.Module):
    def __init__(self, cell, **settings):
        super().__init__()
        self.cell = cell(12, 16, batch_first=True, **settings)

    def forward(self, x):
        return self.cell(x)[0]


class Tagger(nn.Module):
    """Words to tags, both directions."""

    def __init__(self):
        super().__init__()
        self.words, self.cell = nn.Embedding(100, 12), nn.LSTM(12, 16, 2, batch_first=True, bidirectional=True)
        self.tags = nn.Linear(32, 7)

    def forward(self, ids):
        return self.tags(self.cell(self.words(ids))[0]).log_softmax(-1)


class Attending(nn.Module):
    """A sentence to a sentence, with additive attention."""

    def __init__(self):
        super().__init__()
        self.words, self.reader, self.writer = nn.Embedding(100, 12), nn.GRU(12, 16, batch_first=True), nn.GRU(12, 16, batch_first=True)
        self.query, self.key, self.score, self.out = nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 1), nn.Linear(32, 100)

    def forward(self, source, target):
        read, last = self.reader(self.words(source))
        written, _ = self.writer(self.words(target), last)
        weights = self.score(torch.tanh(self.query(written)[:, :, None] + self.key(read)[:, None])).squeeze(-1).softmax(-1)
        return self.out(torch.cat([written, weights @ read], -1))


class ConvolutionalMemory(nn.Module):
    def __init__(self):
        super().__init__()
        self.gates = nn.Conv2d(3 + 6, 24, 3, padding=1)

    def forward(self, frames):
        hidden = cell = frames.new_zeros(frames.shape[0], 6, *frames.shape[-2:])
        for frame in frames.unbind(1):
            i, f, g, o = self.gates(torch.cat([frame, hidden], 1)).chunk(4, 1)
            cell = f.sigmoid() * cell + i.sigmoid() * g.tanh()
            hidden = o.sigmoid() * cell.tanh()
        return hidden


class Causal(nn.Module):
    """Dilated convolutions that look back alone."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv1d(8, 8, 3, dilation=2**i) for i in range(4))

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = x + F.gelu(layer(F.pad(x, (2 * 2**i, 0))))
        return x


class Block(nn.Sequential):
    def __init__(self, wide, deep):
        super().__init__(nn.Conv2d(wide, deep, 3, padding=1), nn.GroupNorm(4, deep), nn.SiLU(), nn.Conv2d(deep, deep, 3, padding=1), nn.SiLU())


class UNet(nn.Module):
    """With a time, as denoisers have it."""

    def __init__(self):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(16, 32), nn.SiLU(), nn.Linear(32, 16))
        self.down1, self.down2, self.middle = Block(3, 8), Block(8, 16), Block(16, 16)
        self.attention = nn.MultiheadAttention(16, 4, batch_first=True)
        self.up1, self.up2, self.out = Block(32, 8), Block(16, 8), nn.Conv2d(8, 3, 1)

    def forward(self, x, time):
        steps = torch.exp(torch.arange(8) * -0.5) * time[:, None]
        hint = self.time(torch.cat([steps.sin(), steps.cos()], -1).to(x.dtype))
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2)) + hint[:, :, None, None]
        c = self.middle(F.avg_pool2d(b, 2))
        flat = c.flatten(2).transpose(1, 2)
        c = c + self.attention(flat, flat, flat, need_weights=False)[0].transpose(1, 2).view(c.shape)
        d = self.up1(torch.cat([F.interpolate(c, scale_factor=2.0), b], 1))
        return self.out(self.up2(torch.cat([F.interpolate(d, scale_factor=2.0, mode="bilinear"), a], 1)))


class VariationalAutoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(Block(3, 8), nn.Conv2d(8, 8, 3, 2, 1), Block(8, 16), nn.Conv2d(16, 8, 1))
        self.decoder = nn.Sequential(nn.Conv2d(4, 16, 1), Block(16, 16), nn.ConvTranspose2d(16, 8, 4, 2, 1), Block(8, 8), nn.Conv2d(8, 3, 1))

    def forward(self, x, noise):
        mean, variance = self.encoder(x).chunk(2, 1)
        return self.decoder(mean + noise * torch.exp(0.5 * variance.clamp(-30, 20))), mean


class Dense(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv2d(8 + 4 * i, 4 if i < 2 else 8, 3, padding=1) for i in range(3))

    def forward(self, x):
        seen = x
        for layer in self.layers[:-1]:
            seen = torch.cat([seen, F.leaky_relu(layer(seen), 0.2)], 1)
        return x + 0.2 * self.layers[-1](seen)


class SuperResolution(nn.Module):
    """RRDBNet: residuals in residuals of dense blocks, then a larger picture."""

    def __init__(self):
        super().__init__()
        self.first, self.body, self.up, self.last = nn.Conv2d(3, 8, 3, padding=1), nn.Sequential(Dense(), Dense()), nn.Conv2d(8, 8, 3, padding=1), nn.Conv2d(8, 3, 3, padding=1)

    def forward(self, x):
        x = self.first(x)
        x = x + 0.2 * self.body(x)
        return self.last(F.leaky_relu(self.up(F.interpolate(x, scale_factor=2.0, mode="nearest")), 0.2))


def conv(wide, deep, kernel=3, stride=1):
    return nn.Sequential(nn.Conv2d(wide, deep, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(deep), nn.SiLU())


class Stage(nn.Module):
    """YOLO's block: a part passes, a part is worked on."""

    def __init__(self, deep):
        super().__init__()
        self.first, self.work, self.last = conv(deep, deep, 1), nn.Sequential(conv(deep // 2, deep // 2), conv(deep // 2, deep // 2)), conv(deep // 2 * 3, deep, 1)

    def forward(self, x):
        a, b = self.first(x).chunk(2, 1)
        return self.last(torch.cat([a, b, b + self.work(b)], 1))


class Yolo(nn.Module):
    """Anchor-free, boxes from distributions."""

    def __init__(self):
        super().__init__()
        self.stem, self.small = nn.Sequential(conv(3, 8, stride=2), conv(8, 16, stride=2), Stage(16)), nn.Sequential(conv(16, 32, stride=2), Stage(32))
        self.pool, self.neck = conv(32 * 4, 32, 1), Stage(48)
        self.boxes, self.classes = nn.Conv2d(48, 4 * 4, 1), nn.Conv2d(48, 5, 1)

    def forward(self, x):
        large = self.stem(x)
        small = self.small(large)
        pools = [small]
        for _ in range(3):
            pools.append(F.max_pool2d(pools[-1], 5, 1, 2))
        features = self.neck(torch.cat([F.interpolate(self.pool(torch.cat(pools, 1)), scale_factor=2.0), large], 1))
        n, _, h, w = features.shape
        spread = self.boxes(features).view(n, 4, 4, h * w).softmax(2)
        distance = (spread * torch.arange(4.0)[None, None, :, None]).sum(2)
        grid = torch.stack(torch.meshgrid(torch.arange(h) + 0.5, torch.arange(w) + 0.5, indexing="xy"), 0).reshape(1, 2, -1)
        boxes = torch.cat([grid - distance[:, :2], grid + distance[:, 2:]], 1) * 4
        return boxes, self.classes(features).flatten(2).sigmoid()


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches, self.norms = nn.Conv2d(3, 16, 8, 8), nn.ModuleList(nn.LayerNorm(16) for _ in range(4))
        self.places = nn.ModuleList(nn.Sequential(nn.Linear(16, 24), nn.GELU(), nn.Linear(24, 16)) for _ in range(2))
        self.channels = nn.ModuleList(nn.Sequential(nn.Linear(16, 24), nn.GELU(), nn.Linear(24, 16)) for _ in range(2))

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        for i in range(2):
            x = x + self.places[i](self.norms[2 * i](x).transpose(1, 2)).transpose(1, 2)
            x = x + self.channels[i](self.norms[2 * i + 1](x))
        return x.mean(1)


def net(name, kind, cls, *inputs, dynamic=None, half=False, **settings):
    def build():
        torch.manual_seed(0)
        return spread(cls(**settings)).eval(), tuple(make() for make in inputs)

    return Model(name, kind, build, dynamic, half=half, text=repr(settings) + "".join(map(inspect.getsource, (cls, *inputs))))


LENGTH, BATCH = ({1: (2, 24)},), ({0: (1, 4)},)
MODELS = [
    net("lstm", "recurrent", Recurrent, lambda: noise(2, 9, 12), cell=nn.LSTM),
    net("gru", "recurrent", Recurrent, lambda: noise(2, 9, 12), cell=nn.GRU),
    net("rnn-tanh", "recurrent", Recurrent, lambda: noise(2, 9, 12), cell=nn.RNN),
    net("bilstm-tagger", "recurrent", Tagger, lambda: tokens(9, batch=2)),
    net("seq2seq-attention", "recurrent", Attending, lambda: tokens(7), lambda: tokens(5)),
    net("convlstm", "recurrent", ConvolutionalMemory, lambda: noise(1, 4, 3, 8, 8)),
    net("tcn", "recurrent", Causal, lambda: noise(2, 8, 32), dynamic=({2: (2, 64)},)),
    net("unet", "vision", UNet, lambda: noise(2, 3, 16, 16), lambda: torch.tensor([3.0, 40.0]), half=True),
    net("vae", "vision", VariationalAutoencoder, lambda: noise(2, 3, 16, 16), lambda: noise(2, 4, 8, 8)),
    net("rrdbnet", "vision", SuperResolution, lambda: noise(1, 3, 12, 12), dynamic=({2: (4, 24), 3: (4, 24)},)),
    net("yolo", "vision", Yolo, lambda: noise(1, 3, 64, 64)),
    net("mlp-mixer", "vision", Mixer, lambda: noise(2, 3, 32, 32), dynamic=BATCH),
]  # fmt: skip
