#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The habits of the house: format, what may include what, how long functions and files get.

usage: style_check.py SOURCE_DIR
"""
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from measure import functions, longest, python_functions

SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
FORMATTER = "clang-format-22"
MOST_LINES = {"function": 60, "file": 400}


def files(*patterns: str) -> list[pathlib.Path]:
    listed = subprocess.run(["git", "-C", SOURCE, "ls-files", "-co", "--exclude-standard", *patterns], capture_output=True, text=True)
    if listed.returncode == 0:
        return [SOURCE / name for name in listed.stdout.splitlines() if (SOURCE / name).exists()]
    away = {"build", "node_modules", "dist"}  # a copy without git
    found = (path for pattern in patterns for path in SOURCE.rglob(pattern))
    return sorted(path for path in found if not away & set(path.relative_to(SOURCE).parts))


def name_of(path: pathlib.Path) -> str:
    return str(path.relative_to(SOURCE))


CPP = files("*.cpp", "*.h")
# Those of tools/ have no suffix.
PYTHON = files("*.py") + [path for path in files("tools/*") if not path.suffix and path.is_file() and "python3" in path.read_text()[:30]]
CODE = CPP + files("*.ts", "*.py", "*.wgsl", "*.cmake")


class Format(unittest.TestCase):
    def test_cpp_is_as_clang_format_leaves_it(self):
        self.assertIsNotNone(shutil.which(FORMATTER), f"{FORMATTER} is not installed; run tools/setup lint")
        done = subprocess.run([FORMATTER, "--dry-run", "-Werror", *map(str, CPP)], capture_output=True, text=True)
        wrong = sorted(set(re.findall(r"^(\S+?):\d+:\d+: error", done.stderr, re.M)))
        self.assertEqual([], [name_of(pathlib.Path(path)) for path in wrong], f"run {FORMATTER} -i on these files")

    def test_every_source_names_the_licence(self):
        without = [name_of(path) for path in CPP if "SPDX-License-Identifier" not in path.read_text()[:100]]
        self.assertEqual([], without)


class Includes(unittest.TestCase):
    """The table of docs/architecture.md: a folder uses what its row says, and nothing else."""

    @classmethod
    def setUpClass(cls):
        text = (SOURCE / "docs" / "architecture.md").read_text()
        table = text[text.index("| folder | owns | may use |") :].partition("\n\n")[0]
        rows = re.findall(r"^\| `([\w/]+)` \|.*\| ([^|]*) \|$", table, re.M)
        cls.table = {folder: set(re.findall(r"\w+", uses)) for folder, uses in rows}

    def used(self, folder: str) -> dict[str, str]:
        """The folders of src whose headers the sources of a folder include, and where."""
        out = {}
        for path in CPP:
            if not name_of(path).startswith(folder + "/") or path.stem.endswith("_test"):
                continue
            for header in re.findall(r'^#include "(\w+/[^"]+)"', path.read_text(), re.M):
                top = header.split("/")[0]
                if (SOURCE / "src" / header).exists() and f"src/{top}" != folder:
                    out.setdefault(top, f"{name_of(path)} includes {header}")
        return out

    def test_every_folder_has_a_row(self):
        folders = {f"src/{path.name}" for path in (SOURCE / "src").iterdir() if path.is_dir()}
        self.assertEqual(set(), folders - set(self.table))

    def test_what_is_used_is_allowed_and_what_is_allowed_is_used(self):
        for folder, allowed in self.table.items():
            if not folder.startswith(("src/", "executorch", "include")):
                continue
            used = self.used(folder)
            with self.subTest(folder=folder):
                self.assertEqual([], [where for top, where in used.items() if top not in allowed])
                self.assertEqual(set(), allowed - set(used), "the table allows what is not used")

    def test_it_goes_one_way(self):
        order = list(self.table)
        for folder, allowed in self.table.items():
            below = {name.split("/")[1] for name in order[: order.index(folder)] if name.startswith("src/")}
            self.assertLessEqual(allowed, below, f"{folder} uses what stands below it in the table")

    def test_public_headers_include_only_each_other(self):
        for path in files("include/*.h"):
            for header in re.findall(r'^#include (\S+)', path.read_text(), re.M):
                self.assertRegex(header, r"^<(pteron/\w+\.h|[a-z_]+|\w+\.h)>$", name_of(path))


class Lengths(unittest.TestCase):
    """What is longer has a line in long.txt with the reason."""

    @classmethod
    def setUpClass(cls):
        lines = (SOURCE / "tests" / "style" / "long.txt").read_text().splitlines()
        cls.known = {line.split("  ")[0].strip(): line.partition("  ")[2].strip() for line in lines if line and line[0] != "#"}

    def check(self, kind: str, lengths: dict[str, int]):
        long = {name for name, lines in lengths.items() if lines > MOST_LINES[kind]}
        known = {name for name in self.known if (" " in name) == (kind == "function")}
        self.assertEqual(set(), long - known, f"a {kind} has more than {MOST_LINES[kind]} lines; cut it, or give the reason in long.txt")
        self.assertEqual(set(), known - long, "long.txt names what is short or gone")

    def test_functions_are_short(self):
        sources = [(path, functions) for path in CPP] + [(path, python_functions) for path in PYTHON]
        self.check("function", {f"{name_of(path)} {name}": lines for path, find in sources for name, lines in longest(find(path.read_text())).items()})

    def test_files_are_short(self):
        self.check("file", {name_of(path): path.read_text().count("\n") for path in CODE})

    def test_every_reason_is_one(self):
        for name, reason in self.known.items():
            self.assertGreater(len(reason.split()), 3, name)

    def assert_found(self, expected: list[tuple[str, int, int]], text: str, find=functions):
        self.assertEqual(expected, [(f.name, f.first, f.last) for f in find(text)])

    def test_functions_are_found(self):
        text = 'struct A {\n  int f() const {\n    return g("}");\n  }\n};\nint B::h(int a,\n         int b) {\n  if (a) {\n  }\n}\nint x[] = {1, 2};\n'
        self.assert_found([("f", 2, 4), ("B::h", 6, 10)], text)

    def test_constructors_with_braces_are_found(self):
        text = "A::A(int x)\n    : a{x}, b_(x), c<int>{[] { return 1; }()} {\n  f();\n}\nstruct B {\n  B() noexcept : b{1} {\n  }\n};\nvoid g() {\n}\n"
        self.assert_found([("A::A", 1, 4), ("B", 6, 7), ("g", 9, 10)], text)

    def test_tests_are_named_by_the_macro_s_arguments(self):
        self.assert_found([("A.B", 1, 2), ("A.C", 3, 3)], "TEST(A, B) {\n}\nTEST_F(A, C) {}\n")

    def test_functions_of_python_are_found(self):
        text = "if x:\n    def a():\n        def inner(): pass\n        return inner\nclass B:\n    @cached\n    async def c(self):\n        pass\n"
        self.assert_found([("a", 2, 4), ("B.c", 7, 8)], text, python_functions)

    def test_of_overloads_the_longest_counts(self):
        self.assertEqual({"f": 3, "g": 1}, longest(functions("void f(int a) {\n  b();\n}\nvoid f() {}\nvoid g() {}\n")))

unittest.main()
