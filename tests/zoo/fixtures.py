# SPDX-License-Identifier: BSD-3-Clause
"""Some of the zoo as programs with torch's answers, for tests that export nothing: tests/data/zoo.

usage: python -m zoo.fixtures [NAME…]
"""
import sys
import warnings

import torch
from zoo.exporting import ROOT, prepare

prepare()
from cases.case import case, dim, f32, i64  # noqa: E402
from cases.export import export_case  # noqa: E402
from zoo.__main__ import models  # noqa: E402

DATA = ROOT / "tests" / "data" / "zoo"
n, s = dim("n", 1, 4), dim("s", 2, 24)
WORDS = {"low": 3, "high": 99}
LIMITS = {"atol": 1e-3, "rtol": 1e-3, "nmse": 1e-7}


class One(torch.nn.Module):
    """With an input that has a name, which the table of cases wants."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x)


class Two(One):
    def forward(self, x, y):
        return self.inner(x, y)


def whole(name: str, *inputs, expect_ops, live=(), **rest):
    """Must be one delegate."""
    model = next(model for model in models() if model.name == name)
    named = One if len(inputs) == 1 else Two
    return case(f"{model.kind}/{name}", lambda: named(model.build()[0]), *inputs, expect_ops=expect_ops, live=live, own=True, **LIMITS | rest)


def cases():
    conv, linear, attention = "aten.convolution.default", "aten.linear.default", "aten.scaled_dot_product_attention.default"
    return [
        whole("resnet", f32(n, 3, 32, 32), live=[1, 3], expect_ops=linear),
        whole("convnext", f32(n, 3, 32, 32), live=[1, 3], expect_ops=[conv, linear]),
        whole("mlp-mixer", f32(n, 3, 32, 32), live=[1, 3], expect_ops=linear),
        whole("yolo", f32(1, 3, 64, 64), expect_ops=conv),
        whole("vae", f32(2, 3, 16, 16), f32(2, 4, 8, 8), expect_ops=conv),
        whole("rrdbnet", f32(1, 3, 12, 12), expect_ops=conv),
        whole("hifigan", f32(2, 12, 16), expect_ops=conv),
        whole("lstm", f32(2, 9, 12), expect_ops=linear),
        whole("gru", f32(2, 9, 12), expect_ops=linear),
        whole("bilstm-tagger", i64(2, 9, **WORDS), expect_ops=linear),
        whole("seq2seq-attention", i64(1, 7, **WORDS), i64(1, 5, **WORDS), expect_ops=linear),
        whole("tcn", f32(2, 8, dim("s", 2, 40)), live=[9, 2], expect_ops=conv),
        whole("bert", i64(1, s, **WORDS), live=[9, 2], expect_ops=[linear, attention]),
        whole("llama", i64(1, s, **WORDS), live=[9, 2], expect_ops=[linear, attention]),
        whole("vit", f32(n, 3, 32, 32), live=[1, 3], expect_ops=[linear, attention]),
        whole("whisper", f32(1, 16, 60), i64(1, 5, **WORDS), expect_ops=[conv, linear, attention]),
    ]


def main() -> int:
    warnings.filterwarnings("ignore")
    names = sys.argv[1:]
    for each in cases():
        if not names or each.name.split("/")[1] in names:
            print(f"{each.name}: {export_case(each, DATA) / 1024:.0f} KiB", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
