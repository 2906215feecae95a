# SPDX-License-Identifier: BSD-3-Clause
"""The command `pteron` of an installed package: the program that lies beside this file."""
import os
import sys
from pathlib import Path


def main() -> None:
    program = str(Path(__file__).with_name("pteron"))
    os.execv(program, [program, *sys.argv[1:]])
