#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Is the platform table what its rows and recorded results give, and are results recorded rightly?

usage: platforms_check.py SOURCE_DIR
"""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
sys.dont_write_bytecode = True
LOADER = importlib.machinery.SourceFileLoader("platforms", str(SOURCE / "tools" / "platforms"))
platforms = importlib.util.module_from_spec(importlib.util.spec_from_loader("platforms", LOADER))
LOADER.exec_module(platforms)
TESTS = {"quick": False, "long": True, "longer": True}
CTEST = """cmake_minimum_required(VERSION 3.25)
project(example NONE)
enable_testing()
foreach(name quick long)
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E true)
endforeach()
add_test(NAME longer COMMAND ${CMAKE_COMMAND} -E false)
"""


class Table(unittest.TestCase):
    def test_pages_are_what_the_generator_gives(self):
        done = subprocess.run([sys.executable, SOURCE / "tools" / "platforms", "--check"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_rows_name_tests_that_exist(self):
        platforms.check_rows([{"platform": "here", "tests": ["quick"]}], TESTS)
        with self.assertRaisesRegex(SystemExit, "names the test 'quack', which does not exist"):
            platforms.check_rows([{"platform": "here", "tests": ["quack"]}], TESTS)

    def test_rows_say_how_they_are_tested_in_one_way(self):
        for row in ({"platform": "here"}, {"platform": "here", "tests": ["quick"], "missing": "no time"}):
            with self.assertRaisesRegex(SystemExit, "'here' has not just one of tests, record and missing"):
                platforms.check_rows([row], TESTS)

    def test_cells(self):
        records = {"long": {"status": "passed", "commit": "0123456789ab", "date": "2026-01-02"}}
        row = {"platform": "here", "tests": ["quick", "long", "longer"]}
        proof = "`./test`: `quick`; `./test --full`: `long` (passed at 0123456789ab, 2026-01-02), `longer` (not recorded yet)"
        self.assertEqual(platforms.proof(row, TESTS, records), proof)
        self.assertEqual(platforms.in_short(row, TESTS, records), "`./test`, more in `./test --full`")
        self.assertEqual(platforms.proof({"missing": "no time"}, TESTS, records), "**not run here**: no time")


class Recording(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name, value in (("RESULTS", self.folder), ("LOG", self.folder / "Testing/Temporary/LastTest.log"), ("output", self.git)):
            self.addCleanup(setattr, platforms, name, getattr(platforms, name))
            setattr(platforms, name, value)
        self.changes, self.committed = "", "0"

    def git(self, *command):
        return {"status": self.changes, "log": self.committed, "rev-parse": "f" * 40}[command[1]]

    def run_tests(self):
        (self.folder / "CMakeLists.txt").write_text(CTEST)
        subprocess.run(["cmake", "."], cwd=self.folder, check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["ctest"], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def test_results_of_what_takes_long(self):
        self.run_tests()
        os.utime(platforms.LOG, (86400 * 365, 86400 * 365))
        entry = lambda status: {"status": status, "commit": "f" * 12, "date": "1971-01-01"}
        old = {"other": {"status": "passed", "commit": "0" * 12, "date": "1970-01-01"}}
        expected = {"long": entry("passed"), "longer": entry("failed"), **old}
        self.assertEqual(platforms.record(TESTS, old), expected)

    def test_results_from_before_the_commit_are_not_its_own(self):
        self.run_tests()
        self.committed = str(10**11)
        self.assertEqual(platforms.record(TESTS, {}), {})

    def test_results_in_files(self):
        parts = [{"part": "run", "status": "passed"}, {"part": "python", "status": "failed"}]
        (self.folder / "fresh.json").write_text(json.dumps({"commit": "a" * 40, "status": "failed", "parts": parts}))
        refused = {"commit": "b" * 40, "status": "not run", "why": "it forbids mounts", "parts": []}
        (self.folder / "other.json").write_text(json.dumps(refused))
        records = platforms.record(TESTS, {})
        self.assertEqual((records["fresh"]["status"], records["fresh"]["commit"]), ("failed, 1 of 2 parts", "a" * 12))
        self.assertEqual(records["other"]["status"], "not run: it forbids mounts")

    def test_changes_that_are_not_committed_have_no_results(self):
        self.changes = " M README.md"
        with self.assertRaisesRegex(SystemExit, "not committed"):
            platforms.record(TESTS, {})


unittest.main()
