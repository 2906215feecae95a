# SPDX-License-Identifier: BSD-3-Clause
"""The result of a run as text."""
import collections
import dataclasses

from conformance.runner import Outcome

TITLES = {
    "catalog": "The catalog `executorch.backends.webgpu.test.op_tests`",
    "ops": "Programs that the tests and exporters of `executorch.backends.webgpu.test.ops` make",
    "fixtures": "Shared fixtures",
}
HEAD = """# Conformance
The tests of ExecuTorch's own WebGPU backend ({wheel}), run through the stock runtime with
Pteron as its backend on {adapter}. Written by `./test --full --only conformance`. An element passes within the suite's absolute or relative
tolerance; worst is the largest absolute error. Goldens are eager torch's. Not exported: the wheel's own test fails before
there is a program to run.
"""


@dataclasses.dataclass(frozen=True)
class Result:
    kind: str
    suite: str
    case: str
    outcome: Outcome


def count(results: list[Result]) -> str:
    counts = collections.Counter(result.outcome.status for result in results)
    return ", ".join(f"{counts[status]} {status}" for status in ("passed", "failed", "unsupported", "not exported"))


def shorten(message: str) -> str:
    text = message.replace("|", "/")
    return text if len(text) <= 200 else text[:199] + "…"


def markdown(results: list[Result], wheel: str, adapter: str) -> str:
    lines = [HEAD.format(wheel=wheel, adapter=adapter), f"**{len(results)} cases: {count(results)}.**", ""]
    for kind, title in TITLES.items():
        chosen = [result for result in results if result.kind == kind]
        if not chosen:
            continue
        lines += [f"## {title}", f"{len(chosen)} cases: {count(chosen)}.", ""]
        lines += ["| suite | cases | passed | worst error | not passed |", "|---|---|---|---|---|"]
        suites = collections.defaultdict(list)
        for result in chosen:
            suites[result.suite].append(result.outcome)
        for suite, outcomes in sorted(suites.items()):
            passed = [outcome for outcome in outcomes if outcome.status == "passed"]
            worst = max((outcome.worst for outcome in passed), default=0.0)
            others = collections.Counter(o.status for o in outcomes if o.status != "passed")
            rest = ", ".join(f"{number} {status}" for status, number in others.items())
            lines.append(f"| {suite} | {len(outcomes)} | {len(passed)} | {worst:.2g} | {rest} |")
        lines.append("")
    missing = collections.Counter(
        (f"{r.kind}/{r.suite}", r.outcome.status, shorten(r.outcome.message)) for r in results if r.outcome.status != "passed"
    )
    if missing:
        lines += ["## Not passed", "| suite | cases | result | why |", "|---|---|---|---|"]
        lines += [f"| {suite} | {number} | {status} | {why} |" for (suite, status, why), number in missing.items()]
        lines.append("")
    return "\n".join(lines)
