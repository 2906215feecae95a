#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The package for Windows: what is in it, and that it works under Wine on lavapipe as this machine's does.

usage: test_windows.py SOURCE WORK NATIVE MODEL      MODEL: a chat model
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import unittest
import urllib.request

import numpy as np

MODEL = pathlib.Path(sys.argv.pop(4))
from fixtures import cases, difference, tensors
from support import DATA, DECLARED, NATIVE, SOURCE, WORK, check_files, programs, run, unpacked
from wine import Wine

OBJDUMP = "x86_64-w64-mingw32-objdump"
#: What every Windows 10 has; and Visual C++'s runtime, as docs/packages.md says.
SYSTEM = {"kernel32.dll", "msvcrt.dll", "ws2_32.dll", "shell32.dll", "advapi32.dll", "ntdll.dll", "ole32.dll", "oleaut32.dll", "user32.dll",
          "gdi32.dll", "userenv.dll", "bcrypt.dll", "bcryptprimitives.dll", "opengl32.dll", "setupapi.dll", "vcruntime140.dll"}
TINY = [DATA / "llama_tiny/rope_llama/model.pte", "--tokenizer", DATA / "tiny_tokenizer/tokenizer.json"]
QUESTION = ["generate", MODEL, "--prompt", "The capital of France is", "--max-tokens", "12", "--temperature", "0", "--json"]


class Windows(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tree = unpacked("windows-x64")
        cls.wine = Wine(WORK / "windows-x64" / "wine", cls.tree / "bin")
        cls.addClassCleanup(cls.wine.close)
        cls.command = ["wine", cls.tree / "bin" / "pteron.exe"]
        adapters = json.loads(run(*cls.command, "devices", "--json", env=cls.wine.environment))
        print("adapter:", adapters[0]["name"], flush=True)

    def pteron(self, *given, **options) -> str:
        return run(*self.command, *given, env=self.wine.environment, **options)

    def refused(self, *given) -> str:
        command = [str(part) for part in (*self.command, *given)]
        done = subprocess.run(command, env=self.wine.environment, capture_output=True, text=True, encoding="utf-8")
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def test_it_holds_what_it_should(self):
        check_files(self, self.tree, {"bin/pteron.exe", "bin/pteron.dll", "bin/wgpu_native.dll"})

    def test_nothing_else_must_be_installed(self):
        there = {"wgpu_native.dll", "pteron.dll"}
        for name in ("pteron.exe", "pteron.dll", "wgpu_native.dll"):
            text = run(OBJDUMP, "-p", self.tree / "bin" / name)
            needed = {dll.lower() for dll in re.findall(r"DLL Name: (\S+)", text)}
            self.assertEqual({dll for dll in needed - SYSTEM - there if not dll.startswith("api-ms-win-")}, set(), name)

    def test_the_library_shows_the_c_functions_only(self):
        text = run(OBJDUMP, "-p", self.tree / "bin" / "pteron.dll").partition("[Ordinal/Name Pointer] Table")[2]
        self.assertEqual(set(re.findall(r"^\s*\[ *\d+\] (\w+)$", text, re.M)), DECLARED)

    def test_it_is_the_same_version(self):
        self.assertEqual(self.pteron("--version").splitlines()[:3], run(NATIVE, "--version").splitlines()[:3])

    def test_the_readme_s_lines_work(self):
        door = (SOURCE / "README.md").read_text().partition("## I use Windows")[2].partition("\n## ")[0]
        self.assertIn(f"Expand-Archive {self.tree.name}.zip .\n    cd {self.tree.name}\\bin\n", door)
        self.assertEqual(re.findall(r"^    \.\\pteron (.*)$", door, re.M), ["devices"])
        self.assertIn("llvmpipe", self.pteron("devices"))

    def test_programs_are_planned_as_on_this_machine(self):
        for name in programs()[::4]:
            with self.subTest(program=name):
                self.assertEqual(self.pteron("info", name, "--json", cwd=DATA), run(NATIVE, "info", name, "--json", cwd=DATA))

    def test_paths_are_utf_8(self):
        folder = WORK / "windows-x64" / "größe 模型 😀"
        folder.mkdir(exist_ok=True)
        shutil.copy(DATA / "ops/abs/force_fp16/model.pte", folder / "öl.pte")
        self.assertIn("größe 模型 😀/öl.pte: ", self.pteron("info", "größe 模型 😀/öl.pte", cwd=folder.parent))
        self.assertIn("cannot open 'größe/ß.pte'", self.refused("info", "größe/ß.pte"))
        np.save(folder / "ïn.npy", np.full((3, 5), 2, np.float32))
        shutil.copy(DATA / "ops/add/itself/model.pte", folder / "Σ.pte")
        self.pteron("run", "Σ.pte", "-i", "ïn.npy", "-o", "äus/日本", "--quiet", cwd=folder)
        self.assertEqual(np.load(folder / "äus/日本/output_0.npy").tolist(), np.full((3, 5), 4).tolist())

    def test_arguments_are_utf_8(self):
        given = ["generate", *TINY, "--prompt", "größe 模型 😀", "--max-tokens", "4", "--temperature", "0", "--ignore-eos", "--json"]
        answers = [json.loads(text) for text in (self.pteron(*given), run(NATIVE, *given))]
        for key in ("prompt_tokens", "token_ids"):
            self.assertEqual(answers[0][key], answers[1][key])

    def test_a_path_may_begin_with_a_slash(self):
        self.assertIn("cannot open '/nowhere.pte'", self.refused("info", "/nowhere.pte"))

    def test_fixtures_give_torch_s_answers(self):
        folder = WORK / "windows-x64" / "run"
        for case in cases(DATA / "ops", 40):
            with self.subTest(case=f"{case.parent.name}/{case.name}"):
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                manifest = json.loads((case / "manifest.json").read_text())
                inputs = []
                for i, tensor in enumerate(tensors(case, manifest["inputs"])):
                    np.save(folder / f"{i}.npy", tensor)
                    inputs += ["-i", f"{i}.npy"]
                self.pteron("run", case / "model.pte", *inputs, "-o", ".", "--quiet", cwd=folder)
                for i, expected in enumerate(tensors(case, manifest["outputs"])):
                    self.assertEqual(difference(np.load(folder / f"output_{i}.npy"), expected, manifest), "")

    def test_every_kernel_is_right(self):
        self.assertRegex(self.pteron("selftest"), r"(?m)^\d+ passed, 0 failed on llvmpipe")

    def test_a_chat_model_answers_as_on_this_machine(self):
        answers = [json.loads(text) for text in (self.pteron(*QUESTION), run(NATIVE, *QUESTION))]
        self.assertEqual(answers[0]["token_ids"], answers[1]["token_ids"])

    def test_lines_are_edited_at_a_console(self):
        said = WORK / "windows-x64" / "größe.json"
        with self.wine.console(*self.command, "chat", *TINY, "--max-tokens", 1, "-q") as console:
            console.wait_for(lambda out: "[2C" in console.shown(out), "a prompt")  # Wine shows sequences as they are
            console.type(f"Grüüßx\be\x01!\r/save {said}\r")
            console.wait_for_file(said, '"content": "!Grüüße"')
            console.type("/quit\r")
            self.assertEqual(console.exit_code(), 0)

    def test_ctrl_c_stops_the_answer_and_not_the_program(self):
        said = WORK / "windows-x64" / "stopped.json"
        endless = ["chat", *TINY, "--ignore-eos", "--max-tokens", 1_000_000, "--on-full", "slide", "-q"]
        lines = f"hello\n/save {said}\n/quit\n"
        run("wine", self.wine.ctrl_c, self.command[1], *endless, env=self.wine.environment, input=lines)
        self.assertEqual([message["role"] for message in json.loads(said.read_text())], ["user", "assistant"])

    def test_the_server_answers(self):
        command = [str(part) for part in (*self.command, "serve", *TINY, "--port", "0", "--json")]
        with subprocess.Popen(command, env=self.wine.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
            try:
                said = json.loads(server.stdout.readline())
                question = {"model": said["models"][0], "prompt": "hello", "max_tokens": 4, "temperature": 0}
                request = urllib.request.Request(said["url"] + "/v1/completions", json.dumps(question).encode())
                with urllib.request.urlopen(request, timeout=120) as answer:
                    self.assertEqual(json.load(answer)["usage"]["completion_tokens"], 4)
            finally:
                server.terminate()


unittest.main()
