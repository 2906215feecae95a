# SPDX-License-Identifier: BSD-3-Clause
"""The command line as a user types it. usage: test_cli.py PTERON DATA_FOLDER"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

import numpy as np

PTERON = sys.argv.pop(1)
DATA = pathlib.Path(sys.argv.pop(1))
LLAMA = DATA / "llama_tiny" / "rope_llama"
TOKENIZER = DATA / "tiny_tokenizer" / "tokenizer.json"


def pteron(*args, env=None, given=None):
    done = subprocess.run([PTERON, *(a if isinstance(a, bytes) else str(a) for a in args)], capture_output=True, text=True, input=given,
                          env={**os.environ, **(env or {})}, timeout=300)
    return done.returncode, done.stdout, done.stderr


class Help(unittest.TestCase):
    def test_version(self):
        code, out, _ = pteron("--version")
        self.assertEqual(code, 0)
        self.assertRegex(out, r"^pteron \d+\.\d+\.\d+\n(commit [0-9a-f]{12}|built outside of git)\nwgpu-native [\d.]+\n\w+ [\d.]+")
        self.assertEqual(pteron("version")[1], out)
        parts = json.loads(pteron("version", "--json")[1])
        for part in ("version", "webgpu", "compiler"):
            self.assertIn(str(parts[part]), out)

    def test_help_lists_every_command(self):
        code, out, _ = pteron("--help")
        self.assertEqual(code, 0)
        for command in ("devices", "info", "run", "generate", "chat", "convert", "bench", "tune", "selftest", "version"):
            self.assertIn(command, out)
            code, text, _ = pteron(command, "--help")
            self.assertEqual(code, 0)
            self.assertIn("--json", text)

    def test_wrong_usage_exits_with_2(self):
        for args in ((), ("frobnicate",), ("run",), ("info",), ("run", "a.pte", "--no-such-option"), ("generate", "a.pte", "--max-tokens", "many"), ("chat", "a.pte", "--on-full", "x"), ("generate", "a.pte", "--max-tokens", "-1"), ("convert", "a.gguf", "--max-context", "-5")):
            code, out, err = pteron(*args)
            self.assertEqual(code, 2, args)
            self.assertEqual((out, err.count("\n")), ("", 1))
            self.assertRegex(err, "^pteron: .")


class Devices(unittest.TestCase):
    def test_names_every_adapter(self):
        code, out, _ = pteron("devices", "--json")
        self.assertEqual(code, 0)
        adapters = json.loads(out)
        self.assertGreaterEqual(len(adapters), 1)
        code, text, _ = pteron("devices")
        for adapter in adapters:
            self.assertIn(adapter["name"], text)

    def test_a_software_adapter_can_be_refused(self):
        adapters = json.loads(pteron("devices", "--json")[1])
        if not all(a["software"] for a in adapters):
            return  # there is a real GPU, so nothing to refuse
        code, _, err = pteron("generate", LLAMA / "model.pte", "--require-gpu")
        self.assertEqual(code, 1)
        self.assertIn("--require-gpu", err)

    def test_an_unknown_adapter_is_an_error_that_lists_those_there_are(self):
        for extra, env in ((("--adapter", "nonsense"), {}), ((), {"PTERON_ADAPTER": "nonsense"})):
            code, _, err = pteron("generate", LLAMA / "model.pte", *extra, env=env)
            self.assertEqual(code, 1)
            self.assertIn("no adapter is called 'nonsense'; there are: 0:", err)


class Info(unittest.TestCase):
    def test_tells_methods_ops_and_memory_without_a_gpu(self):
        no_gpu = {"VK_ICD_FILENAMES": "none", "VK_DRIVER_FILES": "none"}
        code, out, _ = pteron("info", LLAMA / "model.pte", "--json", env=no_gpu)
        self.assertEqual(code, 0)
        report = json.loads(out)
        forward = next(m for m in report["methods"] if m["name"] == "forward")
        self.assertTrue(forward["runnable"])
        self.assertEqual(forward["inputs"][0], {"kind": "tensor", "dtype": "int64", "shape": [1, 127], "dynamic": True})
        delegate = forward["delegates"][0]
        ops = {op["name"]: op for op in delegate["ops"]}
        self.assertEqual(ops["et_vk.linear_q4gsw.default"]["count"], 15)
        self.assertTrue(all(op["supported"] for op in delegate["ops"]))
        memory = delegate["memory"]
        self.assertEqual(memory["state"], 4 * 128 * 2 * 16 * 4)
        parts = ("weights", "state", "initial_state", "activations", "parameters", "staging")
        self.assertEqual(memory["total"], sum(memory[part] for part in parts))
        vocabulary = next(m for m in report["methods"] if m["name"] == "get_vocab_size")
        self.assertEqual(vocabulary["constants"], [512])
        code, text, _ = pteron("info", LLAMA / "model.pte", env=no_gpu)
        self.assertEqual(code, 0)
        self.assertIn("WebGPU's default limits, without f16", text)

    def test_foretells_what_dispatches_cost_without_a_gpu(self):
        no_gpu = {"VK_ICD_FILENAMES": "none", "VK_DRIVER_FILES": "none"}

        def costs(*args):
            code, out, _ = pteron("info", LLAMA / "model.pte", "--cost", "--json", *args, env=no_gpu)
            self.assertEqual(code, 0)
            return next(m for m in json.loads(out)["methods"] if m["name"] == "forward")["delegates"][0]["costs"]

        one, many = costs(), costs("--tokens", "32", "--context", "0")
        self.assertTrue(all(c["workgroups"] > 0 and c["threads"] > 0 and c["bytes"] > 0 for c in one + many))
        products = [sum(c["operations"] for c in step if c["kernel"].startswith("linear_q4")) for step in (one, many)]
        layers, rest = divmod(products[1] - products[0], 31)
        self.assertEqual((rest, products[0] - layers), (0, 2 * 128 * 512))  # the head has one row in any case
        # Caches count as far as they are read, by whichever kernel writes them too.
        short, long = (sum(c["bytes"] for c in costs("--context", n)) for n in ("31", "95"))
        self.assertEqual(long - short, 64 * 2 * 2 * 2 * 16 * 4)
        # The same on an adapter, besides what the measurement adds: an arg-max of the logits.
        code, out, _ = pteron("info", LLAMA / "model.pte", "--cost", "--json", "--adapter", "0", "--context", "40")
        planned = next(m for m in json.loads(out)["methods"] if m["name"] == "forward")["delegates"][0]["costs"]
        code, out, _ = pteron("bench", LLAMA / "model.pte", "--json", "--context", "32", "--decode", "8", "--prefill", "8", "--adapter", "0")
        measured = [c for c in json.loads(out)["costs"] if "arg_max" not in c["kernel"]]
        self.assertEqual([c["kernel"] for c in planned], [c["kernel"] for c in measured])
        for args, words in (("--tokens", "0"), "takes 1 to 127"), (("--tokens", "128"), "takes 1 to 127"), (("--context", "500"), "context is full"):
            code, _, err = pteron("info", LLAMA / "model.pte", "--cost", *args, env=no_gpu)
            self.assertEqual(code, 1)
            self.assertIn(words, err)

    def test_plans_for_a_real_adapter_when_asked(self):
        code, out, _ = pteron("info", LLAMA / "model.pte", "--adapter", "0", "--json")
        self.assertEqual(code, 0)
        self.assertNotIn("default limits", json.loads(out)["planned_for"])


class Run(unittest.TestCase):
    def run_llama(self, tokens, position, folder, *extra):
        np.save(f"{folder}/tokens.npy", np.array([tokens], dtype=np.int64))
        np.save(f"{folder}/position.npy", np.array([position], dtype=np.int64))
        return pteron("run", LLAMA / "model.pte", "--input", f"{folder}/tokens.npy", "--input", f"{folder}/position.npy", "--output", folder, *extra)

    def test_npy_in_npy_out(self):
        manifest = json.loads((LLAMA / "manifest.json").read_text())
        run = manifest["runs"][0]
        golden = np.fromfile(LLAMA / run["logits_file"], dtype=np.float32).reshape(run["logits_shape"])
        with tempfile.TemporaryDirectory() as folder:
            code, out, err = self.run_llama(run["prompt_ids"], 0, folder, "--json")
            self.assertEqual(code, 0, err)
            self.assertEqual(json.loads(out)["outputs"][0]["shape"], [1, 512])
            logits = np.load(f"{folder}/output_0.npy")
        self.assertLess(np.abs(logits[0] - golden[0]).max(), 2e-4)

    def test_bad_inputs_are_one_sentence_and_exit_1(self):
        with tempfile.TemporaryDirectory() as folder:
            for tokens, position, message in (([512], 0, "token 512"), ([1], 128, "the context is full"), ([1] * 128, 0, "at most 127")):
                code, out, err = self.run_llama(tokens, position, folder)
                self.assertEqual(code, 1)
                self.assertIn(message, err)
                self.assertEqual(out, "")

    def test_missing_and_broken_files(self):
        with tempfile.TemporaryDirectory() as folder:
            broken = pathlib.Path(folder) / "broken.pte"
            broken.write_bytes((LLAMA / "model.pte").read_bytes()[:5000])
            for path, message in (("no/such.pte", "cannot open"), (broken, "truncated or corrupted"), (__file__, "not an ExecuTorch program"), (folder, "not a regular file")):
                code, _, err = pteron("run", path)
                self.assertEqual(code, 1)
                self.assertIn(message, err)
            code, _, err = pteron("run", LLAMA / "model.pte", "--method", "nope")
            self.assertEqual(code, 1)
            self.assertIn("it has: forward", err)
            code, _, err = pteron("run", LLAMA / "model.pte", "--input", __file__)
            self.assertEqual(code, 1)
            self.assertIn("NumPy", err)

    def test_a_constant_method_needs_no_input(self):
        with tempfile.TemporaryDirectory() as folder:
            code, _, err = pteron("run", LLAMA / "model.pte", "--method", "get_vocab_size", "--output", folder)
            self.assertEqual(code, 0, err)
            self.assertEqual(np.load(f"{folder}/output_0.npy"), 512)

    @unittest.skipUnless(sys.platform == "linux", "names of files are UTF-8 there")
    def test_a_folder_whose_name_is_not_utf8(self):
        with tempfile.TemporaryDirectory() as folder:
            into = os.fsencode(folder) + b"/\xff"
            code, out, err = pteron("run", LLAMA / "model.pte", "--method", "get_vocab_size", "--output", into, "--json", "-q")
            self.assertEqual((code, err), (0, ""))
            self.assertEqual(["\ufffd/output_0.npy"], [output["file"].removeprefix(folder + "/") for output in json.loads(out)["outputs"]])
            self.assertEqual(["output_0.npy"], [os.fsdecode(name) for name in os.listdir(into)])


class Generate(unittest.TestCase):
    def test_greedy_tokens_equal_torch(self):
        for run in json.loads((LLAMA / "manifest.json").read_text())["runs"]:
            prompt = ",".join(map(str, run["prompt_ids"]))
            code, out, err = pteron("generate", LLAMA / "model.pte", "--token-ids", prompt, "--max-tokens", len(run["generated_ids"]), "--json")
            self.assertEqual(code, 0, err)
            self.assertEqual(json.loads(out)["token_ids"], run["generated_ids"])

    @staticmethod
    def answer(*args, given=None):
        for flag, value in (("--tokenizer", TOKENIZER), ("--max-tokens", 12)):
            args = args if flag in args else (flag, value, *args)
        return pteron("generate", LLAMA / "model.pte", "--ignore-eos", *args, given=given)

    def report(self, *args, given=None):
        code, out, err = self.answer("--json", *args, given=given)
        self.assertEqual(code, 0, err)
        return json.loads(out)

    def test_only_the_answer_goes_to_standard_output(self):
        code, out, err = self.answer("-p", "Hello", "--stats")
        self.assertEqual(code, 0)
        self.assertEqual(out, self.report("-p", "Hello")["text"] + "\n")
        for words in ("tok/s", "first after", "best token", "end: max_tokens", "12 tokens"):
            self.assertIn(words, err)

    def test_both_streams_in_one_file_keep_their_order(self):
        with tempfile.TemporaryFile("w+") as file:
            subprocess.run([PTERON, "generate", LLAMA / "model.pte", "--token-ids", "3,1,4", "--max-tokens", "4"], check=True, stdout=file, stderr=file, timeout=300)
            file.seek(0)
            lines = file.read().splitlines()
        self.assertRegex(lines[-2], r"^\d+( \d+){3}$")
        self.assertRegex(lines[-1], r"^4 tokens; first after ")

    def test_drafts_need_the_logits_of_every_token(self):
        code, _, err = self.answer("-p", "Hello", "--speculate")
        self.assertEqual(code, 1)
        self.assertIn("convert it with --all-logits", err)
        whole = ("generate", LLAMA.parent / "full_logits" / "model.pte", "--token-ids", "3,1,4", "--max-tokens", 12, "-q")
        code, drafted, err = pteron(*whole, "--speculate")
        self.assertEqual((code, drafted), (0, pteron(*whole)[1]), err)

    def test_the_prompt_can_come_from_standard_input(self):
        self.assertEqual(self.report(given="Hello")["token_ids"], self.report("--prompt", "Hello")["token_ids"])

    def test_the_chat_template_can_be_left_out(self):
        self.assertLess(self.report("-p", "Hello", "--raw")["prompt_tokens"], self.report("-p", "Hello")["prompt_tokens"])

    def test_a_seed_gives_the_same_answer_again(self):
        sampled = ("-p", "Hello", "--temperature", 1.2, "--top-k", 50, "--top-p", 0.95, "--min-p", 0.01)
        first = self.report(*sampled)
        again = self.report(*sampled, "--seed", first["seed"])
        self.assertEqual(first["token_ids"], again["token_ids"])
        self.assertEqual(first["readback"], "best candidates")

    def test_answers_keep_a_grammar(self):
        self.assertIn(self.report("-p", "Yes?", "--regex", "yes|no")["text"], ("yes", "no"))
        schema = '{"type": "object", "properties": {"a": {"enum": [1, 23]}}, "required": ["a"]}'
        self.assertIn(json.loads(self.report("-p", "?", "--json-schema", schema, "--max-tokens", 90)["text"])["a"], (1, 23))
        self.assertEqual(self.report("-p", "?", "--regex", "")["text"], "")
        code, _, err = self.answer("-p", "?", "--regex", "(")
        self.assertEqual(code, 1)
        self.assertIn("the regular expression '(' is wrong", err)

    def test_log_probabilities(self):
        entries = self.report("-p", "Hello", "--logprobs", 2)["logprobs"]
        self.assertEqual(len(entries), 12)
        for entry in entries:
            self.assertEqual(entry["token_id"], entry["top"][0]["token_id"])
            self.assertLess(entry["top"][1]["logprob"], entry["logprob"])

    def test_an_enormous_answer_ends_with_the_context(self):
        report = self.report("-p", "Hello", "--max-tokens", 2**64 - 1)
        self.assertEqual(report["stop_reason"], "context_full")

    def test_text_that_is_no_conversation_slides_without_end(self):
        for prompt in ("Hello", "word " * 200):
            report = self.report("-p", prompt, "--raw", "--on-full", "slide", "--max-tokens", 300)
            self.assertEqual((report["stop_reason"], len(report["token_ids"])), ("max_tokens", 300))

    def test_an_empty_prompt_is_a_prompt(self):
        self.assertEqual(len(self.report("-p", "")["token_ids"]), 12)
        alone = self.report("-p", "", "--raw")
        self.assertEqual(alone["prompt_tokens"], 1)  # what begins a text
        self.assertEqual(alone["token_ids"], self.report("--raw", given="")["token_ids"])

    def test_bad_input_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            def file(name, content):
                path = pathlib.Path(folder) / name
                path.write_bytes(content)
                return path

            tokenizer = TOKENIZER.read_bytes()
            larger = json.loads(tokenizer)
            larger["added_tokens"].append({**larger["added_tokens"][-1], "id": 2000, "content": "<x>"})
            for words, args in (
                ("not valid JSON at byte", ("-p", "a", "--tokenizer", file("cut.json", tokenizer[:3000]))),
                ("has a vocabulary of 512 tokens and the tokenizer one of 2001", ("-p", "a", "--tokenizer", file("x.json", json.dumps(larger).encode()))),
                ("cannot open", ("-p", "a", "--tokenizer", "/nonexistent")),
                ("the chat template", ("-p", "a", "--chat-template", file("t.jinja", b"{% for m in messages %}{{ m.content"))),
                ("the chat template", ("-p", "a", "--chat-template", file("u.jinja", b"\xff"))),
                ("not valid UTF-8 at byte 1", ("-p", b"a\xff")),
                ("context of 128", ("-p", "word " * 200)),
                ("context holds 128", ("--raw", "-p", "word " * 200)),
                ("vocabulary of 512", ("--token-ids", 512)),
                ("temperature", ("-p", "a", "--temperature", -1)),
            ):
                code, out, err = self.answer(*args)
                self.assertEqual((code, out), (1, ""), args)
                self.assertIn(words, err)
                self.assertEqual(err.count("pteron: "), 1, err)
        code, _, err = pteron("generate", LLAMA / "model.pte", "-p", "Hello")
        self.assertEqual(code, 1)
        self.assertIn("no tokenizer", err)


class ChatCommand(unittest.TestCase):
    COMMAND = ("chat", LLAMA / "model.pte", "--tokenizer", TOKENIZER, "--ignore-eos", "--temperature", 0)

    def test_bad_messages_change_nothing_and_the_chat_goes_on(self):
        lines = [b"Hi", b"bad \xff bytes", b"nul \0 byte", b"/save /nonexistent/x", b"w " * 5000, b"/back", b"/back", b"/back", b"Still there?"]
        done = subprocess.run([PTERON, *map(str, self.COMMAND), "--max-tokens", "2"], input=b"\n".join(lines), capture_output=True, timeout=300)
        self.assertEqual(done.returncode, 0)
        err = done.stderr.decode()
        self.assertEqual(err.count("tok/s"), 3)
        for words in ("not valid UTF-8 at byte 4", "cannot write '/nonexistent/x'", "the conversation has", "no question to take back"):
            self.assertIn(words, err)

    def test_a_conversation(self):
        with tempfile.TemporaryDirectory() as folder:
            saved = pathlib.Path(folder) / "chat.json"
            lines = ["Hi", "/stats", "/back", "Hello", "/nonsense", "q" * 500, "And?", f"/save {saved}", "/reset", "Hello", "/history"]
            code, out, err = pteron(*self.COMMAND, "--max-tokens", 5, given="\n".join(lines) + "\n")
            self.assertEqual(code, 0, err)
            messages = json.loads(saved.read_text())
            self.assertEqual([m["content"] for m in messages[::2]], ["Hello", "And?"])
            answers = [m["content"] for m in messages[1::2]]
            self.assertTrue(out.endswith("\n".join([*answers, answers[0]]) + "\n"), (out, answers))
            self.assertIn("read back per token: best token", err)
            self.assertIn("the conversation has", err)  # too long, but the chat goes on
            self.assertEqual(err.count("tok/s"), 4)
            self.assertIn("/reset", err)

    def test_ctrl_c_stops_the_answer_and_not_the_program(self):
        process = subprocess.Popen([PTERON, *map(str, self.COMMAND)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdin.write(b"Tell me everything\n")
        process.stdin.flush()
        self.assertNotEqual(process.stdout.read(1), b"")
        process.send_signal(signal.SIGINT)
        process.stdin.write(b"Still there?\n/history\n")
        process.stdin.flush()
        try:
            _, err = process.communicate(timeout=300)
        finally:
            process.kill()
        self.assertEqual(process.returncode, 0)
        self.assertIn("user: Still there?", err.decode())

    def test_json_is_refused(self):
        code, out, err = pteron(*self.COMMAND, "--json")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("use 'generate --json'", err)

    def test_a_model_without_a_template_is_named(self):
        code, out, err = pteron("chat", LLAMA / "model.pte")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("no tokenizer", err)


class Selftest(unittest.TestCase):
    def test_every_kernel_agrees_with_the_cpu(self):
        code, out, err = pteron("selftest", "--json")
        self.assertEqual(code, 0, out + err)
        report = json.loads(out)
        self.assertEqual([trial for trial in report["trials"] if trial["problem"]], [])
        self.assertEqual(report["untried"], [])
        names = [trial["name"] for trial in report["trials"]]
        self.assertEqual(len(names), len(set(names)))

    def test_prints_a_line_for_each_trial(self):
        code, out, _ = pteron("selftest", "--only", "softmax")
        self.assertEqual(code, 0)
        self.assertRegex(out, r"(?m)^ok +softmax of 7 +softmax +[\d.e-]+$")
        self.assertRegex(out, r"(?m)^2 passed, 0 failed on ")

    def test_results_are_the_same_each_time(self):
        code, out, err = pteron("selftest", "--repeat", 5)
        self.assertEqual(code, 0, out + err)
        code, out, err = pteron("selftest", "--repeat", 0)
        self.assertEqual((code, out), (1, ""))
        self.assertIn("--repeat must be at least 1", err)


class Convert(unittest.TestCase):
    MODEL = DATA / "gguf" / "llama_q4_1.gguf"

    def test_gguf_in_pte_out(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "m.pte"
            code, out, err = pteron("convert", self.MODEL, "-o", program, "--max-context", 48, "--max-seq-len", 16, "--json")
            self.assertEqual(code, 0, err)
            report = json.loads(out)
            self.assertEqual(report["file_bytes"], program.stat().st_size)
            self.assertEqual(report["tensors"], {"F32": 5, "Q4_1": 14, "Q8_0": 1})
            self.assertEqual(os.listdir(folder), ["m.pte"])
            methods = {m["name"]: m for m in json.loads(pteron("info", program, "--json")[1])["methods"]}
            self.assertEqual(methods["get_max_context_len"]["constants"], [48])
            self.assertEqual(methods["forward"]["inputs"][0]["shape"], [1, 16])
            code, out, _ = pteron("convert", self.MODEL, "-o", program, "--quant", "q4")
            self.assertEqual(code, 0)
            self.assertLess(program.stat().st_size, report["file_bytes"])
            self.assertIn("14 Q4_1", out)

    def test_failures_leave_no_file_and_keep_the_old_one(self):
        with tempfile.TemporaryDirectory() as folder:
            program, broken = pathlib.Path(folder) / "m.pte", pathlib.Path(folder) / "broken.gguf"
            program.write_bytes(b"old")
            broken.write_bytes(self.MODEL.read_bytes()[:20000])
            for model, output, message in (
                (broken, program, "truncated or corrupted"),
                (LLAMA / "model.pte", program, "not a GGUF model"),
                ("no/such.gguf", program, "cannot open"),
                (self.MODEL, "no/such/folder/m.pte", "cannot write"),
                (broken, broken, "is the model itself"),
            ):
                code, out, err = pteron("convert", model, "-o", output)
                self.assertEqual(code, 1)
                self.assertIn(message, err)
                self.assertEqual(out, "")
            self.assertEqual(sorted(os.listdir(folder)), ["broken.gguf", "m.pte"])
            self.assertEqual(program.read_bytes(), b"old")
            self.assertEqual(pteron("convert", self.MODEL, "--quant", "q3")[0], 2)

    def test_every_truncation_is_one_sentence(self):
        whole = self.MODEL.read_bytes()
        with tempfile.TemporaryDirectory() as folder:
            program, broken = pathlib.Path(folder) / "m.pte", pathlib.Path(folder) / "broken.gguf"
            for size in (0, 3, 4, 8, 23, *range(24, len(whole), len(whole) // 25)):
                broken.write_bytes(whole[:size])
                code, out, err = pteron("convert", broken, "-o", program)
                self.assertEqual((code, out, err.count("pteron: "), err.count("\n")), (1, "", 1, 1), (size, err))
            self.assertFalse(program.exists())


class Bench(unittest.TestCase):
    def bench(self, *args):
        code, out, err = pteron("bench", *args, "--json")
        self.assertEqual(code, 0, err)
        return json.loads(out)

    def test_a_language_model_is_measured_in_prompts_and_tokens(self):
        report = self.bench(LLAMA / "model.pte", "--prefill", 16, "--decode", 8, "--context", 32, "--prompts", 2)
        positive = ("decode_tok_s", "decode_cpu_ms", "prefill_tok_s", "prefill_cpu_ms", "host_us_per_token", "load_ms", "peak_rss_mb")
        for key in positive:
            self.assertGreater(report[key], 0, key)
        self.assertNotEqual(report["adapter"], "")
        self.assertRegex(report["commit"], r"^[0-9a-f]{12}$|^unknown$")
        self.assertGreater(report["dispatches_per_token"], 10)
        self.assertLess(report["dispatches_per_token"], 100)
        self.assertEqual(report["queue_writes_per_token"], 1)
        self.assertEqual(report["submits_per_token"], 1)
        self.assertEqual(report["creates_per_token"], 0)
        self.assertEqual(report["host_allocations_per_token"], 0)
        self.assertEqual(report["late_pipelines"], 0)
        spread = report["decode_ms_spread"]
        self.assertLessEqual(spread["lower_quartile"], spread["median"])
        self.assertLessEqual(spread["median"], spread["upper_quartile"])

    def test_conversations_that_decode_together_read_weights_once(self):
        report = self.bench(LLAMA / "model.pte", "--prefill", 0, "--decode", 2, "--context", 8, "--conversations", 4)
        self.assertEqual(report["conversations"], 4)
        self.assertEqual(report["batch_submits"], 0.25)
        self.assertLess(report["batch_dispatches"], report["dispatches_per_token"])
        self.assertLess(report["batch_bytes_touched"], report["bytes_touched"] / 2)
        self.assertEqual(report["late_pipelines"], 0)

    def test_modelled_bytes_grow_with_the_context_by_its_caches(self):
        short, long = (self.bench(LLAMA / "model.pte", "--prefill", 0, "--decode", 1, "--context", c) for c in (31, 95))
        per_position = 2 * 2 * 2 * 16 * 4  # two layers, keys and values, two heads of 16 floats
        self.assertEqual(long["bytes_needed"] - short["bytes_needed"], 64 * per_position)
        self.assertGreaterEqual(short["bytes_ratio"], 1)

    def test_any_other_program_is_measured_on_made_up_inputs(self):
        program = sorted((DATA / "ops").glob("add/*/model.pte"))[0]
        report = self.bench(program, "--decode", 3)
        self.assertGreater(report["run_ms"], 0)
        self.assertGreaterEqual(report["dispatches_per_run"], 1)

    def test_half_precision_caches_halve_what_a_position_costs(self):
        if not json.loads(pteron("devices", "--json")[1])[0]["f16"]:
            self.assertIn("has no f16", pteron("bench", LLAMA / "model.pte", "--kv", "f16")[2])
            return
        whole, half = (self.bench(LLAMA / "model.pte", "--prefill", 0, "--decode", 1, "--context", 95, "--kv", kv) for kv in ("f32", "f16"))
        self.assertEqual((whole["kv"], half["kv"]), ("f32", "f16"))
        self.assertEqual(whole["bytes_needed"] - half["bytes_needed"], 96 * 2 * 2 * 2 * 16 * 2)

    def test_what_does_not_fit_the_caches_is_refused(self):
        code, _, err = pteron("bench", LLAMA / "model.pte", "--context", 120, "--decode", 32)
        self.assertEqual(code, 1)
        self.assertIn("need 153 positions, but the program's caches hold 128", err)


class Tune(unittest.TestCase):
    def test_what_was_measured_is_used_and_can_be_ignored(self):
        with tempfile.TemporaryDirectory() as folder:
            program, env = pathlib.Path(folder) / "m.pte", {"XDG_CACHE_HOME": folder, "PTERON_CACHE": ""}
            self.assertEqual(pteron("convert", DATA / "gguf" / "llama_f32.gguf", "-o", program, "--max-context", 32)[0], 0)
            bench = lambda *extra: json.loads(pteron("bench", program, "--context", 8, "--decode", 1, "--prefill", 8, "--json", *extra, env=env)[1])
            self.assertFalse(bench()["tuned"])
            code, out, err = pteron("tune", program, "--prompt", 8, "--repeat", 1, "--json", env=env)
            self.assertEqual(code, 0, err)
            report = json.loads(out)
            lanes = {"lanes8", "lanes4", "tall8", "tall4"} if json.loads(pteron("devices", "--json")[1])[0]["subgroups"] else set()
            routes = {"gemm": {"row", "tile8", "split", "shared", "tile4"} | lanes, "arg_max": {"parts", "row"}, "rms_norm": {"vectors", "rows"},
                      "attention": {"group", "tiled", "threads"} | ({"lanes"} if lanes else set())}
            for shape, row in report["shapes"].items():
                self.assertRegex(shape, r"^(gemm|attention|arg_max|rms_norm)@\d+x\d+x\d+$")
                self.assertEqual(set(row["milliseconds"]), routes[shape.split("@")[0]])
                self.assertIn(row["usual"], row["milliseconds"])
                self.assertNotIn(f"{shape}={row['usual']}", report["routes"])
            gemms = [shape for shape in report["shapes"] if shape.startswith("gemm@")]
            self.assertTrue(any(shape.startswith("gemm@1x") for shape in gemms))
            table = pathlib.Path(report["file"])
            self.assertTrue(table.is_relative_to(folder))
            (key, routes), = json.loads(table.read_text()).items()
            self.assertEqual(routes, report["routes"])

            table.write_text(json.dumps({key: [shape + "=split" for shape in gemms]}))
            tuned = bench()
            self.assertTrue(tuned["tuned"])
            self.assertIn("gemm_split", tuned["gpu_ms_by_kernel"])
            self.assertEqual(tuned["late_pipelines"], 0)
            self.assertFalse(bench("--no-tuning")["tuned"])
            for damaged in ("no JSON", json.dumps({key: ["", "gemm@1x1x1", "gemm@axbxc=split", f"{gemms[0]}=unknown", 7]})):
                table.write_text(damaged)
                self.assertFalse(bench()["tuned"], damaged)


if __name__ == "__main__":
    unittest.main()
