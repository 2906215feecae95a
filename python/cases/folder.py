# SPDX-License-Identifier: BSD-3-Clause
"""A case as a folder: model.pte, raw tensors, manifest.json. The format is that of the shared fixtures, plus
`nmse`, `int8_slack`, `steps` (calls on one instance, the first of them the main one) and `data_files`."""
import json
from importlib.metadata import version
from pathlib import Path

import torch

from cases.case import Case
from cases.golden import Call
from cases.lowering import Lowered

DTYPES = {torch.bool: "bool", torch.uint8: "uint8", torch.int8: "int8", torch.int32: "int32", torch.int64: "int64",
          torch.float16: "float16", torch.float32: "float32", torch.float64: "float64"}  # fmt: skip


class Files:
    """Tensors of a case by file name; equal ones share a file."""

    def __init__(self):
        self.tensors: dict[str, torch.Tensor] = {}

    def add(self, name: str, value) -> dict:
        if not isinstance(value, torch.Tensor):
            return {"scalar": value, "dtype": type(value).__name__}
        same = (known for known, other in self.tensors.items() if raw(other) == raw(value))
        name = next(same, name)
        self.tensors.setdefault(name, value)
        return {"file": name, "dtype": DTYPES[value.dtype], "shape": list(value.shape)}

    def call(self, prefix: str, call: Call) -> dict:
        return {
            "inputs": [self.add(f"{prefix}input_{i}.bin", x) for i, x in enumerate(call.inputs)],
            "outputs": [self.add(f"{prefix}output_{i}.bin", y) for i, y in enumerate(call.outputs)],
        }


def raw(tensor: torch.Tensor) -> bytes:
    return tensor.contiguous().numpy().tobytes()


def describe(case: Case, lowered: Lowered) -> dict:
    """What the manifest says about the program."""
    return {
        "suite": case.suite,
        "case": case.name.split("/")[1],
        "wheel": f"executorch {version('executorch')} torch {version('torch').split('+')[0]}",
        "delegate_ops": dict(sorted(lowered.delegate_ops.items())),
        "portable_ops": dict(sorted(lowered.portable_ops.items())),
        "single_delegate": lowered.delegates == 1,
        "compile_options": dict(case.compile),
        "data_files": list(lowered.data_files),
        "dynamic": {name: [d.min, d.max] for name, d in case.dims().items()} or None,
        "mutated_inputs": lowered.mutated_inputs,
        "atol": case.atol,
        "rtol": case.rtol,
        "nmse": case.nmse,
        "int8_slack": case.int8_slack,
    }


def describe_calls(case: Case, calls: list[Call]) -> tuple[dict, dict[str, torch.Tensor]]:
    """What the manifest says about torch's answers, and the tensors that it names."""
    files = Files()
    part = files.call("", calls[0])
    key, prefix = ("steps", "step") if case.steps else ("live", "live")
    part[key] = [
        {"size": next(iter(call.sizes.values())) if len(call.sizes) == 1 else call.sizes}
        | files.call(f"{prefix}{number}_", call)
        for number, call in enumerate(calls[1:], start=1)
    ]
    return part, files.tensors


def contents(case: Case, lowered: Lowered, calls: list[Call], precision: str) -> dict[str, bytes]:
    """Every file of the folder."""
    part, tensors = describe_calls(case, calls)
    for index in lowered.mutated_inputs:
        tensors[f"mutated_{index}.bin"] = calls[0].inputs_after[index]
    manifest = describe(case, lowered) | {"golden": precision} | part
    return {
        "model.pte": lowered.program,
        "manifest.json": to_json(manifest).encode(),
        **lowered.data_files,
        **{name: raw(tensor) for name, tensor in tensors.items()},
    }


def to_json(manifest: dict) -> str:
    """A line for each key, and for each tensor of a list."""
    lines = []
    for key, value in manifest.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            text = "[\n" + ",\n".join("  " + json.dumps(item) for item in value) + "\n ]"
        else:
            text = json.dumps(value)
        lines.append(f" {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def write(folder: Path, files: dict[str, bytes]):
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        if old.name not in files:
            old.unlink()
    for name, data in files.items():
        (folder / name).write_bytes(data)


def read(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()} if folder.is_dir() else {}
