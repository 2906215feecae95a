# SPDX-License-Identifier: BSD-3-Clause
"""What ./run, ./test and tools/ say and do, on machines that are made up. usage: test_scripts.py SOURCE"""
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

SOURCE = Path(sys.argv.pop(1))
SCRIPTS = ("run", "test", "pins.txt", "tools/setup", "tools/build", "tools/steps.sh", "tests/tests.txt")
PINS = [line.split() for line in (SOURCE / "pins.txt").read_text().splitlines() if line and not line.startswith("#")]
ROWS = [line.split() for line in (SOURCE / "tests" / "tests.txt").read_text().splitlines() if line and not line.startswith("#")]


class Machine(unittest.TestCase):
    """A folder with the scripts, its name with a space, and programs that stand before the machine's own."""

    def setUp(self):
        self.base = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.base)
        self.project = self.base / "a project"
        for file in SCRIPTS:
            (self.project / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SOURCE / file, self.project / file)
        self.programs = self.base / "bin"
        self.programs.mkdir()
        self.env = {"PATH": f"{self.programs}:/usr/bin:/bin", "HOME": str(self.base / "nowhere")}

    def program(self, name, text):
        path = self.programs / name
        path.write_text("#!/bin/bash\n" + text)
        path.chmod(0o755)

    def stand_in(self, path, text=""):
        """For a script of the project: notes how it is called, then does `text`."""
        (self.project / path).write_text(f'#!/bin/bash\ncd "{self.project}"\necho "{Path(path).name} $*" >> calls\n{text}\n')
        (self.project / path).chmod(0o755)

    def calls(self):
        return (self.project / "calls").read_text().splitlines()

    def stop(self, *command, when):
        """What a command says that gets Ctrl-C once the file `when` is there."""
        listening = ["env", "--default-signal=INT", *command]  # a background job ignores it
        script = subprocess.Popen(listening, cwd=self.project, env=self.env, stderr=subprocess.PIPE, text=True, start_new_session=True)
        while not (self.project / when).exists():
            self.assertIsNone(script.poll())
            time.sleep(0.1)
        os.killpg(script.pid, signal.SIGINT)
        _, err = script.communicate(timeout=20)
        self.assertEqual(script.returncode, -signal.SIGINT)
        return err

    def assert_ended(self, file):
        """The process whose number a file has."""
        number = int((self.project / file).read_text())
        for _ in range(50):
            try:
                os.kill(number, 0)
            except ProcessLookupError:
                return
            time.sleep(0.1)
        self.fail(f"process {number} goes on")

    def call(self, *command, **rest):
        done = subprocess.run(command, cwd=self.project, env=self.env, text=True, capture_output=True, timeout=60, **rest)
        return done.returncode, done.stdout, done.stderr

    def steps(self, code):
        """A script that does steps."""
        (self.project / "script").write_text(f'set -euo pipefail\nroot=$PWD\nsource tools/steps.sh\n{code}\n')
        return "bash", "script"


class Steps(Machine):
    def test_a_step_is_one_line_with_its_time_and_no_noise(self):
        code, out, err = self.call(*self.steps('step noise "making noise" bash -c "echo loud; echo louder >&2"; echo answer'))
        self.assertEqual((code, out), (0, "answer\n"))
        self.assertRegex(err, r"^making noise … \d+ s\n$")
        self.assertEqual((self.project / "build/logs/noise.log").read_text(), "loud\nlouder\n")

    def test_elsewhere_than_on_a_terminal_progress_is_by_quarters(self):
        code, _, err = self.call(*self.steps('count() { for i in 1 2 3 4 5 6 7 8; do echo $i/8 >&3; done; }; step count counting count'))
        self.assertEqual(code, 0)
        self.assertRegex(err, r"^counting … 25 % … 50 % … 75 % … \d+ s\n$")

    def test_a_line_of_progress_may_come_in_pieces(self):
        code, _, err = self.call(*self.steps('slow() { printf 1 >&3; sleep 1.5; echo 2/24 >&3; }; step slow counting slow'))
        self.assertRegex(err, r"^counting … 50 % … \d+ s\n$")

    def test_a_lazy_step_without_work_is_silent(self):
        self.assertEqual(self.call(*self.steps("step --lazy none nothing true")), (0, "", ""))

    def test_a_failure_shows_why_and_where_the_rest_is(self):
        code, _, err = self.call(*self.steps('step bad "trying" bash -c "echo the reason; exit 3"; echo never'))
        self.assertEqual(code, 3)
        self.assertIn("the reason", err)
        self.assertIn(str(self.project / "build/logs/bad.log"), err)

    def test_a_command_inside_of_a_step_that_fails_ends_it(self):
        code, _, err = self.call(*self.steps('two() { false; echo reached; }; step two "two things" two'))
        self.assertEqual(code, 1)
        self.assertNotIn("reached", err)

    def test_on_a_terminal_the_line_is_rewritten(self):
        master, slave = pty.openpty()
        done = subprocess.Popen(self.steps("step nap napping sleep 2"), cwd=self.project, env=self.env, stderr=slave)
        os.close(slave)
        shown = b""
        try:
            while piece := os.read(master, 1000):
                shown += piece
        except OSError:  # how a terminal says that nobody writes any more
            pass
        os.close(master)
        self.assertEqual(done.wait(), 0)
        self.assertIn(b"\r\x1b[Knapping", shown)
        self.assertEqual(shown.count(b"\n"), 1)

    def test_ctrl_c_ends_what_runs_and_says_that_one_can_go_on(self):
        err = self.stop(*self.steps('nap() { echo $BASHPID > nap; exec sleep 30; }; step nap napping nap'), when="nap")
        self.assertIn("the same command goes on from here", err)
        self.assert_ended("nap")


class Setup(Machine):
    def setUp(self):
        super().setUp()
        self.program("id", "echo 1000\n")
        self.program("dpkg-query", "exit 1\n")

    def packages(self, *groups):
        return {pin[2] for pin in PINS if pin[1] == "apt" and pin[0] in groups}

    def test_without_root_one_command_names_every_package(self):
        self.program("sudo", "exit 1\n")
        groups = {group for row in ROWS if row[1] != "full" for group in row[2].split(",")} | {"build", "test", "node"}
        for command, wanted in (("./run", {"build"}), ("./test", groups)):
            code, out, err = self.call(command)
            self.assertEqual((code, out), (1, ""))
            line = next(line for line in err.splitlines() if "apt-get" in line)
            self.assertRegex(line, r"^  sudo apt-get update && sudo apt-get install -y --no-install-recommends \S")
            self.assertEqual(set(line.split("recommends ")[1].split()), self.packages(*wanted))
            self.assertEqual(len(err.splitlines()), 2)

    def test_passwordless_sudo_installs_without_questions(self):
        self.program("sudo", 'shift; echo "sudo $*"; [ "$1" = true ] || exit 0\n')
        self.call("tools/setup", "--system", "test")
        log = (self.project / "build/logs/apt.log").read_text()
        self.assertIn("sudo env DEBIAN_FRONTEND=noninteractive apt-get", log)
        self.assertIn("sudo env DEBIAN_FRONTEND=noninteractive LC_ALL=C dpkg --configure -a", log)

    def test_nothing_to_do_is_silent(self):
        self.program("dpkg-query", 'for p in "${@:3}"; do printf "%s=installed " "$p"; done\n')
        self.assertEqual(self.call("tools/setup", "--system", "build", "wasm"), (0, "", ""))

    def test_an_unknown_group_is_named(self):
        code, _, err = self.call("tools/setup", "frobnicate")
        self.assertEqual((code, err), (2, "setup: pins.txt has no group 'frobnicate'\n"))


class Selection(Machine):
    def names(self, *options):
        code, out, err = self.call("./test", "--list", *options)
        self.assertEqual((code, err), (0, ""))
        return out.split()

    def test_listing_installs_and_builds_nothing(self):
        self.assertEqual(self.names(), [row[0] for row in ROWS if row[1] != "full"])
        self.assertEqual(self.names("--full"), [row[0] for row in ROWS])
        self.assertFalse((self.project / "build").exists())

    def test_a_test_brings_what_it_comes_after(self):
        self.assertEqual(self.names("--only", "unit"), ["unit"])
        self.assertEqual(self.names("--only", "links,unit"), ["unit", "links"])
        self.assertEqual(set(self.names("--only", "web-chat")), {"wasm", "chat-model", "web-chat"})

    def test_a_name_that_no_test_has_is_an_error(self):
        code, _, err = self.call("./test", "--only", "frobnicate")
        self.assertEqual((code, err), (2, "test: no test's name contains 'frobnicate' (see --list)\n"))

    def test_the_table_names_groups_and_tests_that_exist(self):
        groups, names = {pin[0] for pin in PINS}, {row[0] for row in ROWS}
        for row in ROWS:
            self.assertEqual(len(row), 5, row)
            self.assertLessEqual(set(row[2].split(",")) - {"-"}, groups, row)
            self.assertLessEqual(set(row[4].split(",")) - {"-"}, names, row)
        versions = {}
        for pin in PINS:
            self.assertEqual(len(pin), 4, pin)
            self.assertEqual(versions.setdefault((pin[1], pin[2]), pin[3]), pin[3], f"{pin[2]} has two versions")
            if pin[1] == "group":
                self.assertIn(pin[2], groups)


class Testing(Machine):
    """What ./test calls, where nothing is installed or built for real."""

    def setUp(self):
        super().setUp()
        self.stand_in("tools/setup")
        self.stand_in("tools/build")
        self.stand_in("tools/keep_results.py")
        self.program("git", 'case "$*" in *status*) cat changes 2> /dev/null ;; *) echo 0123 ;; esac\n')
        self.program("ctest", 'while [ "$1" != -R ]; do shift; done; echo "ctest $2" >> calls\n')

    def test_only_what_a_test_needs_is_installed_and_built(self):
        self.assertEqual(self.call("./test", "--only", "unit")[0], 0)
        kept = f"keep_results.py 0123 {self.project}/build/results/ctest.xml"
        asked = ["setup --system build test", "setup build test"]
        self.assertEqual(self.calls(), [*asked, "build release unit_tests", "ctest ^(unit)$", kept])

    def test_nothing_is_built_for_tests_of_scripts_and_pages(self):
        self.assertEqual(self.call("./test", "--only", "links")[0], 0)
        self.assertIn("build release build.ninja", self.calls())  # ninja's name for configuring

    def test_results_of_what_is_not_committed_are_not_kept(self):
        (self.project / "changes").write_text(" M test\n")
        self.assertEqual(self.call("./test", "--only", "links")[0], 0)
        self.assertFalse([call for call in self.calls() if call.startswith("keep_results")])

    def test_the_size_of_torch_is_said_before_it_is_fetched_and_what_can_runs_meanwhile(self):
        self.stand_in("tools/setup", 'case $* in "--size export") echo "torch is large" ;; export) until grep -q ctest calls; do sleep 0.1; done; touch fetched ;; esac')
        self.program("ctest", 'while [ "$1" != -R ]; do shift; done; echo "ctest $2 $(ls fetched 2> /dev/null)" >> calls\n')
        code, _, err = self.call("./test", "--only", "plugin")
        self.assertEqual(code, 0)
        self.assertIn("torch is large", err)
        early, late = (call for call in self.calls() if call.startswith("ctest"))
        self.assertEqual(early, "ctest ^(plugin-cpp-lavapipe)$ ")
        self.assertTrue(late.endswith("fetched"), late)
        self.assertIn("plugin-lavapipe", late)

    def test_ctrl_c_also_ends_the_fetching_of_torch(self):
        self.stand_in("tools/setup", 'if [ "$*" = export ]; then echo $BASHPID > fetching; exec sleep 30; fi')
        self.stand_in("tools/build", "exec sleep 30")
        self.stop("./test", "--only", "plugin-lavapipe", when="fetching")
        self.assert_ended("fetching")


class ModuleSizes(unittest.TestCase):
    """tools/wasm_module.py sizes: a module with an import and two functions, whose names it carries."""

    def test_functions_are_counted_by_name_and_namespace(self):
        section = lambda kind, *parts: bytes([kind, sum(map(len, parts))]) + b"".join(parts)
        text = lambda words: bytes([len(words)]) + words
        names = b"".join(bytes([index]) + text(name) for index, name in ((1, b"_ZN6pteron3ops3addEi"), (2, b"_ZN6pteron3ops8multiplyEi")))
        module = b"\0asm\1\0\0\0" + b"".join((
            section(1, b"\1\x60\0\0"),
            section(2, b"\1", text(b"gpu"), text(b"draw"), b"\0\0"),
            section(3, b"\2\0\0"),
            section(10, b"\2", text(b"\0\x0b"), text(b"\0\1\1\x0b")),
            section(0, text(b"name"), section(1, b"\2", names)),
        ))
        with tempfile.NamedTemporaryFile(suffix=".wasm") as file:
            file.write(module)
            file.flush()
            said = subprocess.run([SOURCE / "tools" / "wasm_module.py", "sizes", file.name], capture_output=True, text=True, check=True).stdout
        lines = [tuple(line.split(maxsplit=1)) for line in said.splitlines() if line.startswith(" ")]
        self.assertIn(("9", "code"), lines)
        self.assertIn(("6", "pteron::ops"), lines)
        self.assertEqual(lines[-2:], [("4", "pteron::ops::multiply(int)"), ("2", "pteron::ops::add(int)")])


class OpTables(unittest.TestCase):
    """tools/embed_kernels.py: what would not get into the tables of ops and passes is an error."""

    def embed(self, sources):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in sources.items():
                path = Path(folder, "ops", name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            done = subprocess.run([SOURCE / "tools" / "embed_kernels.py", f"{folder}/ops", f"{folder}/out"], capture_output=True, text=True)
            table = Path(folder, "out", "kernels.cpp")
            return done.returncode, done.stderr, table.read_text() if table.exists() else ""

    def assert_refused(self, sources, *words):
        code, said, _ = self.embed(sources)
        self.assertEqual(code, 1, said)
        for word in words:
            self.assertIn(word, said)

    def test_lists_and_passes_are_found(self):
        code, said, table = self.embed({
            "flip.cpp": "extern const OpList flip_ops = entries;\n",
            "passes/flips.cpp": 'const Pass flips_pass{"flips", "two flips are none", run};\n',
            "passes/passes.cpp": "static constexpr std::array passes{&ops::flips_pass};\n",
        })
        self.assertEqual(code, 0, said)
        self.assertIn("{ops::flip_ops}", table)

    def test_frequent_phrases_of_kernels_are_bytes(self):
        code, said, table = self.embed({"flip.wgsl": "// Why.\n  let x = vec4f(y, z) + 1.0;  // so\n", "passes/passes.cpp": "static constexpr std::array passes{};\n"})
        self.assertEqual(code, 0, said)
        text = re.search(r'"flip", R"wgsl\((.*?)\)wgsl"', table, re.S)[1]
        phrases = re.search(r"phrases\[\] = \{(.*)\};", table, re.S)[1]
        meaning = [found[0] for found in re.findall(r'R"wgsl\((.*?)\)wgsl"|(\{\})', phrases, re.S)]
        self.assertLess(len(text), 20)
        self.assertEqual("".join(ord(c) < 32 and meaning[ord(c)] or c for c in text), "\nlet x = vec4f(y, z) + 1.0;\n")
        code, said, _ = self.embed({"flip.wgsl": "let x = 1;\a\n", "passes/passes.cpp": "static constexpr std::array passes{};\n"})
        self.assertIn("a kernel has the character 7", said)

    def test_a_second_list_is_refused(self):
        self.assert_refused({"flip.cpp": "extern const OpList flip_ops = entries;\nextern const OpList turn_ops = more;\n"},
                            "flip.cpp", "'turn_ops'", "one list of ops, flip_ops")

    def test_a_list_with_another_name_is_refused(self):
        self.assert_refused({"flip.cpp": "extern const OpList turn_ops = entries;\n"}, "flip.cpp", "'turn_ops'")

    def test_a_source_without_a_list_is_refused(self):
        for text in ("", "const OpEntry entries[] = {};\n", "const OpList flip_ops = entries;\n"):
            self.assert_refused({"flip.cpp": text}, "flip.cpp: registers no ops", "flip_ops")

    def test_a_pass_that_is_not_listed_is_refused(self):
        self.assert_refused({"passes/flips.cpp": "const Pass flips_pass{run};\n", "passes/passes.cpp": "passes{&ops::turns_pass};\n"},
                            "flips.cpp", "'flips_pass' would never run")


class Texts(unittest.TestCase):
    def test_scripts_tell_their_usage(self):
        for script in ("run", "test", *(f"tools/{name}" for name in ("setup", "build", "build_web", "serve_web", "default_model"))):
            self.assertRegex((SOURCE / script).read_text(), re.compile(rf"^# usage: (\./)?{script}\b", re.M))


if __name__ == "__main__":
    unittest.main()
