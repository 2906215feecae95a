# SPDX-License-Identifier: BSD-3-Clause
"""Is what the repository holds what the table says?"""
import json
from pathlib import Path

import torch

from cases import folder, golden, lowering
from cases.case import Case
from cases.progress import Progress

# Two machines may round the last bit of a sum or a sine differently.
ROUNDING = 1e-6


def same(fresh: torch.Tensor, kept: bytes) -> bool:
    if folder.raw(fresh) == kept:
        return True
    if not fresh.is_floating_point() or len(kept) != fresh.nbytes:
        return False
    old = torch.frombuffer(bytearray(kept), dtype=fresh.dtype).reshape(fresh.shape).double()
    scale = old[old.isfinite()].abs().max().item() if old.isfinite().any() else 0
    return torch.allclose(fresh.double(), old, rtol=ROUNDING, atol=ROUNDING * scale, equal_nan=True)


def changed_tensors(data: folder.Data, kept: bytes) -> list[str]:
    """Names of tensors that are not what data.bin holds."""
    ends = {name: (offset, offset + size) for name, (offset, size) in data.places.items()}
    changed = [f"data.bin ({name})" for name, (a, b) in ends.items() if not same(data.tensors[name], kept[a:b])]
    return changed + (["data.bin (size)"] if len(kept) != len(data.bytes) else [])


def differences(case: Case, kept: dict[str, bytes], with_program: bool) -> list[str]:
    """Names of files that differ. Without the program only torch's side is compared, which costs milliseconds."""
    calls, precision = golden.answer(case)
    part, data = folder.describe_calls(case, calls)
    changed = changed_tensors(data, kept.get("data.bin", b""))
    if not with_program:
        manifest = json.loads(kept["manifest.json"])
        return changed + ["manifest.json"] * any(manifest.get(key) != value for key, value in part.items())
    lowered = lowering.lower(case)
    lowering.check(case, lowered)
    fresh = folder.contents(case, lowered, calls, precision)
    names = sorted((fresh.keys() | kept.keys()) - {"data.bin"})
    return changed + [name for name in names if fresh.get(name) != kept.get(name)]


def check(families: dict[str, list[Case]], root: Path, only: str, full: bool) -> int:
    """Compares all goldens, and the program of the first case of each suite (of all with `full`)."""
    cases = [case for family in families.values() for case in family]
    known = {case.name for case in cases}
    kept = {str(path.parent.relative_to(root)) for path in root.glob("*/*/manifest.json")}
    problems = [f"{name} is not in the table" for name in sorted(kept - known) if only in name]
    chosen = [case for case in cases if only in case.name]
    progress, seen = Progress(len(chosen)), set()
    for case in chosen:
        with progress.step(case.name):
            if case.name not in kept:
                problems.append(f"{case.name} is not in the repository")
                continue
            with_program = full or case.suite not in seen
            seen.add(case.suite)
            for name in differences(case, folder.read(root / case.name), with_program):
                problems.append(f"{case.name}/{name} differs")
    for problem in problems:
        print(problem)
    print(f"{len(chosen)} cases, {len(problems)} problems")
    return 1 if problems else 0
