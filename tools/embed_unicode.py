#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Turns src/llm/text/unicode.txt into C++ tables.

usage: embed_unicode.py UNICODE_TXT OUT_CPP

A section starts with its name and the version of Unicode. Its lines are RANGE VALUE…, all hexadecimal:
    categories   the general category; what is not listed is unassigned (Cn)
    lowercase    what the character becomes; in a range of several, each following one becomes one more
    uppercase    the same
    titlecase    the same, where it is not the uppercase
    digits       numerals that are digits without being decimal ones, such as superscripts
    combining    the canonical combining class, where it is not 0
    canonical    the canonical decomposition, one step; with ! if it must not be composed again
    compatible   the compatibility decomposition, one step
"""
import pathlib
import sys

CATEGORIES = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co Cn".split()


def read(path: pathlib.Path) -> dict[str, list[tuple[int, int, list[str]]]]:
    sections: dict[str, list] = {}
    lines = []
    for line in path.read_text(encoding="ascii").splitlines():
        if line.startswith("#"):
            continue
        head, *values = line.split()
        if head.islower():
            lines = sections[head] = []
            continue
        first, _, last = head.partition("-")
        lines.append((int(first, 16), int(last or first, 16), values))
    return sections


def category_runs(lines) -> list[str]:
    runs, end = [], 0
    for first, last, (name,) in [*lines, (0x110000, 0x110000, ["Cn"])]:
        if first > end:
            runs.append(f"{end << 5 | CATEGORIES.index('Cn'):#x}")
        if first < 0x110000:
            runs.append(f"{first << 5 | CATEGORIES.index(name):#x}")
        end = last + 1
    return runs


def mappings(lines, pool: list[int]) -> list[str]:
    out = []
    for first, last, values in lines:
        codes = [int(v, 16) for v in values if v != "!"]
        to = codes[0]
        if len(codes) > 1:
            to = len(pool)
            pool += codes
        out.append(f"{{{first:#x}, {to:#x}, {last - first + 1}, {len(codes)}}}")
    return out


def compositions(lines) -> list[str]:
    pairs = [(int(v[0], 16), int(v[1], 16), first) for first, _, v in lines if len(v) == 2]
    return [f"{{{a:#x}, {b:#x}, {c:#x}}}" for a, b, c in sorted(pairs)]


def table(kind: str, name: str, items: list[str]) -> str:
    rows = "\n".join("    " + ", ".join(items[i : i + 8]) + "," for i in range(0, len(items), 8))
    return f"static constexpr {kind} {name}_table[] = {{\n{rows}\n}};\nconst std::span<const {kind}> {name} = {name}_table;\n"


def main() -> None:
    data = read(pathlib.Path(sys.argv[1]))
    pool: list[int] = []
    parts = ['#include "llm/text/unicode.h"\n', "namespace pteron::unicode {"]
    parts.append(table("u32", "category_runs", category_runs(data["categories"])))
    for name in ("lowercase", "uppercase", "titlecase", "canonical", "compatible"):
        parts.append(table("Mapping", name, mappings(data[name], pool)))
    parts.append(table("u32", "mapping_pool", [f"{c:#x}" for c in pool]))
    parts.append(table("Composition", "compositions", compositions(data["canonical"])))
    classes = [f"{{{first:#x}, {last - first + 1}, {int(v[0], 16)}}}" for first, last, v in data["combining"]]
    parts.append(table("CombiningRun", "combining_runs", classes))
    parts.append(table("Range", "digits", [f"{{{first:#x}, {last:#x}}}" for first, last, _ in data["digits"]]))
    parts.append("}  // namespace pteron::unicode\n")
    pathlib.Path(sys.argv[2]).write_text("\n".join(parts))


main()
