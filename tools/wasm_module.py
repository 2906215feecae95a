#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads WebAssembly modules.

usage: wasm_module.py exports PART OUT   what PART takes from the module that it is loaded into, as options of wasm-ld
       wasm_module.py sizes MODULE       what takes the room: sections, functions by namespace, the largest ones; names are in
                                         build/wasm/*.wasm, and in what wasm-opt -g makes of them
       wasm_module.py stamp MODULE...    gives modules that were built together a name in common, by which a loader knows them
"""
import collections
import hashlib
import pathlib
import re
import subprocess
import sys

CUSTOM, IMPORT, CODE, DATA = 0, 2, 10, 11
SECTIONS = {1: "types", 2: "imports", 3: "functions", 4: "tables", 5: "memories", 6: "globals", 7: "exports", 8: "start",
            9: "elements", 10: "code", 11: "data", 12: "data count"}


class Reader:
    def __init__(self, data: bytes, at: int = 0):
        self.data, self.at = data, at

    def number(self) -> int:
        out = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            out |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return out

    def bytes(self) -> bytes:
        size = self.number()
        self.at += size
        return self.data[self.at - size : self.at]

    def text(self) -> str:
        return self.bytes().decode(errors="replace")

    def limits(self) -> None:
        has_most = self.number() & 1
        for _ in range(1 + has_most):
            self.number()


def sections(path: str) -> list[tuple[int, bytes]]:
    reader = Reader(pathlib.Path(path).read_bytes(), 8)
    out = []
    while reader.at < len(reader.data):
        kind = reader.number()
        out.append((kind, reader.bytes()))
    return out


def imports(found: list[tuple[int, bytes]]) -> list[tuple[str, str, str]]:
    """(module, name, kind) of each import."""
    out = []
    for reader in (Reader(data) for kind, data in found if kind == IMPORT):
        for _ in range(reader.number()):
            module, name = reader.text(), reader.text()
            kind = ("function", "table", "memory", "global")[reader.number()]
            if kind in ("table", "global"):
                reader.number()  # its type
            if kind in ("function", "global"):
                reader.number()  # its signature; whether it changes
            else:
                reader.limits()
            out.append((module, name, kind))
    return out


def write_exports(part: str, out: str) -> None:
    wanted = [name for module, name, kind in imports(sections(part)) if kind == "function" or module.startswith("GOT.")]
    pathlib.Path(out).write_text("".join(f"--export={name}\n" for name in dict.fromkeys(wanted)))


def function_names(found: list[tuple[int, bytes]]) -> dict[int, str]:
    out = {}
    for reader in (Reader(data) for kind, data in found if kind == CUSTOM):
        if reader.text() != "name":
            continue
        while reader.at < len(reader.data):
            kind, part = reader.number(), Reader(reader.bytes())
            for _ in range(part.number() if kind == 1 else 0):
                index = part.number()
                out[index] = part.text()
    return out


def functions(found: list[tuple[int, bytes]]) -> list[tuple[int, str]]:
    """(bytes, demangled name) of each function, the largest first."""
    names = function_names(found)
    first = sum(kind == "function" for _, _, kind in imports(found))
    code = Reader(next(data for kind, data in found if kind == CODE))
    sizes = [len(code.bytes()) for _ in range(code.number())]
    mangled = "\n".join(names.get(first + i, "?") for i in range(len(sizes)))
    plain = subprocess.run(["c++filt"], input=mangled, capture_output=True, text=True, check=True).stdout.splitlines()
    return sorted(zip(sizes, plain), reverse=True)


def family(name: str) -> str:
    """The first two namespaces of the function itself, whatever it returns and takes."""
    name = name.replace("(anonymous namespace)::", "")
    name = re.sub(r"^.* (?=\S+\()", "", re.sub(r"<[^<>]*>", "", re.sub(r"<[^<>]*>", "", name)))
    return "::".join(re.split(r"::|\(", name)[:2])


def print_sizes(path: str) -> None:
    found = sections(path)
    for kind, data in found:
        print(f"{len(data):9}  {SECTIONS.get(kind) or 'custom: ' + Reader(data).text()}")
    sizes = functions(found)
    families = collections.Counter()
    for size, name in sizes:
        families[family(name)] += size
    print("\nfunctions by namespace")
    for name, size in families.most_common(30):
        print(f"{size:9}  {name[:120]}")
    print("\nlargest functions")
    for size, name in sizes[:50]:
        print(f"{size:9}  {name[:160]}")


def stamp(modules: list[str]) -> None:
    name = hashlib.sha256(b"".join(pathlib.Path(path).read_bytes() for path in modules)).hexdigest()
    title = b"pteron.build"
    section = bytes([len(title)]) + title + name.encode()
    for path in modules:
        with pathlib.Path(path).open("ab") as file:
            file.write(bytes([CUSTOM, len(section)]) + section)


def main() -> None:
    match sys.argv[1:]:
        case ["exports", part, out]:
            write_exports(part, out)
        case ["sizes", module]:
            print_sizes(module)
        case ["stamp", *modules] if modules:
            stamp(modules)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
