#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Extracts from the Unicode Character Database what tokenizers, chat templates and grammars depend on.

usage: unicode_data.py > src/llm/text/unicode.txt

Needs the Python packages unicodedata2==16.0.0 and tokenizers==0.23.3, and perl. The versions are part of the result:
the reference package splits words by the categories of Unicode 16.0, normalizes as Unicode 9.0 did (later characters
are left alone) and lowercases as Unicode 17.0 does. Capital letters, which only templates ask for, are Python's.
Numbers are hexadecimal; tools/embed_unicode.py says what the lines mean.
"""
import subprocess
import unicodedata

import unicodedata2 as ucd
from tokenizers.normalizers import Lowercase

ALL = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
PRESENT = r"""
for my $c (0..0x10FFFF) { print "$c\n" if ($c < 0xD800 || $c > 0xDFFF) && chr($c) =~ /\p{Present_In: 9.0}/ }
"""


def runs(pairs, follows):
    """Joins neighbours [(code point, value)] into (first, last, value of first) while `follows` holds."""
    out = []
    for code, value in pairs:
        if out and code == out[-1][1] + 1 and follows(out[-1], code, value):
            out[-1][1] = code
        else:
            out.append([code, code, value])
    return out


def span(first, last):
    return f"{first:X}" if first == last else f"{first:X}-{last:X}"


def field(value):
    return f"{value:X}" if isinstance(value, int) else value


def print_values(title, pairs, follows=lambda run, code, value: run[2] == value):
    print(title)
    for first, last, value in runs(pairs, follows):
        print(span(first, last), *map(field, value if isinstance(value, tuple) else (value,)))


def main():
    print("# From the Unicode Character Database (Unicode License v3), by tools/unicode_data.py")
    categories = [(c, ucd.category(chr(c))) for c in range(0x110000)]
    print_values(f"categories {ucd.unidata_version}", [(c, name) for c, name in categories if name != "Cn"])

    lower = Lowercase()
    mapped = [(c, tuple(map(ord, lower.normalize_str(chr(c))))) for c in ALL]
    ascending = lambda run, code, value: len(value) == len(run[2]) == 1 and value[0] - run[2][0] == code - run[0]
    print_values("lowercase 17.0.0", [(c, m) for c, m in mapped if m != (c,)], ascending)

    old = {int(line) for line in subprocess.run(["perl", "-e", PRESENT], check=True, capture_output=True, text=True).stdout.split()}
    print_values("combining 9.0.0", [(c, ucd.combining(chr(c))) for c in ALL if c in old and ucd.combining(chr(c))])
    canonical, compatible = [], []
    for c in ALL:
        fields = ucd.decomposition(chr(c)).split()
        if not fields or c not in old:
            continue
        if fields[0].startswith("<"):
            compatible.append((c, tuple(int(f, 16) for f in fields[1:])))
            continue
        # An exclusion decomposes but is never composed again.
        excluded = len(fields) == 2 and ucd.normalize("NFC", chr(c)) != chr(c)
        canonical.append((c, (*(int(f, 16) for f in fields), *(["!"] if excluded else []))))
    print_values("canonical 9.0.0", canonical, ascending)
    print_values("compatible 9.0.0", compatible, ascending)

    changed = lambda convert, usual: [(c, tuple(map(ord, convert(chr(c))))) for c in ALL if convert(chr(c)) != usual(chr(c))]
    print_values(f"uppercase {unicodedata.unidata_version}", changed(str.upper, str), ascending)
    print_values(f"titlecase {unicodedata.unidata_version}", changed(str.title, str.upper), ascending)
    digits = [(c, ()) for c in ALL if chr(c).isdigit() and not chr(c).isdecimal()]
    print_values(f"digits {unicodedata.unidata_version}", digits)


main()
