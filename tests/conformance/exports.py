# SPDX-License-Identifier: BSD-3-Clause
"""What the wheel's tests export, as jobs whose results are kept between runs."""
import concurrent.futures
import dataclasses
import functools
import hashlib
import importlib
import multiprocessing
import pkgutil
import shutil
from importlib.metadata import version
from pathlib import Path

OPS = "executorch.backends.webgpu.test.ops"


@dataclasses.dataclass(frozen=True)
class Job:
    kind: str  # "catalog": one case of the catalog; "ops": a module of tests
    suite: str
    case: str = ""

    def folder(self, root: Path) -> Path:
        return root / self.kind / self.suite / self.case

    def kept(self, root: Path) -> bool:
        key = self.folder(root) / ".key"
        return key.exists() and key.read_text() == state()


@functools.cache
def state() -> str:
    """Changes when an export could give something else."""
    digest = hashlib.sha256(f"{version('executorch')} {version('torch')}".encode())
    for name in ("exports.py", "catalog.py", "captured.py"):
        digest.update(Path(__file__).with_name(name).read_bytes())
    return digest.hexdigest()


def jobs() -> list[Job]:
    from executorch.backends.webgpu.test.op_tests import cases  # noqa: F401  fills the registry
    from executorch.backends.webgpu.test.op_tests.test_suite import op_test_registry

    found = [
        Job("catalog", suite, case.name or "case")
        for suite, content in op_test_registry.items()
        for case in content.cases
    ]
    package = importlib.import_module(OPS)
    modules = pkgutil.walk_packages(package.__path__, f"{OPS}.")
    found += [
        Job("ops", info.name.removeprefix(f"{OPS}."))
        for info in modules
        if info.name.rpartition(".")[2].startswith("test_")
    ]
    return found


def prepare():
    import torch
    from cases.lowering import prepare_process

    torch.set_num_threads(1)
    prepare_process()


def export(job: Job, root: Path) -> None:
    """Fills the job's folder. What can't be exported leaves a file `refused` with the reason."""
    from conformance import captured, catalog

    folder = job.folder(root)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (catalog if job.kind == "catalog" else captured).export(job, folder)
    (folder / ".key").write_text(state())


def export_all(wanted: list[Job], root: Path, processes: int) -> None:
    if not wanted:
        return
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(processes, spawn, prepare) as pool:
        running = {pool.submit(export, job, root): job for job in wanted}
        for number, done in enumerate(concurrent.futures.as_completed(running), start=1):
            done.result()
            job = running[done]
            print(f"[{number}/{len(wanted)}] exported {job.kind}/{job.suite}/{job.case}".rstrip("/"), flush=True)
