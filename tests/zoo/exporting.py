# SPDX-License-Identifier: BSD-3-Clause
"""Programs of models, kept on disk for as long as what they are made from stays the same.

A program of ours depends on the engine by the questions alone that the partitioner asks it. These are kept with their answers, and
asked again: another build of the engine that answers alike would get the same program."""
import collections
import contextlib
import copy
import dataclasses
import functools
import hashlib
import importlib.metadata
import importlib.util
import inspect
import json
import pickle
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
        {axis: dims.setdefault(span[2:] or (axis, span), torch.export.Dim(f"n{len(dims)}", min=span[0], max=span[1])) for axis, span in axes.items()}
        for axes in model.dynamic
    )
    (first, *_) = inspect.signature(module.forward).parameters.values()
    return (shapes,) if first.kind is inspect.Parameter.VAR_POSITIONAL else shapes


@functools.cache
def digest(way: str) -> bytes:
    """Of the code that makes a program, besides the model's."""
    files = [Path(__file__).with_name("model.py")]
    if way == "own":
        package = Path(importlib.util.find_spec("pteron").submodule_search_locations[0])
        files += [package / name for name in ("partition.py", "_forms.py", "_backend.py")]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).digest()


@contextlib.contextmanager
def listening():
    """What the engine is asked meanwhile, with its answers."""
    from pteron import _forms

    asked, ask = {}, _forms.refusal

    def heard(*question):
        asked[question] = ask(*question)
        return asked[question]

    _forms.refusal = heard
    try:
        yield asked
    finally:
        _forms.refusal = ask


def still_true(path: Path) -> bool:
    """Whether the engine's answers are those that a program was made by."""
    from pteron._engine import refusal

    return path.exists() and all(refusal(*question) == answer for question, answer in pickle.loads(path.read_bytes()).items())


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


_programs: dict[tuple, torch.export.ExportedProgram] = {}  # the last one, which all ways start from


def program_of(model: Model, variant: str) -> torch.export.ExportedProgram:
    if (model.name, variant) not in _programs:
        _programs.clear()
        module, inputs = made(model, variant)
        shapes = dynamic_shapes(model, module) if variant == "dynamic" else None
        _programs[model.name, variant] = torch.export.export(module, inputs, dynamic_shapes=shapes)
    return copy.deepcopy(_programs[model.name, variant])


def lower(model: Model, variant: str, way: str) -> Exported:
    from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower

    prepare()
    with torch.no_grad():
        used = [] if way == "portable" else [partitioner(way)]
        manager = to_edge_transform_and_lower(
            program_of(model, variant), partitioner=used, compile_config=EdgeCompileConfig(_check_ir_validity=False)
        ).to_executorch()
    plan = manager.executorch_program.execution_plan[0]
    calls = [step.instr_args.op_index for step in plan.chains[0].instructions if hasattr(step.instr_args, "op_index")]
    outside = collections.Counter(".".join(filter(None, (plan.operators[i].name, plan.operators[i].overload))) for i in calls)
    reasons = used[0].report() if way == "own" else ""
    return Exported(manager.buffer, len(plan.delegates), dict(sorted(outside.items())), reasons)


def late(signum, frame):
    raise TimeoutError(f"not done after {PATIENCE} s")


def kept(path: Path, way: str) -> Exported | None:
    if not path.exists() or (way == "own" and not still_true(path.with_suffix(".asked"))):
        return None
    facts = json.loads(path.read_text())
    return Exported(program=path.with_suffix(".pte").read_bytes() if not facts["problem"] else b"", **facts)


def keep(path: Path, exported: Exported, asked: dict) -> None:
    KEPT.mkdir(parents=True, exist_ok=True)
    for old in KEPT.glob(f"{path.stem.rpartition('-')[0]}-*"):
        old.unlink()
    path.with_suffix(".pte").write_bytes(exported.program)
    path.with_suffix(".asked").write_bytes(pickle.dumps(asked))
    path.write_text(json.dumps({name: value for name, value in dataclasses.asdict(exported).items() if name != "program"}))


def export(model: Model, variant: str, way: str, only_kept: bool = False) -> Exported | None:
    """From the disk if it is there."""
    path = KEPT / f"{model.name}-{variant}-{way}-{key(model, variant, way)}.json"
    found = kept(path, way)
    if found or only_kept:
        return found
    signal.signal(signal.SIGALRM, late)
    signal.alarm(PATIENCE)
    asked = {}
    try:
        with listening() as asked:
            exported = lower(model, variant, way)
    except Exception as error:  # it is part of the result
        first = (str(error).strip().splitlines() or [""])[0]
        exported = Exported(problem=f"{type(error).__name__}: {first}"[:300])
    finally:
        signal.alarm(0)
    if not exported.problem or way != "own":  # ours is tried again
        keep(path, exported, asked)
    return exported
