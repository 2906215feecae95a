#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Is the platform table what its rows and recorded results give, and are results recorded rightly?

usage: platforms_check.py SOURCE_DIR
"""
import importlib.machinery
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
sys.dont_write_bytecode = True
LOADER = importlib.machinery.SourceFileLoader("platforms", str(SOURCE / "tools" / "platforms"))
platforms = importlib.util.module_from_spec(importlib.util.spec_from_loader("platforms", LOADER))
LOADER.exec_module(platforms)
AGE = platforms.age
TESTS = {"quick": False, "fast": False, "long": True, "longer": True}
CTEST = """cmake_minimum_required(VERSION 3.25)
project(example NONE)
enable_testing()
foreach(name quick long after)
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E true)
endforeach()
add_test(NAME longer COMMAND ${CMAKE_COMMAND} -E false)
add_test(NAME fast COMMAND ${CMAKE_COMMAND} -E echo "adapter: a GPU")
set_tests_properties(longer PROPERTIES FIXTURES_SETUP needed)
set_tests_properties(after PROPERTIES FIXTURES_REQUIRED needed)
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
        passed = {"status": "passed", "commit": "0123456789ab", "date": "2026-01-02"}
        records = {"long": passed, "quick": passed, "fast": passed}
        row = {"platform": "here", "tests": ["quick", "long", "longer", "fast"]}
        here = "passed at 0123456789ab, 2026-01-02"
        proof = f"`./test`: `quick`, `fast` ({here})<br>`./test --full`: `long` ({here}); `longer` (not recorded yet)"
        self.assertEqual(platforms.proof(row, TESTS, records), proof)
        when = "2026-01-02 at 0123456789ab"
        self.assertEqual(platforms.in_short(row, TESTS, records), f"3 of 4 tests passed, 1 not recorded yet; {when}")
        records["longer"] = passed | {"status": "failed", "date": "2026-01-03"}
        self.assertEqual(platforms.in_short(row, TESTS, records), f"3 of 4 tests passed; {when}; 2026-01-03 at 0123456789ab; failed: `longer`")
        self.assertEqual(platforms.in_short({"tests": ["none"]}, TESTS, records), "0 of 1 tests passed, 1 not recorded yet")
        self.assertEqual(platforms.in_short({"missing": "no time"}, TESTS, records), "not run here")
        records["quick"] = passed | {"adapter": "itself"}
        self.assertEqual(platforms.gpu(row | {"adapter": "in software"}, records), "in software<br>`itself`")
        self.assertEqual(platforms.proof({"missing": "no time"}, TESTS, records), "**not run here**: no time")


class Recording(unittest.TestCase):
    """Commits by their age in this history: the one called "gone" is not in it."""

    AGES = {"new": 0, "old": 3, "older": 7, "gone": sys.maxsize}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        platforms.age = self.AGES.get

    def entry(self, commit, status="passed"):
        return {"status": status, "commit": commit, "date": "2026-01-02"}

    def record(self, records, *kept):
        folders = [self.folder / str(number) for number, _ in enumerate(kept)]
        for folder, results in zip(folders, kept):
            folder.mkdir()
            (folder / "tests.json").write_text(json.dumps({name: entry | {"seconds": 1.5} for name, entry in results.items()}))
        return platforms.record(records, folders, {*TESTS, "fresh", "other"})

    def test_the_latest_result_counts(self):
        before = {"quick": self.entry("old"), "long": self.entry("old"), "no row has it": self.entry("new")}
        here = {"quick": self.entry("new", "failed"), "long": self.entry("older", "failed"), "longer": self.entry("gone")}
        elsewhere = {"quick": self.entry("older"), "fast": self.entry("older"), "no row has it": self.entry("new")}
        expected = {"quick": self.entry("new", "failed"), "long": self.entry("old"), "fast": self.entry("older")}
        self.assertEqual(self.record(before, here, elsewhere), expected)

    def test_commits_are_as_old_as_git_says(self):
        git = lambda *words: subprocess.run(["git", *words], cwd=SOURCE, check=True, capture_output=True, text=True).stdout.strip()
        self.assertEqual(AGE(git("rev-parse", "HEAD")), 0)
        self.assertEqual(AGE("f" * 40), sys.maxsize)

    def test_results_with_parts(self):
        parts = [{"part": "run", "status": "passed", "commit": "old"}, {"part": "python", "status": "failed", "commit": "new"}]
        (self.folder / "fresh.json").write_text(json.dumps({"commit": "old", "status": "failed", "total": 9, "parts": parts}))
        refused = {"commit": "new", "status": "not run", "why": "it forbids mounts", "total": 9, "parts": []}
        (self.folder / "other.json").write_text(json.dumps(refused))
        records = platforms.record({}, [self.folder], {"fresh", "other"})
        self.assertEqual((records["fresh"]["status"], records["fresh"]["commit"]), ("failed, 1 of 9 parts (python: new)", "old"))
        self.assertEqual(records["other"]["status"], "not run: it forbids mounts")

    def test_what_ctest_reports_is_kept(self):
        (self.folder / "CMakeLists.txt").write_text(CTEST)
        subprocess.run(["cmake", "."], cwd=self.folder, check=True, stdout=subprocess.DEVNULL)
        report = self.folder / "report.xml"
        subprocess.run(["ctest", "--output-junit", report], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        loader = importlib.machinery.SourceFileLoader("keep_results", str(SOURCE / "tools" / "keep_results.py"))
        keep = importlib.util.module_from_spec(importlib.util.spec_from_loader("keep_results", loader))
        loader.exec_module(keep)
        keep.RESULTS = self.folder / "tests.json"
        for commit, reports in (("old", [report]), ("new", [self.folder / "none.xml"])):  # the second was stopped
            keep.sys = types.SimpleNamespace(argv=["", commit, *reports])
            keep.main()
        kept = platforms.results(self.folder)
        expected = {"quick": "passed", "long": "passed", "longer": "failed", "fast": "passed"}
        self.assertEqual({name: entry["status"] for name, entry in kept.items()}, expected)
        self.assertEqual({entry["commit"] for entry in kept.values()}, {"old"})
        self.assertEqual({name: entry["adapter"] for name, entry in kept.items() if "adapter" in entry}, {"fast": "a GPU"})


unittest.main()
