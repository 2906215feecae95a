# SPDX-License-Identifier: BSD-3-Clause
"""A sample exported with PteronPartitioner and run in ExecuTorch, against eager torch."""
import copy
import enum

import torch
from torch.utils import _pytree as pytree

from unseen.samples import Sample

LIMITS = {torch.float16: {"rtol": 1e-2, "atol": 1e-2}, torch.float32: {"rtol": 1e-4, "atol": 1e-5}}


class Outcome(enum.Enum):
    RIGHT = "right"
    CUT = "right, in parts"
    SKIPPED = "not exported by torch, or without kernels of ExecuTorch's"
    WRONG = "wrong"


def dynamic_shapes(sample: Sample):
    if not sample.dynamic:
        return None
    dims = {}
    shapes = tuple(
        {axis: dims.setdefault(span, torch.export.Dim(f"n{len(dims)}", min=span[0], max=span[1])) for axis, span in axes.items()}
        for axes in sample.dynamic
    )
    return (shapes + ({},) * (len(sample.inputs) - len(shapes)),)


def lower(exported, partitioners: list):
    from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower

    config = EdgeCompileConfig(_check_ir_validity=False)
    with torch.no_grad():
        return to_edge_transform_and_lower(exported, partitioner=partitioners, compile_config=config).to_executorch()


def resized(sample: Sample, end: int) -> tuple:
    """Inputs with the lowest (0) or highest (1) sizes."""
    out = []
    for x, axes in zip(sample.inputs, sample.dynamic + ({},) * len(sample.inputs)):
        for axis, span in axes.items():
            x = torch.cat([x] * -(-span[end] // x.shape[axis]), axis).narrow(axis, 0, span[end])
        if axes and x.is_floating_point():  # no two elements are equal, as far as an order goes
            x = x + torch.arange(x.numel()).view(x.shape) * 1e-3
        out.append(x.to(sample.inputs[len(out)].dtype).contiguous())
    return tuple(out)


def flat(outputs) -> list[torch.Tensor]:
    return [x for x in pytree.tree_leaves(outputs) if isinstance(x, torch.Tensor)]


def difference(got: list[torch.Tensor], want: list[torch.Tensor]) -> str | None:
    if len(got) != len(want):
        return f"{len(got)} outputs instead of {len(want)}"
    for i, (a, b) in enumerate(zip(got, want)):
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"output {i} is {a.dtype} {list(a.shape)} instead of {b.dtype} {list(b.shape)}"
        try:
            torch.testing.assert_close(a, b, equal_nan=True, **LIMITS.get(b.dtype, {"rtol": 0, "atol": 0}))
        except AssertionError as error:
            return f"output {i}: {' '.join(str(error).split())[:200]}"
    return None


def run(sample: Sample, program: bytes) -> str | None:
    from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

    import pteron  # noqa: F401  the backend

    calls = [sample.inputs] * sample.steps
    if sample.dynamic:
        calls += [resized(sample, 1), resized(sample, 0), sample.inputs]
    loaded, module = _load_for_executorch_from_buffer(program), sample.make()
    for call in calls:
        with torch.no_grad():
            want = flat(module(*copy.deepcopy(call)))
        if why := difference(flat(loaded.forward(call)), want):
            return f"with {[list(x.shape) for x in call]}, {why}"
    return None


def said(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


def check(sample: Sample) -> tuple[Outcome, str]:
    from pteron.partition import PteronPartitioner

    try:
        with torch.no_grad():
            exported = torch.export.export(sample.make(), sample.inputs, dynamic_shapes=dynamic_shapes(sample))
    except Exception as error:  # torch's own
        return Outcome.SKIPPED, said(error)
    partitioner = PteronPartitioner()
    try:
        program = lower(exported, [partitioner])
    except Exception as error:
        try:
            lower(exported, [])
        except Exception:
            return Outcome.SKIPPED, said(error)
        return Outcome.WRONG, f"the export fails: {said(error)}"
    plan = program.executorch_program.execution_plan[0]
    parts = f"{len(plan.delegates)} delegates, outside: {partitioner.report()}" if plan.operators or len(plan.delegates) != 1 else ""
    try:
        why = run(sample, program.buffer)
    except Exception as error:
        without_kernel = bool(plan.operators) and "0x14" in str(error)
        return (Outcome.SKIPPED if without_kernel else Outcome.WRONG), f"{said(error)} {parts}"
    if why or (parts and sample.whole):
        return Outcome.WRONG, f"{why or 'not in one piece'} {parts}"
    return (Outcome.CUT, parts) if parts else (Outcome.RIGHT, "")
