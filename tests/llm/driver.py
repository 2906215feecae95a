# SPDX-License-Identifier: BSD-3-Clause
"""Talks to chat_driver, and what the chat tests share."""
import json
import subprocess
import sys


class Driver:
    def __init__(self, program: str):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, what: str, **request):
        """The answer, which has an "error" if the request was refused."""
        self.process.stdin.write(json.dumps({"do": what, **request}).encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"chat_driver ended at {what}: {json.dumps(request)[:2000]}")
        return json.loads(line)

    def must(self, what: str, **request):
        answer = self.ask(what, **request)
        if "error" in answer:
            sys.exit(f"{what} failed: {answer['error']}\n  {json.dumps(request)[:2000]}")
        return answer


class Checks:
    """Counts what was compared and stops at too many differences."""

    def __init__(self):
        self.count = 0
        self.failures = 0

    def equal(self, got, wanted, about):
        self.count += 1
        if got == wanted:
            return
        self.failures += 1
        print(f"FAILED {about}\n     got {got!r}\n  wanted {wanted!r}")
        if self.failures >= 10:
            self.finish()

    def true(self, holds, about):
        self.equal(bool(holds), True, about)

    def finish(self):
        print(f"{self.count} checks, {self.failures} failed")
        sys.exit(1 if self.failures else 0)
