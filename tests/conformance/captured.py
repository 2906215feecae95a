# SPDX-License-Identifier: BSD-3-Clause
"""The programs that the wheel's tests make and throw away: each module's tests and exporters run, and whatever they turn
into a program is kept with its example inputs and eager torch's answers."""
import contextlib
import copy
import hashlib
import importlib
import inspect
import io
import re
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import executorch.backends.vulkan.patterns as vulkan_patterns
import torch
from cases import folder as case_folder
from cases import golden, lowering
from executorch.exir import EdgeProgramManager
from torch.utils import _pytree as pytree

PATHS = {"out_dir", "output_path", "pte_path", "golden_path", "input_path"}
OPS = "executorch.backends.webgpu.test.ops"


def live_inputs(exported: torch.export.ExportedProgram, inputs: list) -> list[tuple[dict, list]]:
    """Smaller inputs of a dynamic program: the example's first elements, at the lowest sizes and half-way there."""
    nodes = {node.name: node for node in exported.graph.nodes if node.op == "placeholder"}
    values = [nodes[name].meta["val"] for name in exported.graph_signature.user_inputs if name in nodes]
    shapes = [[getattr(getattr(s, "node", None), "expr", s) for s in getattr(v, "shape", ())] for v in values]
    largest = {
        size: x.shape[axis]
        for x, shape in zip(inputs, shapes)
        for axis, size in enumerate(shape)
        if getattr(size, "is_Symbol", False)
    }
    lowest = {size: max(int(exported.range_constraints[size].lower), 1) for size in largest}
    found = []
    for sizes in (lowest, {size: (lowest[size] + largest[size]) // 2 for size in largest}):
        if sizes != largest and all(sizes != other for other, _ in found):
            cut = [
                x[tuple(slice(int(s.subs(sizes)) if hasattr(s, "subs") else s) for s in shape)].contiguous()
                if isinstance(x, torch.Tensor) else x
                for x, shape in zip(inputs, shapes)
            ]  # fmt: skip
            found.append((sizes, cut))
    return [({str(size): value for size, value in sizes.items()}, cut) for sizes, cut in found]


def answer(module: torch.nn.Module, inputs: list) -> tuple[list[torch.Tensor], list]:
    return golden.run(copy.deepcopy(module), inputs)


def meaningful(inputs: list) -> list:
    """Some exporters trace with nothing but zeros, which any program gets right: those become random."""
    floats = [x for x in inputs if isinstance(x, torch.Tensor) and x.is_floating_point()]
    if any(x.any() for x in floats):
        return inputs
    generator = torch.Generator().manual_seed(0)
    return [
        torch.randn(x.shape, generator=generator).to(x.dtype) if any(x is other for other in floats) else x
        for x in inputs
    ]


class Files:
    """Tensors of a captured program by file name, as the shared fixtures have them."""

    def __init__(self):
        self.tensors: dict[str, torch.Tensor] = {}

    def add(self, name: str, value) -> dict:
        if not isinstance(value, torch.Tensor):
            return {"scalar": value, "dtype": type(value).__name__}
        self.tensors[name] = value
        return {"file": name, "dtype": case_folder.DTYPES[value.dtype], "shape": list(value.shape)}

    def call(self, prefix: str, call: golden.Call) -> dict:
        return {
            "inputs": [self.add(f"{prefix}input_{i}.bin", x) for i, x in enumerate(call.inputs)],
            "outputs": [self.add(f"{prefix}output_{i}.bin", y) for i, y in enumerate(call.outputs)],
        }


class Recorder:
    """Sees every program that is made while it is open."""

    def __init__(self, folder: Path):
        self.folder, self.last, self.seen, self.source = folder, None, set(), ""

    @contextlib.contextmanager
    def open(self):
        export, finish = torch.export.export, EdgeProgramManager.to_executorch

        def recording_export(module, args, *rest, **named):
            exported = export(module, args, *rest, **named)
            self.last = module, exported, args
            return exported

        def recording_finish(manager, *rest, **named):
            mutated = lowering.mutated_inputs(manager.exported_program())
            program = finish(manager, *rest, **named)
            self.record(program, mutated)
            return program

        with (
            mock.patch.object(torch.export, "export", recording_export),
            mock.patch.object(EdgeProgramManager, "to_executorch", recording_finish),
        ):
            yield

    def record(self, manager, mutated: list[int]) -> None:
        module, exported, args = self.last
        inputs = meaningful(pytree.tree_leaves(args))
        files = Files()
        digest = hashlib.sha256(manager.buffer)
        for x in inputs:
            digest.update(case_folder.raw(x) if isinstance(x, torch.Tensor) else repr(x).encode())
        if digest.digest() in self.seen:
            return
        self.seen.add(digest.digest())
        folder = self.folder / f"{len(self.seen):02}_{self.source}"
        folder.mkdir()
        (folder / "model.pte").write_bytes(manager.buffer)
        try:
            outputs, after = answer(module, inputs)
        except Exception as error:  # a module that eager torch can't run has no golden
            (folder / "refused").write_text(f"no golden: {type(error).__name__}: {str(error).splitlines()[0]}")
            return
        live = []
        for number, (sizes, cut) in enumerate(live_inputs(exported, inputs), start=1):
            with contextlib.suppress(Exception):  # a size that the module itself refuses
                call = golden.Call(sizes, cut, answer(module, cut)[0], [])
                live.append({"size": sizes} | files.call(f"live{number}_", call))
        lowered = lowering.summary(manager, mutated)
        manifest = {
            "delegate_ops": dict(lowered.delegate_ops),
            "portable_ops": dict(lowered.portable_ops),
            "mutated_inputs": mutated,
        }
        manifest |= files.call("", golden.Call({}, inputs, outputs, after)) | {"live": live}
        for index in mutated:
            files.tensors[f"mutated_{index}.bin"] = after[index]
        for name, value in files.tensors.items():
            (folder / name).write_bytes(case_folder.raw(value))
        (folder / "manifest.json").write_text(case_folder.to_json(manifest))


def tests_of(module) -> list[tuple[str, unittest.TestCase]]:
    suites = [unittest.defaultTestLoader.loadTestsFromModule(module)]
    found = []
    while suites:
        for item in suites.pop():
            if isinstance(item, unittest.TestSuite):
                suites.append(item)
            else:
                found.append((item.id().rpartition(".")[2].removeprefix("test_"), item))
    return sorted(found, key=lambda entry: entry[0])


def exporters_of(module) -> list[tuple]:
    """Functions that write programs and need nothing but to be told where."""
    found = []
    for name, function in sorted(vars(module).items()):
        if name.startswith("export_") and function.__module__ == module.__name__:
            needed = [p.name for p in inspect.signature(function).parameters.values() if p.default is p.empty]
            if set(needed) <= PATHS:
                found.append((name, function, needed))
    return found


def reason(trace: str) -> str:
    """The line of a traceback that names the exception."""
    named = [line for line in trace.splitlines() if re.match(r"[\w.]+(Error|Exception): ", line)]
    return named[-1] if named else trace.strip().splitlines()[-1]


def warm_up() -> None:
    """Fusion patterns are exported once in a process; that must not be taken for a test's export."""
    for pattern in vulkan_patterns.fusable_patterns.values():
        if pattern.get_graphs_fn:
            pattern.get_graphs_fn()


def export(job, folder: Path) -> None:
    warm_up()
    module = importlib.import_module(f"{OPS}.{job.suite}")
    recorder = Recorder(folder)
    problems = []
    with recorder.open(), contextlib.redirect_stdout(io.StringIO()), tempfile.TemporaryDirectory() as work:
        for name, test in tests_of(module):
            recorder.source = re.sub(r"\W", "_", name)
            torch.manual_seed(0)
            result = test.run()
            problems += [f"{name}: {reason(text)}" for _, text in result.errors + result.failures]
        for name, function, needed in exporters_of(module):
            recorder.source = name
            torch.manual_seed(0)
            Path(work, name).mkdir()
            paths = [f"{work}/{name}" if path == "out_dir" else f"{work}/{name}/{path}" for path in needed]
            try:
                function(*paths)
            except Exception as error:
                problems.append(f"{name}: {type(error).__name__}: {str(error).splitlines()[0]}")
    if problems:
        (folder / "refused").write_text("\n".join(problems))
