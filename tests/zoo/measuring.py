# SPDX-License-Identifier: BSD-3-Clause
"""Programs against torch, and how long they take."""
import functools
import hashlib
import importlib.util
import random
import statistics
import time
from pathlib import Path

import torch
from zoo import exporting
from zoo.exporting import Exported
from zoo.model import Model

TOLERANCE = {"static": 1e-3, "dynamic": 1e-3, "half": 2e-2}
ROUNDS, PATIENCE = 25, 3.0  # interleaved; seconds after which no further round begins


@functools.cache
def engine() -> str:
    """Which build of it."""
    package = Path(importlib.util.find_spec("pteron").submodule_search_locations[0])
    return hashlib.sha256((package / "libpteron_executorch.so").read_bytes()).hexdigest()[:16]


def at_size(model: Model, inputs: tuple, end: int) -> tuple:
    """Inputs with the lowest (0) or highest (1) sizes."""
    out = []
    for x, axes in zip(inputs, model.dynamic + ({},) * len(inputs)):
        shape = [axes[axis][end] if axis in axes else size for axis, size in enumerate(x.shape)]
        repeats = [-(-new // old) for new, old in zip(shape, x.shape)]
        out.append(x.repeat(repeats)[tuple(slice(size) for size in shape)].contiguous())
    return tuple(out)


def flat(outputs) -> list[torch.Tensor]:
    return [outputs] if isinstance(outputs, torch.Tensor) else [x for x in outputs if isinstance(x, torch.Tensor)]


def difference(got: list[torch.Tensor], want: list[torch.Tensor]) -> float:
    """The largest, relative to the largest number that is wanted."""
    worst = 0.0
    for a, b in zip(got, want, strict=True):
        if a.shape != b.shape:
            return float("inf")
        a, b = a.double(), b.double()
        same = (a == b) | (a.isnan() & b.isnan())
        gap = torch.where(same, 0.0, (a - b).abs()).nan_to_num(nan=float("inf"))
        scale = b[b.isfinite()].abs().max().item() if b.isfinite().any() else 1.0
        worst = max(worst, gap.max().item() / max(scale, 1e-6)) if gap.numel() else worst
    return worst


def load(exported: Exported):
    from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

    import pteron  # noqa: F401  the backend

    return _load_for_executorch_from_buffer(exported.program)


def agreement(model: Model, variant: str, exported: Exported) -> float | str:
    """The difference from torch over all calls, or what went wrong."""
    module, inputs = exporting.made(model, variant)
    calls = [inputs]
    if variant == "dynamic":
        calls += [at_size(model, inputs, 0), at_size(model, inputs, 1), inputs]
    try:
        program = load(exported)
        with torch.no_grad():
            return max(difference(flat(program.forward(call)), flat(module(*call))) for call in calls)
    except Exception as error:
        return (str(error).strip().splitlines() or [type(error).__name__])[0]


def runnable(exported: Exported, inputs: tuple):
    """Its forward, or nothing: stock writes files that no runtime can run, with an output less than they are asked for."""
    try:
        forward = load(exported).forward
        forward(inputs)
    except Exception:
        return None
    return forward


def medians(runs: dict) -> dict[str, float]:
    """Milliseconds of what takes turns, in an order that changes."""
    taken = {way: [] for way in runs}
    begin = time.perf_counter()
    for round_ in range(ROUNDS):
        for way, run in random.Random(round_).sample(list(runs.items()), len(runs)):
            start = time.perf_counter()
            run()
            if round_ > 0:  # torch compiles in the first one
                taken[way].append((time.perf_counter() - start) * 1e3)
        if round_ > 1 and time.perf_counter() - begin > PATIENCE:
            break
    return {way: statistics.median(each) for way, each in taken.items()}


def times(model: Model, variant: str, programs: dict[str, Exported]) -> dict[str, float]:
    """Of programs and of eager torch. The latter comes last: its threads spin for a while and would slow down who comes next."""
    module, inputs = exporting.made(model, variant)
    runs = {way: run for way, exported in programs.items() if (run := runnable(exported, inputs))}
    with torch.no_grad():
        return medians({way: lambda forward=forward: forward(inputs) for way, forward in runs.items()}) | medians({"eager": lambda: module(*inputs)})
