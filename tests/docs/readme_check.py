#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Does what the README and the pages behind its doors show, as it stands there. TypeScript is run by web-tests.

usage: readme_check.py SOURCE_DIR BUILD_DIR MODEL.gguf
"""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np

SOURCE, BUILD, GGUF = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
del sys.argv[1:4]
PTERON = BUILD / "pteron"
PROGRAM = SOURCE / "tests" / "data" / "ops" / "add" / "itself" / "model.pte"  # x + x of [3, 5]
PAGES = ["README.md", "docs/programs.md", "docs/cpp.md", "docs/python.md", "docs/web.md"]
# What sets up, builds, serves or takes long, and who does it.
ELSEWHERE = {
    "./run": "a fresh machine",
    "./test": "everyone",
    "./run web": "web-serve, web-chat",
    "./run selftest": "cli",
    "cmake --install build/release --prefix PREFIX": "install, and below",
    "pip install .": "package",
}


def text(page: str) -> str:
    return (SOURCE / page).read_text()


def code(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text(page), re.M | re.S)


def sections(page: str) -> dict[str, str]:
    parts = re.split(r"^#+ (.*)$", text(page), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def commands(words: str) -> list[list[str]]:
    lines = re.findall(r"^    ((?:\./|python |cmake |pip ).*)$", words, re.M)
    return [command for command in (shlex.split(line, comments=True) for line in lines) if shlex.join(command) not in ELSEWHERE]


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        shutil.copy(PROGRAM, self.folder / "model.pte")
        np.save(self.folder / "x.npy", np.full((3, 5), 2, np.float32))

    def call(self, *command, given=None):
        # What `tune` finds out is not for others; compiled kernels are.
        kernels = os.environ.get("XDG_CACHE_HOME", str(pathlib.Path.home() / ".cache"))
        own = {"XDG_CACHE_HOME": str(self.folder / "cache"), "MESA_SHADER_CACHE_DIR": kernels, "PYTHONWARNINGS": "ignore"}
        environment = {**os.environ, **own}
        done = subprocess.run([*map(str, command)], cwd=self.folder, env=environment, input=given, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, f"{command}:\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def do(self, command, given=None):
        if command[0] == "./run":
            return self.call(PTERON, *command[1:], given=given)
        self.assertEqual(command[0], "python", command)
        return self.call(sys.executable, *command[1:])


class Shell(Folder):
    def test_nothing_is_left_out(self):
        """Every command of a page belongs to a section that a test here does."""
        done = {"I have a .pte", "I have a GGUF or a Hugging Face model", "Running programs"}
        for page in PAGES:
            for title, words in sections(page).items():
                self.assertTrue(not commands(words) or title.replace("`", "") in done, f"{page}: {title}")

    def test_i_have_a_pte(self):
        for command in commands(sections("README.md")["I have a `.pte`"]):
            self.do(command)
        np.testing.assert_array_equal(np.load(self.folder / "output_0.npy"), np.full((3, 5), 4, np.float32))

    def test_running_programs(self):
        lines = commands(sections("docs/programs.md")["Running programs"])
        self.assertGreater(len(lines), 5)
        for command in lines:
            self.do(command)

    def test_i_have_a_gguf_or_a_hugging_face_model(self):
        sys.path.insert(0, str(SOURCE / "tests" / "plugin"))
        from test_export import CONFIG, random_weights, write_folder

        (self.folder / "model.pte").unlink()
        (self.folder / "model.gguf").symlink_to(GGUF)
        config = {**CONFIG, "model_type": "llama"}
        write_folder(self.folder / "HF_DIR", config, random_weights(config))
        answers = {}
        for command in commands(sections("README.md")["I have a GGUF or a Hugging Face model"]):
            surely = ["--temperature", "0"] if command[1] == "chat" else []  # what is drawn may be anything
            answers[command[1]] = self.do([*command, *surely], given="What is the capital of France?\n")
            if command[1] == "convert":
                shutil.copy(self.folder / "model.pte", self.folder / "chat.pte")
        self.assertIn("Paris", answers["chat"])
        self.assertLessEqual(set(json.loads(answers["generate"])), {"red", "blue"})
        self.assertNotEqual((self.folder / "model.pte").read_bytes()[:4096], (self.folder / "chat.pte").read_bytes()[:4096])


class Cpp(Folder):
    def test_programs_compile_against_what_is_installed_and_run(self):
        self.call("cmake", "--install", BUILD, "--prefix", self.folder / "PREFIX")
        self.call(PTERON, "convert", GGUF, "-o", "chat.pte", "--quant", "q4", "--max-context", "64")
        (project,) = code("docs/cpp.md", "cmake")
        (self.folder / "CMakeLists.txt").write_text(project)
        for (main,), answer in ((code("README.md", "cpp"), "0\n"), (code("docs/cpp.md", "cpp"), ".")):
            (self.folder / "main.cpp").write_text(main)
            self.call("cmake", "-G", "Ninja", "-B", "build", "-DCMAKE_PREFIX_PATH=PREFIX", ".")
            self.call("cmake", "--build", "build")
            self.assertIn(answer, self.call(self.folder / "build" / "app"))


class Python(Folder):
    def test_readme(self):
        arrays, runtime = code("README.md", "python")
        given = "import numpy as np, torch\ninputs = [torch.ones(3, 5)]\narray = np.ones((3, 5), np.float32)\n"
        check = "assert float(outputs[0].sum()) == 30\n"
        self.call(sys.executable, "-c", given + runtime + check + arrays + check)

    def test_example(self):
        shown = self.call(sys.executable, SOURCE / "examples" / "python" / "run.py", "model.pte", "x.npy")
        self.assertEqual("float32 (3, 5) [4. 4. 4. 4. 4. 4. 4. 4.]\n", shown)

    def test_page(self):
        arrays, language, export = code("docs/python.md", "python")
        self.assertIn("['forward'] 4.0", self.call(sys.executable, "-c", arrays))
        data = SOURCE / "tests" / "data"
        shutil.copy(data / "llama_tiny" / "rope_llama" / "model.pte", self.folder / "llama.pte")
        shutil.copytree(data / "tiny_tokenizer", self.folder, dirs_exist_ok=True)
        self.assertIn("(512,)", self.call(sys.executable, "-c", "import pteron\n" + language))
        self.call(sys.executable, "-c", export)
        report = json.loads(self.call(PTERON, "info", "linear.pte", "--json"))
        self.assertTrue(report["methods"][0]["runnable"])


unittest.main()
