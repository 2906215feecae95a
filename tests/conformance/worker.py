# SPDX-License-Identifier: BSD-3-Clause
"""Runs one folder after another in a process of its own: folders on standard input, a line of JSON for each on
standard output. What the runtime logs goes to a file, from which the plugin's message is taken."""
import json
import os
import sys
import tempfile
from pathlib import Path

import pteron  # noqa: F401  registers the backend
import torch
from executorch.runtime import Runtime

from conformance.fixture import Fixture


def run(fixture: Fixture) -> dict:
    program = Runtime.get().load_program(fixture.model, data_path=fixture.data)
    method = program.load_method("forward")
    problems, worst = [], 0.0

    def check(what, actual, expected):
        nonlocal worst
        problem, error = fixture.compare(actual.detach().numpy(), expected)
        worst = max(worst, error)
        if problem:
            problems.append(f"{what}: {problem}")

    for number, call in enumerate(fixture.sets):
        inputs = [x.clone() if isinstance(x, torch.Tensor) else x for x in call.inputs]
        outputs = [torch.as_tensor(y) for y in method.execute(inputs)]
        if len(outputs) < len(call.outputs) + len(fixture.mutated):
            problems.append(f"{call.name}: only {len(outputs)} outputs")
            continue
        if not fixture.output_unspecified:
            for index, expected in enumerate(call.outputs, start=len(outputs) - len(call.outputs)):
                check(f"{call.name}, output {index}", outputs[index], expected)
        if number == 0:  # updated inputs come back as the first outputs
            for position, (index, expected) in enumerate(sorted(fixture.mutated.items())):
                check(f"updated input {index}", outputs[position], expected)
    return {"problems": problems, "worst": worst}


def main():
    answers = os.fdopen(os.dup(1), "w")
    log = tempfile.TemporaryFile(mode="w+")
    os.dup2(log.fileno(), 1)
    os.dup2(log.fileno(), 2)
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        log.seek(0)
        log.truncate()
        try:
            answer = run(Fixture(Path(line.strip())))
        except Exception as error:  # the runtime's, whose message has only a number
            answer = {"problems": [str(error)], "worst": 0.0}
        log.seek(0)
        said = [text.split("pteron: ", 1)[1].strip() for text in log if "pteron: " in text and "running on" not in text]
        print(json.dumps(answer | {"log": said}), file=answers, flush=True)


if __name__ == "__main__":
    main()
