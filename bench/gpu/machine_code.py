# SPDX-License-Identifier: BSD-3-Clause
"""Reads the machine code that Mesa's RADV prints, finds its loops, and estimates how long a wave takes."""
import dataclasses
import re

# Cycles until a result can be used: rough numbers of RDNA2 for loads that hit the second-level cache, the scalar cache,
# and workgroup memory without conflicts.
LATENCY = {"vector": 350, "scalar": 120, "shared": 64}
TRANSCENDENTAL = re.compile(r"v_(exp|log|rcp|rsq|sqrt|sin|cos)_")


def kind_of(name):
    if name.startswith("v_"):
        return "valu"
    if name.startswith(("s_load", "s_buffer_load")):
        return "scalar"
    if name.startswith("ds_"):
        return "shared"
    if name.startswith("scratch_"):
        return "scratch"
    if name.startswith(("buffer_", "global_", "flat_")):
        return "vector"
    if name.startswith("s_waitcnt"):
        return "wait"
    return "branch" if name.startswith(("s_branch", "s_cbranch")) else "other"


@dataclasses.dataclass
class Instruction:
    name: str
    operands: str
    kind: str = ""

    def __post_init__(self):
        self.kind = kind_of(self.name)

    @property
    def loads(self):
        return self.kind in ("vector", "scratch") and ("_load" in self.name or "_atomic" in self.name)


@dataclasses.dataclass
class Loop:
    first: int  # blocks, both included
    last: int
    depth: int
    inner: list


class Code:
    def __init__(self, text):
        self.labels, self.blocks = [""], [[]]
        for line in text.splitlines():
            line = line.split(";")[0].strip()
            if re.fullmatch(r"BB\d+:", line):
                self.labels.append(line[:-1])
                self.blocks.append([])
            elif line:
                for part in line.split(" :: "):  # two operations in one instruction
                    name, _, operands = part.strip().partition(" ")
                    self.blocks[-1].append(Instruction(name.replace("v_dual_", "v_"), operands))
        self.loops = self.find_loops()

    def find_loops(self):
        """Blocks are printed in order, so a branch backwards closes a loop."""
        place = {label: i for i, label in enumerate(self.labels)}
        ends = {}
        for i, block in enumerate(self.blocks):
            for instruction in block:
                target = place.get(instruction.operands.strip(), i + 1) if instruction.kind == "branch" else i + 1
                if target <= i:
                    ends[target] = max(i, ends.get(target, 0))
        loops = [Loop(first, last, 1, []) for first, last in sorted(ends.items())]
        for loop in loops:
            around = [o for o in loops if o is not loop and o.first <= loop.first and o.last >= loop.last]
            loop.depth += len(around)
            if around:
                max(around, key=lambda o: o.depth).inner.append(loop)
        return loops

    @property
    def shape(self):
        """Depths of the loops in order: "1 2 1"."""
        return " ".join(str(loop.depth) for loop in self.loops)

    def executed(self, trips):
        """All instructions in the order of execution, the n-th loop trips[n] times. Both sides of branches count."""
        count = {id(loop): n for loop, n in zip(self.loops, trips)}

        def walk(first, last, inside):
            at = first
            while at <= last:
                loop = next((o for o in inside if o.first == at), None)
                if loop is None:
                    yield from self.blocks[at]
                    at += 1
                    continue
                for _ in range(count[id(loop)]):
                    yield from self.blocks[loop.first]
                    yield from walk(loop.first + 1, loop.last, loop.inner)
                at = loop.last + 1

        return walk(0, len(self.blocks) - 1, [o for o in self.loops if o.depth == 1])


@dataclasses.dataclass
class Run:
    """One wave, alone on its SIMD."""
    cycles: int = 0  # with waiting
    issue: int = 0  # without
    valu: int = 0
    loads: int = 0
    in_flight: int = 0  # most vector loads at once
    instructions: int = 0


def waits_for(operands, counter):
    found = re.search(counter + r"\((\d+)\)", operands)
    return int(found.group(1)) if found else None


def run(code, wave, width):
    """A SIMD of `width` lanes issues an instruction of a wave in wave / width cycles; a transcendental one takes four times
    as long. Loads return in order; s_waitcnt waits for the oldest."""
    out, per = Run(), max(1, wave // width)
    queues = {"vmcnt": [], "lgkmcnt": []}
    for i in code:
        out.instructions += 1
        if i.kind == "wait":
            for counter, queue in queues.items():
                left = waits_for(i.operands, counter)
                while left is not None and len(queue) > left:
                    out.cycles = max(out.cycles, queue.pop(0))
            continue
        cost = per if i.kind in ("valu", "vector", "scratch", "shared") else 1
        if TRANSCENDENTAL.match(i.name):
            cost *= 4
        out.cycles += cost
        out.issue += cost
        out.valu += i.kind == "valu"
        if i.loads:
            out.loads += 1
            queues["vmcnt"].append(out.cycles + LATENCY["vector"])
            out.in_flight = max(out.in_flight, len(queues["vmcnt"]))
        elif i.kind in ("scalar", "shared"):
            queues["lgkmcnt"].append(out.cycles + LATENCY[i.kind])
    return out
