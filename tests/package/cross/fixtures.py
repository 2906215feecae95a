# SPDX-License-Identifier: BSD-3-Clause
"""Cases with torch's answers, as files of numpy that the command takes and gives."""
import json
import pathlib

import numpy as np


def cases(folder: pathlib.Path, count: int) -> list[pathlib.Path]:
    """So many that the command can run by itself, from all parts of the list and the same each time."""
    found = [path.parent for path in sorted(folder.glob("*/*/manifest.json")) if plain(json.loads(path.read_text()))]
    return found[:: len(found) // count][:count]


def plain(manifest: dict) -> bool:
    """One delegate that keeps no state and whose answers are all given."""
    special = ("portable_ops", "data_files", "dynamic", "output_unspecified", "mutated", "steps")
    known = all(entry["dtype"] in np.sctypeDict for entry in manifest["inputs"] + manifest["outputs"])
    return manifest["single_delegate"] and known and not any(manifest.get(key) for key in special)


def tensors(case: pathlib.Path, entries: list[dict]) -> list[np.ndarray]:
    data = (case / "data.bin").read_bytes()
    parts = (data[entry["offset"] : entry["offset"] + entry["size"]] for entry in entries)
    return [np.frombuffer(part, entry["dtype"]).reshape(entry["shape"]) for part, entry in zip(parts, entries)]


def difference(actual: np.ndarray, expected: np.ndarray, manifest: dict) -> str:
    """What is wrong, by the case's own tolerances; empty: nothing."""
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return f"{actual.dtype} {actual.shape} instead of {expected.dtype} {expected.shape}"
    a, e = actual.astype(np.float64), expected.astype(np.float64)
    same = (a == e) | (np.isnan(a) & np.isnan(e))
    with np.errstate(invalid="ignore"):
        delta = np.where(same, 0, np.abs(a - e))
    if expected.dtype.kind != "f":
        allowed = np.full(e.shape, manifest["int8_slack"] if expected.dtype.itemsize == 1 else 0)
    else:
        allowed = np.maximum(manifest["atol"], manifest["rtol"] * np.maximum(np.abs(e), 1e-6))
    wrong = ~(same | (delta <= allowed))
    return f"{wrong.sum()} of {e.size} values are wrong, by up to {delta.max()}" if wrong.any() else ""
