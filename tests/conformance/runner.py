# SPDX-License-Identifier: BSD-3-Clause
"""Runs folders in worker processes, so that a crash or a hang is a result and not the end."""
import dataclasses
import json
import queue
import select
import subprocess
import sys
import threading
from pathlib import Path

SECONDS = 120  # for one folder


@dataclasses.dataclass(frozen=True)
class Outcome:
    status: str  # passed, failed, unsupported
    worst: float = 0.0
    message: str = ""


class Worker:
    def __init__(self):
        self.process: subprocess.Popen | None = None

    def run(self, folder: Path) -> Outcome:
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, "-W", "ignore", "-m", "conformance.worker"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            )  # fmt: skip
            if self.process.stdout.readline() != "ready\n":
                raise RuntimeError("the worker can't start; run python -m conformance.worker to see why")
        self.process.stdin.write(f"{folder}\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], SECONDS)
        line = self.process.stdout.readline() if ready else ""
        if line:
            return judge(json.loads(line))
        self.stop()
        return Outcome("failed", message="the process died" if ready else f"no answer in {SECONDS} s")

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.communicate()
            self.process = None


def judge(answer: dict) -> Outcome:
    if not answer["problems"]:
        return Outcome("passed", answer["worst"])
    said = answer["log"][0] if answer["log"] else ""
    return Outcome("unsupported" if said.endswith("(unsupported)") else "failed", answer["worst"], said or "; ".join(answer["problems"]))


def run_all(folders: list[Path], workers: int) -> dict[Path, Outcome]:
    todo: queue.SimpleQueue[Path] = queue.SimpleQueue()
    for folder in folders:
        todo.put(folder)
    outcomes: dict[Path, Outcome] = {}

    def work():
        worker = Worker()
        try:
            while True:
                folder = todo.get_nowait()
                outcomes[folder] = worker.run(folder)
        except queue.Empty:
            worker.stop()

    threads = [threading.Thread(target=work) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes
