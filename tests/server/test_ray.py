# SPDX-License-Identifier: BSD-3-Clause
"""examples/ray: lines of a file through Ray Data, and two replicas behind Ray Serve. usage: test_ray.py PTERON DATA_FOLDER"""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

import openai
from serving import DATA, LLAMA, NAME, PTERON, TOKENIZER, in_threads

EXAMPLES = DATA.resolve().parents[1] / "examples" / "ray"
QUIET = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS": "0"}


def rows(folder):
    return [json.loads(line) for file in sorted(folder.iterdir()) for line in file.read_text().splitlines()]


class Ray(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def batch(self, model, texts, *options):
        prompts, out = self.folder / "prompts.txt", self.folder / "out"
        prompts.write_text("".join(f"{text}\n" for text in texts))
        command = [sys.executable, EXAMPLES / "batch.py", model, prompts, out, "--tokenizer", TOKENIZER, *options]
        done = subprocess.run(list(map(str, command)), env=QUIET, capture_output=True, text=True, timeout=900)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        return rows(out)

    def test_lines_of_a_file_are_answered(self):
        import pteron

        texts = [f"Line {number}" for number in range(40)]
        answers = self.batch(LLAMA / "model.pte", texts, "--max-tokens", 6)
        self.assertEqual(sorted(row["text"] for row in answers), sorted(texts))
        alone = pteron.LLM(LLAMA / "model.pte", tokenizer=TOKENIZER)
        self.assertEqual({row["text"]: row["answer"] for row in answers}, {text: alone.generate(text, max_tokens=6).text for text in texts})

    def test_lines_of_a_file_are_embedded(self):
        answers = self.batch(DATA / "encoder_tiny" / "dynamic.pte", ["One", "Two", "Three"] * 10)
        self.assertEqual({len(row["embedding"]) for row in answers}, {16})
        self.assertEqual(len({tuple(row["embedding"]) for row in answers}), 3)

    def servers(self):
        """Processes of this test's replicas."""
        for folder in pathlib.Path("/proc").iterdir():
            with contextlib.suppress(OSError, ValueError):
                if str(self.tokenizer).encode() in (folder / "cmdline").read_bytes().split(b"\0")[1:] and (folder / "exe").resolve().samefile(PTERON):
                    yield int(folder.name)

    @contextlib.contextmanager
    def replicas(self):
        """The address of two of them; Ray's start takes minutes where processors are busy."""
        self.tokenizer = shutil.copytree(TOKENIZER.parent, self.folder / "tokenizer") / TOKENIZER.name
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        own = (LLAMA / "model.pte", "--port", port, "--command", pathlib.Path(PTERON).resolve())
        command = [sys.executable, EXAMPLES / "serve.py", *own, "--", "--tokenizer", self.tokenizer]
        with open(self.folder / "log", "w+") as log:
            process = subprocess.Popen(list(map(str, command)), env=QUIET, stdout=subprocess.PIPE, stderr=log, text=True)
            try:
                started = any("serving at" in line for line in process.stdout)
                self.assertTrue(started, (self.folder / "log").read_text()[-3000:])
                yield f"http://127.0.0.1:{port}"
                process.terminate()
                self.assertEqual(process.wait(300), 0, (self.folder / "log").read_text()[-3000:])
                self.assertEqual(list(self.servers()), [])
            finally:
                process.kill()
                process.wait()
                process.stdout.close()

    def test_two_replicas_answer_the_openai_client_and_one_is_enough(self):
        with self.replicas() as url:
            client = openai.OpenAI(base_url=f"{url}/v1", api_key="none", timeout=300)
            asked = {"model": NAME, "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 8, "temperature": 0, "extra_body": {"ignore_eos": True}}  # fmt: skip

            def whole():
                return client.chat.completions.create(**asked).choices[0].message.content

            def stream():
                return "".join(chunk.choices[0].delta.content or "" for chunk in client.chat.completions.create(**asked, stream=True))

            answer = whole()
            self.assertEqual(in_threads([stream, whole] * 4), [answer] * 8)
            with self.assertRaises(openai.BadRequestError):
                client.chat.completions.create(**{**asked, "max_tokens": -1})
            answered = (client.models.with_raw_response.list().headers["X-Replica"] for _ in range(200))
            seen = set()
            self.assertTrue(any(seen.add(replica) or len(seen) == 2 for replica in answered), "one replica answers everything")
            first, _ = sorted(self.servers())
            os.kill(first, signal.SIGKILL)
            self.assertEqual([step() for step in [stream, whole] * 4], [answer] * 8)


if __name__ == "__main__":
    unittest.main()
