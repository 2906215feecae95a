# SPDX-License-Identifier: BSD-3-Clause
"""Headers that a script here writes, and that a test compares with what it would write."""
import pathlib
import sys


def keep(text: str, what: str) -> None:
    """The file that the command line names holds this text, or gets it with --write."""
    path = pathlib.Path(sys.argv[1])
    if "--write" in sys.argv:
        path.write_text(text)
    elif path.read_text() != text:
        sys.exit(f"{path} is not {what}; run {sys.argv[0]} {path} --write")
