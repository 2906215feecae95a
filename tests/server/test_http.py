# SPDX-License-Identifier: BSD-3-Clause
"""The server as bad clients see it: whatever they send, it answers rightly and goes on. usage: test_http.py PTERON DATA_FOLDER"""
import json
import re
import time
import unittest

from serving import NAME, Server

CHAT = "/v1/chat/completions"


def until_closed(connection):
    received = b""
    try:
        while chunk := connection.recv(65536):
            received += chunk
    except ConnectionResetError:
        pass
    return received


class BadInput(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server("--max-body", 1, "--connections", 100))

    def tearDown(self):
        self.assertEqual(self.server.request("GET", "/health")[::2], (200, {"status": "ok"}))

    def raw(self, data):
        """The status of each answer to these bytes."""
        with self.server.connect(20) as connection:
            connection.sendall(data)
            received = until_closed(connection)
        return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d+) ", received)]

    def refused(self, body, status=400, path=CHAT, **expected):
        code, _, answer = self.server.post(path, body)
        self.assertEqual(code, status, answer)
        self.assertEqual(set(answer["error"]), {"message", "type", "param", "code"})
        for key, value in expected.items():
            self.assertEqual(answer["error"][key], value, answer)
        return answer["error"]["message"]

    def ask(self, **members):
        return {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 2, **members}

    def test_malformed_http_is_refused_and_the_connection_closed(self):
        for data, status in (
            (b"\r\n\r\n", 400),
            (b"GET\r\n\r\n", 400),
            (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello TLS \r\n\r\n", 400),
            (b"GET /health HTTP/2.0\r\nHost: a\r\n\r\n", 505),
            (b"GET /health HTTP/1.1\r\n\r\n", 400),
            (b"GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
            (b"GET http://elsewhere/ HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            (b"GET /health HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n", 400),
            (b"GET /health HTTP/1.1\r\nHost: a\r\n folded: x\r\n\r\n", 400),
            (b"GET /health HTTP/1.1\r\nHost: a\r\nA: \x00\r\n\r\n", 400),
            (b"GET /" + b"a" * 5000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", 414),
            (b"GET / HTTP/1.1\r\nHost: a\r\nA: " + b"a" * 20000 + b"\r\n\r\n", 431),
            (b"GET / HTTP/1.1\r\nHost: a\r\n" + b"A: b\r\n" * 200 + b"\r\n", 431),
            (b"a" * 100000, 431),
            (b"POST /tokenize HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\n", 400),
            (b"POST /tokenize HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", 400),
            (b"POST /tokenize HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", 400),
            (b"POST /tokenize HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\n\r\n", 413),
            (b"POST /tokenize HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
            (b"POST /tokenize HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
            (b"POST /tokenize HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
            (b"POST /tokenize HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}x\r\n", 400),
            (b"POST /tokenize HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n", 413),
            (b"POST /tokenize HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", 400),
            (b"POST /tokenize HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n", 400),
            (b"POST /tokenize HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2;" + b"a" * 100000, 400),
            (b"POST /tokenize HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + b"A: b\r\n" * 20000, 431),
            (b"POST /tokenize HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 501),
            (b"POST /tokenize HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n", 501),
            (b"POST /tokenize HTTP/1.1\r\nHost: a\r\nContent-Length: +2\r\n\r\n{}", 400),
            (b"POST /tokenize HTTP/1.1\r\nHost: a\r\nContent-Length: 2, 2\r\n\r\n{}", 400),
            (b"POST /tokenize HTTP/1.1\r\nHost: a\r\nContent-Length : 2\r\n\r\n{}", 400),
            (b"GET  /health HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            (b"CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            (b"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ):
            self.assertEqual(self.raw(data), [status], data[:60])

    def test_a_chunked_body_is_understood(self):
        body = b'{"content": "Hello"}'
        chunks = b"".join(b"%x;note=x\r\n%c\r\n" % (1, byte) for byte in body)
        head = b"POST /tokenize HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
        self.assertEqual(self.raw(head + chunks + b"0\r\nTrailer: x\r\n\r\n"), [200])

    def test_pipelined_requests_are_answered_in_order_and_garbage_behind_them_is_refused(self):
        one = b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n"
        self.assertEqual(self.raw(one * 3 + b"GARBAGE\x01\r\n\r\n" + one), [200, 200, 200, 400])

    def test_paths_lead_nowhere_else(self):
        for path in ("/../../etc/passwd", "/%2e%2e/etc/passwd", "//health", "/v1/../health", "/health/", "/v1/models/../../x", "/v1/chat"):
            status, _, answer = self.server.request("GET", path)
            self.assertEqual(status, 404, path)
            self.assertNotIn("root:", json.dumps(answer))
        self.assertEqual(self.server.request("GET", CHAT)[0], 405)
        self.assertEqual(self.server.request("DELETE", "/v1/models")[0], 405)
        self.assertEqual(self.server.request("HEAD", "/health")[2], b"")

    def test_bodies_that_are_no_json_object(self):
        for body in ("", "{", "[]", "1", "nul", '{"a": 1e999}', '{"a": "\ud800"}'.encode("utf-8", "surrogatepass"), b'{"a": "\xff\xfe"}', '{"a": "\\ud800"}'):
            self.refused(body, type="invalid_request_error")
        self.assertIn("nested", self.refused("[" * 100000))
        self.assertIn("nested", self.refused('{"a":' * 100000))
        self.assertIn("members", self.refused(json.dumps({f"k{i}": 0 for i in range(5000)})))

    def test_wrong_types_and_absurd_numbers(self):
        for member, value in (
            ("messages", "Hello"), ("messages", []), ("messages", [1]), ("messages", [{"content": "x"}]),
            ("messages", [{"role": "wizard", "content": "x"}]), ("messages", [{"role": "user"}]), ("messages", [{"role": "user", "content": 5}]),
            ("n", 10**9), ("n", 0), ("n", 1.5), ("n", "2"), ("max_tokens", -1), ("max_tokens", 0), ("max_tokens", 1e300), ("max_tokens", True),
            ("temperature", -1), ("temperature", "hot"), ("temperature", 3), ("top_p", 2), ("top_p", []), ("seed", 1e40), ("seed", {}),
            ("presence_penalty", 9), ("frequency_penalty", -3), ("stop", ""), ("stop", [1]), ("stop", ["a"] * 50), ("stream", "yes"),
            ("logit_bias", {"99999": 1}), ("logit_bias", {"-1": 1}), ("logit_bias", {"x": 1}), ("logit_bias", {"1": 1000}), ("logit_bias", [1]),
            ("logprobs", 3), ("top_logprobs", 5), ("response_format", "json"), ("response_format", {"type": "xml"}), ("tools", {}),
            ("response_format", {"type": "json_schema"}), ("tools", [{"type": "function"}]), ("tools", [{"type": "function", "function": {"name": "a b"}}]),
            ("tool_choice", "required"), ("tool_choice", 1), ("tool_choice", {"type": "function", "function": {"name": "nobody"}}), ("functions", [{}]),
            ("tool_choice", {"type": "function", "function": {"name": 5}}), ("tool_choice", {"type": "function", "function": []}),
            ("stream_options", 1), ("model", 7), ("audio", {"voice": "x"}), ("modalities", ["audio"]),
        ):  # fmt: skip
            self.refused(self.ask(**{member: value}), type="invalid_request_error")
        schema = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object", "$ref": "#/nowhere"}}}
        self.refused(self.ask(response_format=schema), param="response_format.json_schema.schema")

    def test_what_a_tool_was_called_with_may_be_anything(self):
        for arguments in ("", "{}", "no JSON", '{"a": ' + "[" * 100000, '{"a": ' + "[" * 100000 + "]" * 100000 + "}"):
            call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": arguments}}
            messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "tool_calls": [call]}]
            code, _, answer = self.server.post(CHAT, self.ask(messages=messages))
            self.assertEqual(code, 200 if len(arguments) < 10 else 400, answer)

    def test_an_image_is_refused_with_a_sentence(self):
        parts = [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]
        message = self.refused({"messages": [{"role": "user", "content": parts}]}, param="messages[0].content[1]")
        self.assertIn("text only", message)

    def test_an_unknown_model_is_not_found(self):
        self.refused(self.ask(model="gpt-17"), 404, code="model_not_found", param="model")
        self.assertEqual(self.server.request("GET", "/v1/models/gpt-17")[0], 404)
        self.assertEqual(self.server.request("GET", f"/v1/models/{NAME}")[2]["id"], NAME)

    def test_a_prompt_longer_than_the_context(self):
        for content, unit in (("word " * 500, "tokens"), ("word" * 200_000, "bytes")):
            message = self.refused(self.ask(messages=[{"role": "user", "content": content}]), code="context_length_exceeded", param="messages")
            self.assertRegex(message, rf"^the prompt has \d+ {unit}, but the context of")
            self.refused({"prompt": content}, path="/v1/completions", code="context_length_exceeded", param="prompt")

    def test_hints_are_ignored(self):
        status, _, answer = self.server.post(CHAT, self.ask(prompt_cache_key="a", user="b", metadata={"c": "d"}, parallel_tool_calls=False, store=True, service_tier="auto", frobnicate=[1]))
        self.assertEqual(status, 200, answer)

    def test_other_endpoints_refuse_too(self):
        for body in ({}, {"prompt": 5}, {"prompt": [99999]}, {"prompt": [-1]}, {"prompt": ["a"] * 99}, {"prompt": "a", "suffix": "b"},
                     {"prompt": "a", "best_of": 5}, {"prompt": "a", "logprobs": 9}):  # fmt: skip
            self.refused(body, path="/v1/completions")
        for body in ({}, {"input": []}, {"input": 5}, {"input": [{"type": "item_reference", "id": "x"}]}, {"input": "a", "previous_response_id": "resp_1"}, {"input": "a", "background": True}):
            self.refused(body, path="/v1/responses")
        for body in ({}, {"tokens": [1e9]}, {"tokens": ["a"]}, {"tokens": 5}):
            self.refused(body, path="/detokenize")


class Connections(unittest.TestCase):
    def test_64_idle_connections_hold_up_nobody(self):
        with Server("-q") as server:
            idle = [server.connect() for _ in range(64)]
            for connection in idle[::2]:
                connection.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\n")
            self.assertEqual(server.chat()[0], 200)
            self.assertGreaterEqual(server.metric("pteron_connections"), 64)
            for connection in idle:
                connection.close()
            self.assertEqual(server.wait_for_metric("pteron_connections", 1), 1)

    def test_a_request_that_drips_in_is_cut_off(self):
        with Server("-q", "--read-time", 1) as server, server.connect() as head, server.connect() as body, server.connect() as idle:
            body.sendall(b"POST /tokenize HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n")
            answers = {}
            deadline = time.monotonic() + 60
            for connection in (head, body):
                connection.settimeout(0.2)
            while len(answers) < 2 and time.monotonic() < deadline:
                for connection in {head, body} - set(answers):
                    try:
                        connection.sendall(b"x")
                        answers[connection] = connection.recv(4096).split(b"\r\n")[0]
                    except TimeoutError:
                        pass
            self.assertEqual(set(answers.values()), {b"HTTP/1.1 408 Request Timeout"})
            idle.sendall(b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n")  # which has not begun to ask before
            self.assertIn(b"200 OK", idle.recv(4096))

    def test_more_connections_than_the_limit_are_refused(self):
        with Server("-q", "--connections", 4) as server:
            held = [server.connect() for _ in range(4)]
            with server.connect() as fifth:
                self.assertIn(b" 503 ", until_closed(fifth).split(b"\r\n")[0])
            held.pop().close()
            for connection in held:
                connection.close()
            deadline = time.monotonic() + 20
            while server.request("GET", "/health")[0] != 200 and time.monotonic() < deadline:
                time.sleep(0.02)
            self.assertEqual(server.request("GET", "/health")[0], 200)

    def test_a_key_is_asked_for(self):
        with Server("-q", "--api-key", "secret") as server:
            for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer secretX"}, {"Authorization": "Bearer"}):
                status, answer_headers, answer = server.request("GET", "/v1/models", headers=headers)
                self.assertEqual((status, answer["error"]["code"]), (401, "invalid_api_key"))
                self.assertIn("WWW-Authenticate", answer_headers)
            self.assertEqual(server.request("GET", "/v1/models", headers={"Authorization": "Bearer secret"})[0], 200)
            self.assertEqual(server.request("GET", "/health")[0], 200)
            self.assertNotIn("secret", server.log())

    def test_pages_of_other_sites_are_kept_out(self):
        with Server("-q") as server:
            for origin, status in (("http://localhost:3000", 200), ("http://127.0.0.1", 200), ("https://evil.example", 403), ("http://localhost.evil.example", 403), ("null", 403)):
                code, headers, _ = server.request("GET", "/v1/models", headers={"Origin": origin})
                self.assertEqual((code, headers.get("Access-Control-Allow-Origin")), (status, origin if status == 200 else None))
            self.assertEqual(server.request("OPTIONS", CHAT, headers={"Origin": "http://localhost:1"})[0], 204)
        with Server("-q", "--cors", "https://mine.example") as server:
            self.assertEqual(server.request("GET", "/v1/models", headers={"Origin": "https://mine.example"})[0], 200)

    def test_the_log_has_a_line_per_request_without_what_was_said(self):
        with Server() as server:
            server.chat("a secret question")
            for _ in range(50):  # each on a connection of its own
                server.request("GET", "/nothing")
                server.request("GET", "/health")
            self.assertEqual(server.stop(), 0)
            lines = [json.loads(line) for line in server.log().splitlines() if line.startswith("{")]
            self.assertEqual([(line["path"], line["status"]) for line in lines], [(CHAT, 200), *[("/nothing", 404), ("/health", 200)] * 50])
            self.assertNotIn("secret", server.log())


if __name__ == "__main__":
    unittest.main()
