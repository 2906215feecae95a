# SPDX-License-Identifier: BSD-3-Clause
"""YOLOv8n at its own sizes, with random weights: what it costs does not depend on them."""
import torch
from torch import nn
from torch.nn import functional as F

BINS, CLASSES = 16, 80


def conv(wide, deep, kernel=3, stride=1):
    return nn.Sequential(nn.Conv2d(wide, deep, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(deep), nn.SiLU())


class Bottleneck(nn.Module):
    def __init__(self, deep, adds):
        super().__init__()
        self.work, self.adds = nn.Sequential(conv(deep, deep), conv(deep, deep)), adds

    def forward(self, x):
        return x + self.work(x) if self.adds else self.work(x)


class Stage(nn.Module):
    """C2f: every bottleneck's result stays."""

    def __init__(self, wide, deep, count=1, adds=False):
        super().__init__()
        half = deep // 2
        self.first, self.last = conv(wide, deep, 1), conv((2 + count) * half, deep, 1)
        self.work = nn.ModuleList(Bottleneck(half, adds) for _ in range(count))

    def forward(self, x):
        parts = list(self.first(x).chunk(2, 1))
        for block in self.work:
            parts.append(block(parts[-1]))
        return self.last(torch.cat(parts, 1))


class Pyramid(nn.Module):
    """SPPF: the surroundings of a place, in three sizes."""

    def __init__(self, deep):
        super().__init__()
        self.first, self.last = conv(deep, deep // 2, 1), conv(2 * deep, deep, 1)

    def forward(self, x):
        pools = [self.first(x)]
        for _ in range(3):
            pools.append(F.max_pool2d(pools[-1], 5, 1, 2))
        return self.last(torch.cat(pools, 1))


def head(wide, deep, out):
    return nn.Sequential(conv(wide, deep), conv(deep, deep), nn.Conv2d(deep, out, 1))


class Yolo(nn.Module):
    def __init__(self):
        super().__init__()
        self.eighth = nn.Sequential(conv(3, 16, 3, 2), conv(16, 32, 3, 2), Stage(32, 32, 1, True), conv(32, 64, 3, 2), Stage(64, 64, 2, True))
        self.sixteenth = nn.Sequential(conv(64, 128, 3, 2), Stage(128, 128, 2, True))
        self.last = nn.Sequential(conv(128, 256, 3, 2), Stage(256, 256, 1, True), Pyramid(256))
        self.up1, self.up2 = Stage(384, 128), Stage(192, 64)
        self.step1, self.down1 = conv(64, 64, 3, 2), Stage(192, 128)
        self.step2, self.down2 = conv(128, 128, 3, 2), Stage(384, 256)
        self.boxes = nn.ModuleList(head(wide, 64, 4 * BINS) for wide in (64, 128, 256))
        self.classes = nn.ModuleList(head(wide, CLASSES, CLASSES) for wide in (64, 128, 256))

    def features(self, x):
        a = self.eighth(x)
        b = self.sixteenth(a)
        c = self.last(b)
        d = self.up1(torch.cat([F.interpolate(c, scale_factor=2.0), b], 1))
        large = self.up2(torch.cat([F.interpolate(d, scale_factor=2.0), a], 1))
        middle = self.down1(torch.cat([self.step1(large), d], 1))
        return large, middle, self.down2(torch.cat([self.step2(middle), c], 1))

    def forward(self, x):
        boxes, classes = [], []
        for level, (maps, box, kind) in enumerate(zip(self.features(x), self.boxes, self.classes)):
            n, _, h, w = maps.shape
            distance = (box(maps).view(n, 4, BINS, h * w).softmax(2) * torch.arange(float(BINS))[:, None]).sum(2)
            grid = torch.stack(torch.meshgrid(torch.arange(w) + 0.5, torch.arange(h) + 0.5, indexing="xy")).reshape(1, 2, -1)
            boxes.append(torch.cat([grid - distance[:, :2], grid + distance[:, 2:]], 1) * (8 << level))
            classes.append(kind(maps).flatten(2).sigmoid())
        return torch.cat(boxes, 2), torch.cat(classes, 2)
