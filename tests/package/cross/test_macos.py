#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A package for macOS, which no machine here can run: load commands and symbols of what was linked.

usage: test_macos.py SOURCE WORK NATIVE SYSTEM
"""
import re
import sys
import unittest

SYSTEM = sys.argv.pop(4)
from support import DECLARED, check_files, unpacked

import macho

PROCESSORS = {"macos-arm64": "arm64", "macos-x64": "x86_64"}
FILES = ("bin/pteron", "lib/libpteron.1.dylib", "lib/pteron/libwgpu_native.dylib")
WGPU = "@rpath/libwgpu_native.dylib"


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tree = unpacked(SYSTEM)
        cls.command, cls.library, cls.wgpu = (macho.read(cls.tree / name) for name in FILES)

    def test_it_holds_what_it_should(self):
        check_files(self, self.tree, set(FILES))

    def test_files_are_for_its_processor(self):
        self.assertEqual({file.processor for file in (self.command, self.library, self.wgpu)}, {PROCESSORS[SYSTEM]})
        self.assertEqual([self.command.kind, self.library.kind], ["program", "library"])
        self.assertEqual([self.command.minimum, self.library.minimum], ["11.0", "11.0"])
        self.assertLessEqual([int(part) for part in self.wgpu.minimum.split(".")], [11, 0])

    def test_what_apple_s_processors_run_is_signed(self):
        if SYSTEM == "macos-arm64":
            self.assertTrue(self.command.signed and self.library.signed and self.wgpu.signed)

    def test_they_need_the_system_and_wgpu_native_only(self):
        for file, others in ((self.command, {WGPU}), (self.library, {WGPU}), (self.wgpu, set())):
            self.assertEqual({name for name in file.libraries if not name.startswith(("/usr/lib/", "/System/Library/"))}, others)

    def test_libraries_are_found_from_where_they_lie(self):
        self.assertEqual(self.command.search_paths, ["@loader_path", "@loader_path/../lib/pteron"])
        self.assertEqual(self.library.search_paths, ["@loader_path", "@loader_path/pteron"])
        self.assertEqual([self.library.name, self.wgpu.name], ["@rpath/libpteron.1.dylib", WGPU])

    def test_every_function_of_wgpu_native_that_is_called_is_there(self):
        for file in (self.command, self.library):
            called = {symbol for symbol, library in file.undefined.items() if library == WGPU}
            self.assertGreater(len(called), 20)
            self.assertLessEqual(called, self.wgpu.defined)

    def test_everything_else_that_is_called_belongs_to_the_system(self):
        for file in (self.command, self.library):
            others = {symbol: library for symbol, library in file.undefined.items() if library != WGPU}
            self.assertEqual({symbol: library for symbol, library in others.items() if not library.startswith("/usr/lib/lib")}, {})
            self.assertIn("_mach_task_self_", others)

    def test_the_library_shows_the_c_functions_only(self):
        others = re.compile("__Z(nw|na|dl|da)|___dso_handle$|__mh_dylib_header$")  # C++ allows a program one new and delete; the linker's own
        shown = {symbol for symbol in self.library.defined if not others.match(symbol)}
        self.assertEqual(shown, {f"_{symbol}" for symbol in DECLARED})


unittest.main()
