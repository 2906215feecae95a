# SPDX-License-Identifier: BSD-3-Clause
"""Writes tests/data/encoder_tiny: a small random encoder with a length of its own choice and one that is filled up, and torch's vectors.

usage: make_tiny_encoder.py OUTPUT_FOLDER      (needs the group export of pins.txt and the package `pteron`)
"""
import json
import pathlib
import sys

import torch
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
from pteron.partition import PteronPartitioner

VOCABULARY, WIDTH, LONGEST = 512, 16, 32
TEXTS = [[5], [1, 2], [37, 235, 396, 72, 255, 393, 203], list(range(100, 100 + LONGEST))]


class Encoder(torch.nn.Module):
    """The mean of what tokens and positions become, without those that the mask hides; of any length."""

    def __init__(self):
        super().__init__()
        self.tokens, self.positions = torch.nn.Embedding(VOCABULARY, WIDTH), torch.nn.Embedding(LONGEST, WIDTH)
        self.linear = torch.nn.Linear(WIDTH, WIDTH)

    def forward(self, tokens, mask):
        x = self.linear(torch.tanh(self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1]))))
        weights = mask[:, :, None].float()
        return (x * weights).sum(1) / weights.sum(1)


def export(model: Encoder, dynamic: bool) -> bytes:
    example = torch.zeros(1, LONGEST, dtype=torch.long), torch.ones(1, LONGEST, dtype=torch.long)
    length = torch.export.Dim("length", min=2, max=LONGEST)
    exported = torch.export.export(model, example, dynamic_shapes=({1: length}, {1: length}) if dynamic else None)
    partitioner = PteronPartitioner()
    edge = to_edge_transform_and_lower(exported, partitioner=[partitioner], compile_config=EdgeCompileConfig(_check_ir_validity=False))
    if partitioner.report():
        raise SystemExit(partitioner.report())
    return edge.to_executorch().buffer


def main() -> None:
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(1)
    model = Encoder().eval()
    for name in ("dynamic", "static"):
        (out / f"{name}.pte").write_bytes(export(model, name == "dynamic"))
    vectors = []
    with torch.no_grad():
        for tokens in TEXTS:
            (vector,) = torch.nn.functional.normalize(model(torch.tensor([tokens]), torch.ones(1, len(tokens))))
            vectors.append({"tokens": tokens, "vector": vector.tolist()})
    (out / "golden.json").write_text(json.dumps(vectors) + "\n")


main()
