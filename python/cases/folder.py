# SPDX-License-Identifier: BSD-3-Clause
"""A case as a folder: model.pte, manifest.json, and data.bin with all tensors. The manifest is that of the shared
fixtures, except that a tensor names its place in data.bin instead of a file of its own, and plus `nmse`, `int8_slack`,
`output_unspecified`, `data_files`, `mutated` and `steps` (calls on one instance, after the main one)."""
import json
from importlib.metadata import version
from pathlib import Path

import torch

from cases.case import Case
from cases.golden import Call
from cases.lowering import Lowered

DTYPES = {torch.bool: "bool", torch.uint8: "uint8", torch.int8: "int8", torch.int32: "int32", torch.int64: "int64",
          torch.float16: "float16", torch.float32: "float32", torch.float64: "float64"}


class Data:
    """The tensors of a case by name, one behind the other; equal ones are stored once."""

    def __init__(self):
        self.tensors: dict[str, torch.Tensor] = {}
        self.places: dict[str, tuple[int, int]] = {}  # offset and size
        self.bytes = b""

    def add(self, name: str, value) -> dict:
        if not isinstance(value, torch.Tensor):
            return {"scalar": value, "dtype": type(value).__name__}
        data = raw(value)
        same = (place for known, place in self.places.items() if raw(self.tensors[known]) == data)
        offset, size = next(same, (len(self.bytes), len(data)))
        self.bytes += data[len(self.bytes) - offset :]  # nothing if they are there already
        self.tensors[name], self.places[name] = value, (offset, size)
        return {"offset": offset, "size": size, "dtype": DTYPES[value.dtype], "shape": list(value.shape)}

    def call(self, prefix: str, call: Call) -> dict:
        return {
            "inputs": [self.add(f"{prefix}input_{i}", x) for i, x in enumerate(call.inputs)],
            "outputs": [self.add(f"{prefix}output_{i}", y) for i, y in enumerate(call.outputs)],
        }


def raw(tensor: torch.Tensor) -> bytes:
    return tensor.contiguous().numpy().tobytes()


def wheel() -> str:
    return f"executorch {version('executorch')} torch {version('torch').split('+')[0]}"


def describe(case: Case, lowered: Lowered) -> dict:
    """What the manifest says about the program."""
    return {
        "suite": case.suite,
        "case": case.name.split("/")[1],
        "wheel": wheel(),
        "delegate_ops": dict(sorted(lowered.delegate_ops.items())),
        "portable_ops": dict(sorted(lowered.portable_ops.items())),
        "single_delegate": lowered.delegates == 1,
        "compile_options": dict(case.compile),
        "data_files": list(lowered.data_files),
        "dynamic": {name: [d.min, d.max] for name, d in case.dims().items()} or None,
        "output_unspecified": case.output_unspecified,
        "atol": case.atol,
        "rtol": case.rtol,
        "nmse": case.nmse,
        "int8_slack": case.int8_slack,
    }


def describe_calls(case: Case, calls: list[Call]) -> tuple[dict, Data]:
    """What the manifest says about torch's answers, and the tensors that it names."""
    data = Data()
    part = data.call("", calls[0])
    key, prefix = ("steps", "step") if case.steps else ("live", "live")
    part[key] = [
        {"size": next(iter(call.sizes.values())) if len(call.sizes) == 1 else call.sizes}
        | data.call(f"{prefix}{number}_", call)
        for number, call in enumerate(calls[1:], start=1)
    ]
    # The module changes them; whether the program gives them back is the exporter's choice.
    part["mutated"] = [
        {"input": index} | data.add(f"mutated_{index}", after)
        for index, (before, after) in enumerate(zip(calls[0].inputs, calls[0].inputs_after, strict=True))
        if isinstance(before, torch.Tensor) and raw(before) != raw(after)
    ]
    return part, data


def contents(case: Case, lowered: Lowered, calls: list[Call], precision: str) -> dict[str, bytes]:
    """Every file of the folder."""
    part, data = describe_calls(case, calls)
    changed = [entry["input"] for entry in part["mutated"]]
    if changed != lowered.mutated_inputs:
        raise ValueError(f"{case.name}: inputs {changed} change, the program updates {lowered.mutated_inputs}")
    manifest = describe(case, lowered) | {"golden": precision} | part
    return {
        "model.pte": lowered.program,
        "manifest.json": to_json(manifest).encode(),
        "data.bin": data.bytes,
        **lowered.data_files,
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
