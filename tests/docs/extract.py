#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Does what docs/adding-an-op.md says to a copy of src/ops.

usage: extract.py PAGE OPS_DIR OUT_DIR
"""
import pathlib
import re
import shutil
import sys


def main() -> None:
    page, ops, out = map(pathlib.Path, sys.argv[1:])
    text = page.read_text()
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(ops, out, ignore=shutil.ignore_patterns("*_test.cpp", "*.h"))

    blocks = re.findall(r"^([^\n]*)\n\n```(?:cpp|wgsl)\n(.*?)^```$", text, re.M | re.S)
    for before, code in blocks:
        if named := re.findall(r"`src/ops/(\S+?)` —", before):
            (out / named[0]).write_text(code)

    line = next(code for _, code in blocks if code.startswith("{"))
    unary = out / "unary.cpp"
    table = re.sub(r"^(static constexpr \w+ \w+\[\] = \{\n)", lambda m: f"{m[1]}    {line}", unary.read_text(), flags=re.M)
    unary.write_text(table)


main()
