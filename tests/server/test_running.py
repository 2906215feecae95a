# SPDX-License-Identifier: BSD-3-Clause
"""A server that is left running: full queues, clients that leave or do not read, signals. usage: test_running.py PTERON DATA_FOLDER"""
import http.client
import json
import shutil
import signal
import tempfile
import threading
import unittest
from pathlib import Path

from serving import LLAMA, NAME, Server, in_threads

CHAT = "/v1/chat/completions"
LONG = {"messages": [{"role": "user", "content": "Hello"}], "stream": True, "temperature": 0, "max_tokens": 100, "ignore_eos": True}


class Stream:
    """A stream that is read as far as the test wants."""

    def __init__(self, server, **members):
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        self._connection.request("POST", CHAT, json.dumps({**LONG, **members}))
        self.answer = self._connection.getresponse()

    def line(self):
        """The next line that is not empty."""
        while (line := self.answer.readline()) == b"\n":
            pass
        return line.decode().strip()

    def rest(self):
        text = self.answer.read().decode()
        self.close()
        return text

    def close(self):
        self.answer.close()
        self._connection.close()


class Running(unittest.TestCase):
    def test_a_full_queue_refuses_with_retry_after(self):
        with Server("-q", "--parallel", 1, "--queue", 2) as server:
            answers = in_threads([lambda: server.chat(max_tokens=60)] * 12)
            statuses = [status for status, _, _ in answers]
            self.assertLessEqual(set(statuses), {200, 429})
            self.assertIn(200, statuses)
            for status, headers, answer in answers:
                if status == 429:
                    self.assertEqual((headers["Retry-After"], answer["error"]["type"]), ("1", "rate_limit_error"))
            self.assertEqual(len({json.dumps(a["choices"]) for s, _, a in answers if s == 200}), 1)
            self.assertEqual(server.metric("pteron_refused_total"), statuses.count(429))
            self.assertEqual(server.chat(n=3)[0], 429)  # more than ever fit
            self.assertEqual(server.chat()[0], 200)

    def test_an_answer_ends_when_its_client_goes(self):
        with Server("-q") as server:
            before = server.metric("pteron_generated_tokens_total")
            stream = Stream(server)
            self.assertTrue(stream.line().startswith("data: "))
            stream.close()
            self.assertEqual(server.wait_for_metric("pteron_cancelled_total", 1), 1)
            self.assertEqual(server.wait_for_metric("pteron_active", 0), 0)
            self.assertLess(server.metric("pteron_generated_tokens_total") - before, 100)
            self.assertEqual(server.chat()[0], 200)

    def test_who_does_not_read_holds_up_nobody(self):
        with Server("-q") as server:
            silent = [Stream(server) for _ in range(3)]
            self.assertEqual(server.chat(max_tokens=20)[0], 200)
            texts = {stream.rest() for stream in silent}
            self.assertTrue(all(text.endswith("data: [DONE]\n\n") for text in texts))

    def test_states_and_objects_do_not_pile_up(self):
        with Server("-q", "--kv-memory", 1) as server:
            for i in range(30):
                self.assertEqual(server.chat(f"question {i}", max_tokens=2)[0], 200)
            self.assertEqual(server.wait_for_metric("pteron_active", 0), 0)
            self.assertLess(server.metric("pteron_session_bytes"), 2 << 20)

    def test_states_outlive_the_server(self):
        question = "word " * 20

        def ask(server):
            answer = server.chat(question)[2]
            return answer["choices"][0]["message"]["content"], answer["usage"]["prompt_tokens_details"]["cached_tokens"]

        with tempfile.TemporaryDirectory() as folder:
            states = Path(folder) / "states"
            with Server("-q", "--cache-dir", states) as server:
                said, cached = ask(server)
                self.assertEqual(cached, 0)
                self.assertEqual(server.stop(), 0)
            (file,) = states.iterdir()
            good = file.read_bytes()
            with Server("-q", "--cache-dir", states) as server:
                self.assertEqual(ask(server)[0], said)
                self.assertGreater(server.metric("pteron_cached_tokens_total"), 30)
                self.assertEqual(server.log(), "")
            for damaged in (good[:-1], good[:200], good[:2000] + b"?" + good[2001:], b"?" + good[1:]):
                file.write_bytes(damaged)
                with Server("-q", "--cache-dir", states) as server:
                    self.assertEqual(ask(server), (said, 0))
                    self.assertIn(f"{file} is ignored: ", server.log())

    def test_sigterm_lets_answers_end(self):
        with Server("-q") as server:
            stream = Stream(server)
            stream.line()
            server.process.send_signal(signal.SIGTERM)
            self.assertTrue(stream.rest().endswith("data: [DONE]\n\n"))
            self.assertEqual(server.process.wait(60), 0)

    def test_sigterm_breaks_off_what_takes_too_long_with_an_error(self):
        with Server("-q", "--grace", 0) as server:
            stream = Stream(server, n=4)
            stream.line()
            server.process.send_signal(signal.SIGTERM)
            last = [line for line in stream.rest().split("\n") if line][-1]
            self.assertTrue(last == "data: [DONE]" or "shutting down" in last, last)
            self.assertEqual(server.process.wait(60), 0)

    def test_a_request_that_takes_too_long_ends(self):
        with Server("-q", "--time-limit", 0) as server:
            status, _, answer = server.chat()
            self.assertEqual(status, 503)
            self.assertIn("longer than the server allows", answer["error"]["message"])

    def test_sighup_loads_models_again_and_keeps_the_port(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "tiny.pte"
            shutil.copy(LLAMA / "model.pte", path)
            with Server("-q", models=(path,)) as server:
                first = server.chat()[2]["choices"]
                created = server.request("GET", "/v1/models")[2]["data"][0]["created"]
                stop, served = threading.Event(), []

                def keep_asking():
                    while not stop.is_set():
                        served.append(server.chat()[0])

                thread = threading.Thread(target=keep_asking, daemon=True)
                thread.start()
                for _ in range(2):
                    server.process.send_signal(signal.SIGHUP)
                    self.assertEqual(server.chat()[2]["choices"], first)
                bad = path.with_suffix(".new")
                bad.write_bytes(b"no program")
                bad.replace(path)  # programs are mapped: a file is replaced, not written over
                server.process.send_signal(signal.SIGHUP)
                self.assertEqual(server.chat()[2]["choices"], first)  # the old one goes on
                stop.set()
                thread.join(60)
                self.assertEqual(set(served), {200})
                self.assertGreaterEqual(server.request("GET", "/v1/models")[2]["data"][0]["created"], created)

    def test_several_models_by_name(self):
        with tempfile.TemporaryDirectory() as folder:
            other = Path(folder) / "other.pte"
            shutil.copy(LLAMA.parent / "full_logits" / "model.pte", other)
            with Server("-q", models=(LLAMA / "model.pte", other)) as server:
                names = [m["id"] for m in server.request("GET", "/v1/models")[2]["data"]]
                self.assertEqual(names, [NAME, "other"])
                for name in names:
                    self.assertEqual(server.chat(model=name)[2]["model"], name)

    def test_what_can_not_be_served_is_said(self):
        for models, wanted in (((LLAMA / "model.pte",) * 2, "two models are called"), ((Path("missing.pte"),), "missing.pte")):
            with self.assertRaisesRegex(RuntimeError, wanted), Server(models=models):
                pass
        with Server("-q") as server, self.assertRaisesRegex(RuntimeError, "can't listen"), Server(port=server.port):
            pass


if __name__ == "__main__":
    unittest.main()
