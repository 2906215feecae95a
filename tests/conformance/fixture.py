# SPDX-License-Identifier: BSD-3-Clause
"""A folder with a program, inputs and torch's answers (the format of the shared fixtures), and how to judge a run."""
import dataclasses
import json
from pathlib import Path

import numpy as np
import torch


@dataclasses.dataclass(frozen=True)
class InputSet:
    name: str
    inputs: list  # tensors and numbers
    outputs: list[np.ndarray]


class Fixture:
    def __init__(self, folder: Path):
        self.folder = folder
        manifest = json.loads((folder / "manifest.json").read_text())
        self.model = folder / "model.pte"
        data_files = manifest.get("data_files") or []
        self.data = folder / data_files[0] if data_files else None
        self.atol, self.rtol = manifest.get("atol", 1e-3), manifest.get("rtol", 1e-3)
        self.sets = self._read_sets(manifest)
        self.mutated = {
            index: self._tensor(manifest["inputs"][index] | {"file": f"mutated_{index}.bin"}).numpy()
            for index in manifest.get("mutated_inputs") or []
            if (folder / f"mutated_{index}.bin").exists()
        }
        updates_cache = "update_cache.default" in (manifest.get("delegate_ops") or {})
        self.output_unspecified = manifest.get("output_unspecified", updates_cache)

    def _read_sets(self, manifest: dict) -> list[InputSet]:
        parts = [("main", manifest)]
        parts += [(f"size {live['size']}", live) for live in manifest.get("live") or [] if "outputs" in live]
        parts += [(f"step {number}", step) for number, step in enumerate(manifest.get("steps") or [], start=1)]
        if len(parts) > 1 and not manifest.get("steps") and not manifest.get("mutated_inputs"):
            parts.append(("main again", manifest))
        return [
            InputSet(
                name,
                [self._tensor(entry) for entry in part["inputs"]],
                [self._tensor(entry).numpy() for entry in part["outputs"]],
            )
            for name, part in parts
        ]

    def _tensor(self, entry: dict):
        if "scalar" in entry:
            return entry["scalar"]
        values = np.fromfile(self.folder / entry["file"], dtype=entry["dtype"])
        return torch.from_numpy(values.reshape(entry["shape"]))

    def compare(self, actual: np.ndarray, expected: np.ndarray) -> tuple[str, float]:
        """What is wrong, if anything, and the largest absolute error."""
        if actual.shape != expected.shape:
            return f"shape {actual.shape} instead of {expected.shape}", 0.0
        exact = not np.issubdtype(expected.dtype, np.floating)
        a, e = actual.astype("f8"), expected.astype("f8")
        finite = np.isfinite(e)
        if not np.array_equal(a[~finite], e[~finite], equal_nan=True) or not np.isfinite(a[finite]).all():
            return "infinities or NaNs differ", float("inf")
        delta = np.abs(a - e)[finite]
        worst = float(delta.max(initial=0.0))
        if exact:  # rounding to 8 bits may go either way at a tie
            wrong = delta > (1 if expected.dtype.itemsize == 1 and expected.dtype != bool else 0)
        else:
            wrong = (delta > self.atol) & (delta > self.rtol * np.maximum(np.abs(e[finite]), 1e-6))
        return (f"{int(wrong.sum())} of {e.size} differ, by up to {worst:.3g}" if wrong.any() else ""), worst
