# SPDX-License-Identifier: BSD-3-Clause
"""What programs and libraries of macOS ask of the system: their load commands and their symbols."""
import struct
from dataclasses import dataclass, field
from pathlib import Path

MAGIC_64 = 0xFEEDFACF
PROCESSORS = {0x0100000C: "arm64", 0x01000007: "x86_64"}
KINDS = {2: "program", 6: "library"}
LOAD_DYLIB, ID_DYLIB, RPATH, SYMTAB, SIGNATURE, BUILD_VERSION = 0xC, 0xD, 0x8000001C, 0x2, 0x1D, 0x32
EXTERNAL, PRIVATE, TYPE, UNDEFINED, DEBUG = 0x01, 0x10, 0x0E, 0x0, 0xE0


@dataclass
class File:
    processor: str
    kind: str
    name: str = ""  # a library's own
    minimum: str = ""  # version of macOS
    signed: bool = False
    libraries: set[str] = field(default_factory=set)
    search_paths: list[str] = field(default_factory=list)
    defined: set[str] = field(default_factory=set)  # what others may use
    undefined: set[str] = field(default_factory=set)


def text_at(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode()


def read_symbols(data: bytes, at: int, out: File) -> None:
    symbols, count, strings, _ = struct.unpack_from("<4I", data, at + 8)
    for i in range(count):
        name, kind = struct.unpack_from("<IB", data, symbols + 16 * i)
        if kind & (DEBUG | PRIVATE) or not kind & EXTERNAL:
            continue
        (out.undefined if kind & TYPE == UNDEFINED else out.defined).add(text_at(data, strings + name))


def read(path: Path) -> File:
    data = path.read_bytes()
    magic, processor, _, kind, commands = struct.unpack_from("<5I", data)
    if magic != MAGIC_64:
        raise SystemExit(f"{path} is no file of macOS with 64 bits")
    out = File(PROCESSORS[processor], KINDS[kind])
    at = 32
    for _ in range(commands):
        command, size = struct.unpack_from("<II", data, at)
        offset = struct.unpack_from("<I", data, at + 8)[0]
        if command == LOAD_DYLIB:
            out.libraries.add(text_at(data, at + offset))
        elif command == ID_DYLIB:
            out.name = text_at(data, at + offset)
        elif command == RPATH:
            out.search_paths.append(text_at(data, at + offset))
        elif command == BUILD_VERSION:
            version = struct.unpack_from("<I", data, at + 12)[0]
            out.minimum = f"{version >> 16}.{version >> 8 & 255}"
        elif command == SYMTAB:
            read_symbols(data, at, out)
        out.signed |= command == SIGNATURE
        at += size
    return out
