#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The package for Linux on arm64: what is in it, and that it plans programs as this machine's does, under qemu.

usage: test_linux_arm64.py SOURCE WORK NATIVE      NATIVE: the command of this machine
"""
import unittest

from support import DATA, DECLARED, NATIVE, check_files, programs, run, unpacked

import elf

QEMU = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]
TOOL = "aarch64-linux-gnu-"


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tree = unpacked("linux-arm64")
        cls.command = [*QEMU, cls.tree / "bin" / "pteron"]

    def test_it_holds_what_it_should(self):
        check_files(self, self.tree, {"bin/pteron", "lib/libpteron.so.1", "lib/libpteron.a", "lib/pteron/libwgpu_native.so"})

    def test_files_are_for_this_processor_and_need_nothing_but_the_c_library(self):
        for name, needs in elf.in_folder(self.tree, TOOL + "objdump").items():
            self.assertIn("AArch64", run(TOOL + "readelf", "-h", self.tree / name))
            allowed = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "ld-linux-aarch64.so.1", "libgcc_s.so.1", "libwgpu_native.so"}
            self.assertLessEqual(needs.libraries, allowed, name)

    def test_the_library_shows_the_c_functions_only(self):
        lines = run(TOOL + "nm", "-D", "--defined-only", self.tree / "lib" / "libpteron.so").splitlines()
        self.assertEqual({line.split()[-1] for line in lines}, DECLARED)

    def test_it_is_the_same_version(self):
        self.assertEqual(run(*self.command, "--version"), run(NATIVE, "--version"))

    def test_programs_are_planned_as_on_this_machine(self):
        for name in programs():
            with self.subTest(program=name):
                given = ["info", DATA / name, "--json"]
                self.assertEqual(run(*self.command, *given), run(NATIVE, *given))


unittest.main()
