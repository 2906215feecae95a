# SPDX-License-Identifier: BSD-3-Clause
import argparse
import os
import sys
import time
from importlib.metadata import version
from pathlib import Path

from conformance import exports, runner
from conformance.exports import Job
from conformance.table import Result, count, markdown

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "build" / "conformance"
FIXTURES = Path(os.environ.get("PTERON_SHARED_FIXTURES", ROOT.parent / "shared" / "fixtures")) / "ops"
QUICK_MODULES = {"test_dispatch_order", "test_prepack"}  # what the catalog has no cases for: order of writes, constants


def quick(jobs: list[Job]) -> list[Job]:
    """The first case of each suite, and two modules."""
    first = {job.suite: job for job in reversed(jobs) if job.kind == "catalog"}
    return [job for job in jobs if first.get(job.suite) == job or (job.kind == "ops" and job.suite in QUICK_MODULES)]


def case_folders(job: Job) -> list[Path]:
    folder = job.folder(KEPT)
    return [folder] if job.kind == "catalog" else sorted(path for path in folder.iterdir() if path.is_dir())


def refusals(job: Job, folder: Path) -> list[Result]:
    file = folder / "refused"
    lines = file.read_text().splitlines() if file.exists() else []
    name = job.case or folder.name
    return [Result(job.kind, job.suite, name, runner.Outcome("not exported", message=line)) for line in lines]


def run(jobs: list[Job], only: str, workers: int) -> list[Result]:
    results, named = [], {}
    for job in jobs:
        for folder in case_folders(job):
            if (folder / "manifest.json").exists():
                named[folder] = (job.kind, job.suite, job.case or folder.name)
            results += refusals(job, folder)
        if job.kind == "ops":
            results += refusals(job, job.folder(KEPT))
    for manifest in sorted(FIXTURES.glob("*/*/manifest.json")):
        named[manifest.parent] = ("fixtures", manifest.parent.parent.name, manifest.parent.name)
    named = {folder: name for folder, name in named.items() if only in "/".join(name)}
    outcomes = runner.run_all(list(named), workers)
    return results + [Result(*named[folder], outcome) for folder, outcome in outcomes.items()]


def main() -> int:
    parser = argparse.ArgumentParser(prog="conformance", description="The reference backend's tests through Pteron")
    parser.add_argument("--full", action="store_true", help="export and run everything")
    parser.add_argument("--only", default="", metavar="TEXT", help="jobs and cases whose name contains TEXT")
    parser.add_argument("--table", type=Path, metavar="FILE", help="write the table to FILE")
    parser.add_argument("--adapter", default="this machine's default adapter", help="what the table calls the GPU")
    args = parser.parse_args()
    start, processes = time.monotonic(), os.cpu_count() or 1
    jobs = [job for job in exports.jobs() if args.only in f"{job.kind}/{job.suite}/{job.case}"]
    chosen = jobs if args.full else quick(jobs)
    exports.export_all([job for job in chosen if not job.kept(KEPT)], KEPT, processes)
    exported = time.monotonic()
    results = run([job for job in jobs if job in chosen or job.kept(KEPT)], args.only, processes)
    results.sort(key=lambda result: (result.kind, result.suite, result.case))
    for result in results:
        if result.outcome.status != "passed":
            print(f"{result.outcome.status}: {result.kind}/{result.suite}/{result.case}: {result.outcome.message}")
    waiting = len([job for job in jobs if job not in chosen and not job.kept(KEPT)])
    if waiting:
        print(f"{waiting} of {len(jobs)} exports of the wheel are only made with --full")
    if not FIXTURES.is_dir():
        print(f"there are no shared fixtures in {FIXTURES}")
    print(f"{len(results)} cases: {count(results)} ({exported - start:.0f} s exports, {time.monotonic() - exported:.0f} s runs)")
    if args.table:
        wheel = f"executorch {version('executorch')}, torch {version('torch').split('+')[0]}"
        args.table.write_text(markdown(results, wheel, args.adapter))
    return any(result.outcome.status == "failed" for result in results) or not results


if __name__ == "__main__":
    sys.exit(main())
