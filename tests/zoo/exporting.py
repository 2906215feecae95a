# SPDX-License-Identifier: BSD-3-Clause
"""Programs of models, kept on disk for as long as what they are made from stays the same."""
import collections
import dataclasses
import functools
import hashlib
import importlib.metadata
import importlib.util
import inspect
import json
import signal
import sys
from pathlib import Path

import torch
from zoo.model import Model

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "build" / "zoo"
VARIANTS = ("static", "dynamic", "half")
#: own: PteronPartitioner; stock: VulkanPartitioner; portable: none, so that ExecuTorch's CPU kernels do everything.
WAYS = ("own", "stock", "portable")
PATIENCE = 900  # seconds for an export
@dataclasses.dataclass(frozen=True)
class Exported:
    program: bytes = b""
    delegates: int = 0
    outside: dict[str, int] = dataclasses.field(default_factory=dict)  # ops that run on the CPU
    reasons: str = ""  # why they do
    problem: str = ""  # why there is no program


def variants(model: Model) -> list[str]:
    return ["static"] + ["dynamic"] * bool(model.dynamic) + ["half"] * model.half


def made(model: Model, variant: str) -> tuple[torch.nn.Module, tuple]:
    module, inputs = model.build()
    if variant == "half":
        return module.half(), tuple(x.half() if x.is_floating_point() else x for x in inputs)
    return module, inputs


def dynamic_shapes(model: Model, module: torch.nn.Module):
    dims = {}
    shapes = tuple(
        {axis: dims.setdefault((axis, span), torch.export.Dim(f"n{len(dims)}", min=span[0], max=span[1])) for axis, span in axes.items()}
        for axes in model.dynamic
    )
    (first, *_) = inspect.signature(module.forward).parameters.values()
    return (shapes,) if first.kind is inspect.Parameter.VAR_POSITIONAL else shapes


@functools.cache
def digest(way: str) -> bytes:
    """Of what a program depends on, besides the model: our exports ask the engine."""
    files = [Path(__file__).with_name("model.py")]
    if way == "own":
        package = Path(importlib.util.find_spec("pteron").submodule_search_locations[0])
        files += [package / name for name in ("partition.py", "_forms.py", "_backend.py", "libpteron.so.1")]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).digest()


@functools.cache
def versions() -> list[str]:
    return [importlib.metadata.version(name) for name in ("torch", "executorch", "transformers")]


def key(model: Model, variant: str, way: str) -> str:
    parts = [model.name, variant, way, model.text, repr(model.dynamic), versions()]
    return hashlib.sha256(json.dumps(parts).encode() + digest(way)).hexdigest()[:16]


@functools.cache
def prepare():
    sys.path.append(str(ROOT / "python"))
    from cases import lowering

    lowering.prepare_process()  # exports after the first get faster


def partitioner(way: str):
    if way == "own":
        from pteron.partition import PteronPartitioner

        return PteronPartitioner()
    from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner

    return VulkanPartitioner()


def lower(model: Model, variant: str, way: str) -> Exported:
    from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower

    prepare()
    module, inputs = made(model, variant)
    shapes = dynamic_shapes(model, module) if variant == "dynamic" else None
    with torch.no_grad():
        exported = torch.export.export(module, inputs, dynamic_shapes=shapes)
        used = [] if way == "portable" else [partitioner(way)]
        manager = to_edge_transform_and_lower(
            exported, partitioner=used, compile_config=EdgeCompileConfig(_check_ir_validity=False)
        ).to_executorch()
    plan = manager.executorch_program.execution_plan[0]
    calls = [step.instr_args.op_index for step in plan.chains[0].instructions if hasattr(step.instr_args, "op_index")]
    outside = collections.Counter(".".join(filter(None, (plan.operators[i].name, plan.operators[i].overload))) for i in calls)
    reasons = used[0].report() if way == "own" else ""
    return Exported(manager.buffer, len(plan.delegates), dict(sorted(outside.items())), reasons)


def late(signum, frame):
    raise TimeoutError(f"not done after {PATIENCE} s")


def export(model: Model, variant: str, way: str, only_kept: bool = False) -> Exported | None:
    """From the disk if it is there."""
    path = KEPT / f"{model.name}-{variant}-{way}-{key(model, variant, way)}.json"
    if path.exists():
        facts = json.loads(path.read_text())
        program = path.with_suffix(".pte").read_bytes() if not facts["problem"] else b""
        return Exported(program=program, **facts)
    if only_kept:
        return None
    signal.signal(signal.SIGALRM, late)
    signal.alarm(PATIENCE)
    try:
        made = lower(model, variant, way)
    except Exception as error:  # it is part of the result
        first = (str(error).strip().splitlines() or [""])[0]
        made = Exported(problem=f"{type(error).__name__}: {first}"[:300])
    finally:
        signal.alarm(0)
    if made.problem and way == "own":
        return made  # may be ours, and is tried again
    KEPT.mkdir(parents=True, exist_ok=True)
    for old in KEPT.glob(f"{model.name}-{variant}-{way}-*"):
        old.unlink()
    path.with_suffix(".pte").write_bytes(made.program)
    facts = {name: value for name, value in dataclasses.asdict(made).items() if name != "program"}
    path.write_text(json.dumps(facts))
    return made
