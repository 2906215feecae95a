# SPDX-License-Identifier: BSD-3-Clause
import contextlib
import sys
import time


class Progress:
    """One line for each step of long work, with the time it took."""

    def __init__(self, total: int):
        self.total, self.done = total, 0

    @contextlib.contextmanager
    def step(self, name: str):
        self.done += 1
        start = time.monotonic()
        print(f"[{self.done}/{self.total}] {name}", end="", file=sys.stderr, flush=True)
        try:
            yield
        finally:
            print(f"  {time.monotonic() - start:.1f} s", file=sys.stderr)
