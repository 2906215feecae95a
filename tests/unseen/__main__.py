# SPDX-License-Identifier: BSD-3-Clause
"""Exports models that nobody has seen before with PteronPartitioner, and runs them in ExecuTorch against eager torch.

usage: python -m unseen [--only TEXT] [--part N] [--random FIRST:LAST]

--part N takes every Nth of the written samples. What stays outside of delegates is told; where a sample promises to be whole, it
is a failure. The engine must take what the partitioner gave it: an export that fails, and a program that is refused, is one, too.
"""
import argparse
import logging
import sys
import warnings

from cases import lowering

from unseen.checking import Outcome, check
from unseen.drawn import drawn
from unseen.written import SAMPLES


def chosen(args):
    yield from (sample for sample in SAMPLES[:: args.part] if args.only in sample.name)
    if args.random:
        first, last = map(int, args.random.split(":"))
        yield from map(drawn, range(first, last))


def main() -> int:
    parser = argparse.ArgumentParser(prog="unseen", description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="TEXT", help="samples with this in their names")
    parser.add_argument("--part", type=int, default=1, metavar="N", help="every Nth of the written samples")
    parser.add_argument("--random", default="", metavar="FIRST:LAST", help="random models with these seeds")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    lowering.prepare_process()  # exports after the first get faster
    counts = {outcome: 0 for outcome in Outcome}
    for sample in chosen(args):
        outcome, text = check(sample)
        counts[outcome] += 1
        if text:
            print(f"{outcome.value}: {sample.name}: {text}", flush=True)
    print(", ".join(f"{count} {outcome.value}" for outcome, count in counts.items()))
    return 1 if counts[Outcome.WRONG] or not counts[Outcome.RIGHT] else 0


if __name__ == "__main__":
    sys.exit(main())
