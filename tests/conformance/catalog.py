# SPDX-License-Identifier: BSD-3-Clause
"""Cases of the wheel's catalog, exported by its own generator."""
import json
from pathlib import Path

from executorch.backends.webgpu.test.op_tests import generate_op_tests
from executorch.backends.webgpu.test.op_tests.test_suite import op_test_registry


def tensor(entry: dict) -> dict:
    return {"file": entry["path"], "dtype": entry["dtype"], "shape": entry["shape"]}


def export(job, folder: Path) -> None:
    suite = op_test_registry[job.suite]
    case = next(case for case in suite.cases if (case.name or "case") == job.case)
    try:
        outputs = generate_op_tests.generate_case(job.suite, suite, case, str(folder))
    except Exception as error:  # the exporter's
        (folder / "refused").write_text(f"{type(error).__name__}: {str(error).strip().splitlines()[0]}")
        return
    (folder / outputs[0]["pte"]).rename(folder / "model.pte")
    manifest = {
        "atol": outputs[0]["atol"],
        "rtol": outputs[0]["rtol"],
        "inputs": [tensor(entry) for entry in outputs[0]["inputs"]],
        "outputs": [tensor(entry["golden"]) for entry in sorted(outputs, key=lambda o: o["golden"]["output_index"])],
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
