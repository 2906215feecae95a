# SPDX-License-Identifier: BSD-3-Clause
"""A server for a test, on a free port of this machine, that ends with the test."""
import contextlib
import http.client
import json
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

PTERON = sys.argv.pop(1)
DATA = pathlib.Path(sys.argv.pop(1))
LLAMA = DATA / "llama_tiny" / "rope_llama"
TOKENIZER = DATA / "tiny_tokenizer" / "tokenizer.json"
RUNS = json.loads((LLAMA / "manifest.json").read_text())["runs"]
NAME = "rope_llama"


class Server:
    """`pteron serve` with the tiny model, or with what is given."""

    def __init__(self, *options, models=(LLAMA / "model.pte",), tokenizer=TOKENIZER, port=0):
        self._log = tempfile.NamedTemporaryFile()
        extra = ("--tokenizer", tokenizer) if tokenizer else ()
        command = [PTERON, "serve", *models, "--port", port, "--json", *extra, *options]
        self.process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=self._log)
        line = self.process.stdout.readline()
        if not line:
            said = self.log() if self.process.wait(30) else ""
            self.__exit__()
            raise RuntimeError(said)
        self.url = json.loads(line)["url"]
        self.port = urllib.parse.urlsplit(self.url).port

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait(30)
        self.process.stdout.close()
        self._log.close()

    def log(self):
        return pathlib.Path(self._log.name).read_text(errors="replace")

    def stop(self, sent=signal.SIGTERM, timeout=60):
        self.process.send_signal(sent)
        return self.process.wait(timeout)

    def connect(self, timeout=60):
        return socket.create_connection(("127.0.0.1", self.port), timeout)

    def request(self, method, path, body=None, headers=None, timeout=120):
        """Status, headers, body; JSON is parsed."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            data = json.dumps(body) if isinstance(body, (dict, list)) else body
            connection.request(method, path, data, {"Content-Type": "application/json", **(headers or {})})
            answer = connection.getresponse()
            text = answer.read()
            parsed = json.loads(text) if answer.headers.get_content_type() == "application/json" and text else text
            return answer.status, dict(answer.headers), parsed
        finally:
            connection.close()

    def post(self, path, body, **more):
        return self.request("POST", path, body, **more)

    def chat(self, text="Hello", **members):
        return self.post("/v1/chat/completions", {"messages": [{"role": "user", "content": text}], "max_tokens": 8, "temperature": 0, "ignore_eos": True, **members})

    def events(self, path, body):
        """The data of a stream's events, and its comments."""
        status, _, text = self.request("POST", path, body)
        assert status == 200, text
        data, comments = [], []
        for block in text.decode().split("\n\n"):
            for line in block.split("\n"):
                if line.startswith("data: "):
                    data.append(line[6:])
                elif line.startswith(":"):
                    comments.append(line)
        return data, comments

    def metric(self, name):
        text = self.request("GET", "/metrics")[2].decode()
        return float(re.search(rf"^{name} (\S+)$", text, re.MULTILINE)[1])

    def wait_for_metric(self, name, wanted, seconds=30):
        """Until it has the value; how it is in the end."""
        end = time.monotonic() + seconds
        while (value := self.metric(name)) != wanted and time.monotonic() < end:
            time.sleep(0.02)
        return value


def in_threads(functions):
    """What they return, in order; the first thing that one of them raises."""
    results, errors = [None] * len(functions), []

    def run(index, function):
        try:
            results[index] = function()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=pair, daemon=True) for pair in enumerate(functions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    if errors:
        raise errors[0]
    return results
