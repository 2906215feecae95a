# SPDX-License-Identifier: BSD-3-Clause
"""A dozen of the zoo as programs with torch's answers, for tests that export nothing: tests/data/zoo.

usage: python -m zoo.fixtures [NAME…]
"""
import sys
import warnings

from zoo.exporting import ROOT, prepare

prepare()
from cases.case import case, dim, f32, i64  # noqa: E402
from cases.export import export_case  # noqa: E402
from zoo.__main__ import models  # noqa: E402

DATA = ROOT / "tests" / "data" / "zoo"
s, n = dim("s", 2, 24), dim("n", 1, 4)
WORDS = {"low": 3, "high": 99}
LIMITS = {"atol": 1e-3, "rtol": 1e-3, "nmse": 1e-7}


def whole(name: str, *inputs, expect_ops, live=(), **rest):
    """Must be one delegate."""
    model = next(model for model in models() if model.name == name)
    return case(f"{model.kind}/{name}", lambda: model.build()[0], *inputs, expect_ops=expect_ops, live=live, own=True, **LIMITS | rest)


def cases():
    conv, linear, softmax = "aten.convolution.default", "aten.linear.default", "aten._softmax.default"
    return [
        whole("gpt2", i64(1, s, **WORDS), live=[5, 2], expect_ops=softmax),
        whole("llama", i64(1, s, **WORDS), live=[7, 3], expect_ops=softmax),
        whole("phi3", i64(1, s, **WORDS), live=[4], expect_ops=softmax),
        whole("bert", i64(1, s, **WORDS), live=[9, 2], expect_ops=softmax),
        whole("t5", i64(1, 9, **WORDS), i64(1, 6, **WORDS), expect_ops=softmax),
        whole("vit", f32(n, 3, 32, 32), live=[1, 3], expect_ops=softmax),
        whole("resnet", f32(n, 3, 32, 32), live=[1, 3], expect_ops=linear),
        whole("yolo", f32(1, 3, 64, 64), expect_ops=conv),
        whole("unet", f32(2, 3, 16, 16), f32(2, low=0, high=50), expect_ops=conv),
        whole("whisper", f32(1, 16, 60), i64(1, 5, **WORDS), expect_ops=softmax),
        whole("hifigan", f32(2, 12, 16), expect_ops=conv),
        whole("lstm", f32(2, 9, 12), expect_ops=linear),
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
