# SPDX-License-Identifier: BSD-3-Clause
"""Writes tests/data/smollm2: logits of SmolLM2-135M-Instruct, dequantised, in torch.

usage: make_model_golden.py MODEL.gguf OUTPUT_FOLDER      (needs the groups export and llm of pins.txt)

A call's golden is every 61st logit of its last position, and the tokens with the ten highest logits.
"""
import json
import pathlib
import sys

import numpy as np

from gguf_model import Model

STRIDE = 61
# "The capital of France is" in one call, then " Paris. It" token by token, then a chunk: " is a city of light"
CALLS = [[504, 3575, 282, 4649, 314], [7042], [30], [657], [314, 253, 2240, 282, 1420]]

if __name__ == "__main__":
    model, output = Model(sys.argv[1]), pathlib.Path(sys.argv[2])
    output.mkdir(parents=True, exist_ok=True)
    logits = model.logits(sum(CALLS, []))[np.cumsum([len(call) for call in CALLS]) - 1]
    logits[:, ::STRIDE].contiguous().numpy().astype("<f4").tofile(output / "logits.bin")
    manifest = {"calls": CALLS, "stride": STRIDE, "top": logits.topk(10).indices.tolist()}
    (output / "logits.json").write_text(json.dumps(manifest, indent=1) + "\n")
