# SPDX-License-Identifier: BSD-3-Clause
"""A small head that torch trains for 50 steps: its data, its losses, its last weights.

usage, in python/: python -m cases.finetune        writes tests/data/training/head
"""
from pathlib import Path

import torch
from torch.nn import functional as F

from cases import folder

DATA = Path(__file__).resolve().parents[2] / "tests" / "data" / "training" / "head"
STEPS, ROWS, WIDTH, CLASSES = 50, 32, 12, 5
RATE, BETAS, EPS, DECAY = 0.05, (0.9, 0.99), 1e-8, 0.01


def train() -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """Features, labels and first weights; losses and last weights. Some labels don't count."""
    generator = torch.Generator().manual_seed(1)
    features = torch.randn(ROWS, WIDTH, generator=generator)
    labels = (features @ torch.randn(WIDTH, CLASSES, generator=generator)).argmax(1)
    labels[::7] = -1
    start = 0.1 * torch.randn(CLASSES, WIDTH, generator=generator)
    weight = torch.nn.Parameter(start.double())
    optimizer = torch.optim.AdamW([weight], RATE, BETAS, EPS, DECAY)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = F.cross_entropy(features.double() @ weight.t(), labels, ignore_index=-1)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return [features, labels.int(), start], [torch.tensor(losses), weight.detach().float()]


def contents() -> tuple[dict, folder.Data]:
    inputs, outputs = train()
    data = folder.Data()
    manifest = {
        "rate": RATE, "beta1": BETAS[0], "beta2": BETAS[1], "eps": EPS, "decay": DECAY,
        "inputs": [data.add(f"input_{i}", x) for i, x in enumerate(inputs)],
        "outputs": [data.add(f"output_{i}", x) for i, x in enumerate(outputs)],
    }  # fmt: skip
    return manifest, data


if __name__ == "__main__":
    manifest, data = contents()
    folder.write(DATA, {"manifest.json": folder.to_json(manifest).encode(), "data.bin": data.bytes})
