# SPDX-License-Identifier: BSD-3-Clause
"""What programs and libraries of macOS ask of the system: their load commands and their symbols."""
import struct
from dataclasses import dataclass, field
from pathlib import Path

MAGIC_64 = 0xFEEDFACF
PROCESSORS = {0x0100000C: "arm64", 0x01000007: "x86_64"}
KINDS = {2: "program", 6: "library"}
LOADED = {0xC, 0x80000018, 0x8000001F}  # libraries: needed, weakly, or shown as its own
ID_DYLIB, RPATH, SYMTAB, SIGNATURE = 0xD, 0x8000001C, 0x2, 0x1D
BUILD_VERSION, VERSION_MIN = 0x32, 0x24  # the second is older
EXTERNAL, PRIVATE, TYPE, UNDEFINED, DEBUG = 0x01, 0x10, 0x0E, 0x0, 0xE0


@dataclass
class File:
    processor: str
    kind: str
    name: str = ""  # a library's own
    minimum: str = ""  # version of macOS
    signed: bool = False
    libraries: list[str] = field(default_factory=list)
    search_paths: list[str] = field(default_factory=list)
    defined: set[str] = field(default_factory=set)  # what others may use
    undefined: dict[str, str] = field(default_factory=dict)  # and the library that has to have it


def text_at(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode()


def read_symbols(data: bytes, at: int, out: File) -> None:
    symbols, count, strings, _ = struct.unpack_from("<4I", data, at + 8)
    for i in range(count):
        name, kind, _, about = struct.unpack_from("<IBBH", data, symbols + 16 * i)
        if kind & (DEBUG | PRIVATE) or not kind & EXTERNAL:
            continue
        if kind & TYPE == UNDEFINED:
            library = about >> 8  # its place in the list, from 1 on; beyond the list: no particular one
            out.undefined[text_at(data, strings + name)] = out.libraries[library - 1] if 1 <= library <= len(out.libraries) else ""
        else:
            out.defined.add(text_at(data, strings + name))


def read(path: Path) -> File:
    data = path.read_bytes()
    magic, processor, _, kind, commands = struct.unpack_from("<5I", data)
    if magic != MAGIC_64:
        raise SystemExit(f"{path} is no file of macOS with 64 bits")
    out = File(PROCESSORS[processor], KINDS[kind])
    at, symbols = 32, None
    for _ in range(commands):
        command, size = struct.unpack_from("<II", data, at)
        offset = struct.unpack_from("<I", data, at + 8)[0]
        if command in LOADED:
            out.libraries.append(text_at(data, at + offset))
        elif command == ID_DYLIB:
            out.name = text_at(data, at + offset)
        elif command == RPATH:
            out.search_paths.append(text_at(data, at + offset))
        elif command in (BUILD_VERSION, VERSION_MIN):
            version = struct.unpack_from("<I", data, at + 12)[0] if command == BUILD_VERSION else offset
            out.minimum = f"{version >> 16}.{version >> 8 & 255}"
        elif command == SYMTAB:
            symbols = at
        out.signed |= command == SIGNATURE
        at += size
    if symbols is not None:
        read_symbols(data, symbols, out)  # they name libraries by their place in the list
    return out
