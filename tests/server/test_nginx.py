# SPDX-License-Identifier: BSD-3-Clause
"""examples/nginx: two replicas behind one address, one of them killed under load. usage: test_nginx.py PTERON DATA_FOLDER"""
import contextlib
import http.client
import json
import pathlib
import socket
import subprocess
import tempfile
import time
import unittest

from serving import DATA, Server, in_threads

CONFIGURATION = (DATA.resolve().parents[1] / "examples" / "nginx" / "nginx.conf").read_text()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class Balancer:
    """nginx with the configuration of the example, on other ports."""

    def __init__(self, folder, replicas):
        self.port = free_port()
        text = CONFIGURATION
        for written, used in zip((8081, 8082, 8080), (*(replica.port for replica in replicas), self.port)):
            text = text.replace(f"127.0.0.1:{written}", f"127.0.0.1:{used}")
        (folder / "nginx.conf").write_text(text)
        self._process = subprocess.Popen(["nginx", "-p", folder, "-c", "nginx.conf", "-e", "stderr"], stderr=subprocess.DEVNULL)
        end = time.monotonic() + 30
        while True:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            if self._process.poll() is not None or time.monotonic() > end:
                raise RuntimeError("nginx has not started")
            time.sleep(0.02)

    def close(self):
        self._process.terminate()
        self._process.wait(30)


class Replicas(unittest.TestCase):
    def setUp(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.replicas = [self.enterContext(Server("-q")) for _ in range(2)]
        self.balancer = Balancer(folder, self.replicas)
        self.addCleanup(self.balancer.close)

    def ask(self, conversation, number=0, stream=False):
        """The text of an answer. What is not a whole answer raises."""
        body = {"messages": [{"role": "user", "content": f"Question {number} with some words"}], "max_tokens": 30, "temperature": 0, "ignore_eos": True, "stream": stream}
        connection = http.client.HTTPConnection("127.0.0.1", self.balancer.port, timeout=120)
        with contextlib.closing(connection):
            connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json", "X-Conversation": conversation})
            answer = connection.getresponse()
            text = answer.read().decode()
        if answer.status != 200:
            raise OSError(f"status {answer.status}")
        if not stream:
            return json.loads(text)["choices"][0]["message"]["content"]
        events = [line[6:] for line in text.split("\n") if line.startswith("data: ")]
        if not events or events[-1] != "[DONE]":
            raise OSError("the stream has no end")
        return "".join(json.loads(event)["choices"][0]["delta"].get("content") or "" for event in events[:-1])

    def served(self):
        return [int(replica.metric("pteron_jobs_total")) for replica in self.replicas]

    def test_a_conversation_stays_with_its_replica(self):
        for conversation in range(8):
            before = self.served()
            for _ in range(3):
                self.ask(f"conversation {conversation}", conversation)
            self.assertIn([after - first for first, after in zip(before, self.served())], ([3, 0], [0, 3]))
        self.assertTrue(all(self.served()), "one replica has served all conversations")

    def test_a_replica_that_dies_loses_nothing_without_an_error(self):
        calm = [self.ask("calm", number) for number in range(8)]
        outcomes = {"good": 0, "failed": 0}

        def client(name):
            def run():
                for turn in range(8):
                    try:
                        said = self.ask(f"{name}-{turn}", turn, stream=turn % 2 == 1)
                    except (OSError, http.client.HTTPException):
                        outcomes["failed"] += 1
                        continue
                    outcomes["good"] += 1
                    self.assertEqual(said, calm[turn])

            return run

        def kill():
            before = sum(self.served())
            while sum(self.served()) < before + 10:
                time.sleep(0.01)
            self.replicas[0].process.kill()

        in_threads([kill, *(client(f"client {i}") for i in range(6))])
        self.assertEqual(outcomes["good"] + outcomes["failed"], 48)
        self.assertLessEqual(outcomes["failed"], 6, outcomes)  # streams that were under way, at most one of each client
        self.assertEqual([self.ask("afterwards", number) for number in range(8)], calm)


if __name__ == "__main__":
    unittest.main()
