# SPDX-License-Identifier: BSD-3-Clause
"""Does what docs/serving.md and the README's door to it show, as it stands there. usage: test_docs.py PTERON DATA_FOLDER"""
import json
import re
import subprocess
import sys
import unittest

from serving import DATA, Server

ROOT = DATA.resolve().parents[1]
PAGE, README = (ROOT / "docs" / "serving.md").read_text(), (ROOT / "README.md").read_text()


def blocks(language, page=PAGE):
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.M | re.S)


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server("-q"))

    def run_here(self, *command):
        here = [part.replace("http://127.0.0.1:8080", self.server.url) for part in command]
        return subprocess.run(here, check=True, capture_output=True, text=True, timeout=120).stdout

    def test_curl(self):
        (block,) = blocks("sh")
        whole, stream, models = re.split(r"\n(?=curl)", block)
        self.assertEqual(json.loads(self.run_here("bash", "-c", whole))["object"], "chat.completion")
        self.assertTrue(self.run_here("bash", "-c", stream).endswith("data: [DONE]\n\n"))
        self.assertEqual(len(json.loads(self.run_here("bash", "-c", models))["data"]), 1)

    def test_the_readme(self):
        (line,) = blocks("sh", README)
        self.assertEqual(json.loads(self.run_here("bash", "-c", line))["object"], "chat.completion")

    def test_python(self):
        self.run_here(sys.executable, "-c", blocks("python")[0])  # the one of embeddings has a test of its own

    def test_every_endpoint_is_listed_and_there(self):
        paths = {path for row in re.findall(r"^\| `(?:GET|POST) (.*?) \|", PAGE, re.M) for path in re.findall(r"(/[\w/]*)`", row + "`")}
        for path in paths - {"/v1/models/NAME"}:
            self.assertNotEqual(self.server.request("GET", path)[0], 404, path)
        self.assertGreaterEqual(len(paths), 9)

    def test_the_page(self):
        status, headers, body = self.server.request("GET", "/")
        self.assertEqual((status, headers["Content-Type"]), (200, "text/html; charset=utf-8"))
        self.assertIn(b"/v1/chat/completions", body)


if __name__ == "__main__":
    unittest.main()
