#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the Unicode tables behind src/llm/text/characters.h, from this Python's own Unicode database.

usage: embed_characters.py OUT_HEADER
"""
import pathlib
import sys
import unicodedata

# Surrogates are no characters of a text.
CHARACTERS = [chr(c) for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]


def ranges(name: str, holds) -> str:
    found: list[list[int]] = []
    for c in (ord(c) for c in CHARACTERS if holds(c)):
        if found and found[-1][1] == c - 1:
            found[-1][1] = c
        else:
            found.append([c, c])
    rows = ",".join(f"{{{first:#x},{last:#x}}}" for first, last in found)
    return f"inline constexpr CharacterRange {name}[] = {{{rows}}};"


def mappings(name: str, convert, instead_of=lambda c: c) -> str:
    """What `convert` makes of the characters where it differs from `instead_of`: single ones, and several for one."""
    singles, several = [], []
    for c in CHARACTERS:
        to = [ord(x) for x in convert(c)]
        if convert(c) == instead_of(c):
            continue
        if len(to) == 1:
            singles.append(f"{{{ord(c):#x},{to[0]:#x}}}")
        else:
            several.append(f"{{{ord(c):#x},{{{','.join(map(hex, to))}}}}}")
    return (
        f"inline constexpr CaseMapping {name}[] = {{{','.join(singles)}}};\n"
        f"inline constexpr LongCaseMapping long_{name}[] = {{{','.join(several)}}};"
    )


def main() -> None:
    text = "\n".join(
        [
            f"// Unicode {unicodedata.unidata_version}",
            "#pragma once",
            '#include "llm/text/characters.h"',
            "namespace pteron::tables {",
            "struct CaseMapping { u32 from, to; };",
            "struct LongCaseMapping { u32 from, to[3]; };",
            ranges("words", lambda c: c.isalnum() or c == "_"),
            ranges("digits", str.isdecimal),
            ranges("numerals", str.isdigit),
            ranges("letters", str.isalpha),
            ranges("spaces", str.isspace),
            ranges("printables", str.isprintable),
            mappings("lower", str.lower),
            mappings("upper", str.upper),
            mappings("title", str.title, str.upper),
            "}  // namespace pteron::tables",
            "",
        ]
    )
    pathlib.Path(sys.argv[1]).write_text(text)


if __name__ == "__main__":
    main()
