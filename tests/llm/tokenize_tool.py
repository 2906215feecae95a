# SPDX-License-Identifier: BSD-3-Clause
"""Runs the program tokenize_texts and compares its answers with a reference's."""
import json
import pathlib
import struct
import subprocess
import tempfile


class Failure(Exception):
    pass


class Tool:
    def __init__(self, path):
        self.path = path
        self.folder = tempfile.TemporaryDirectory()
        self.count = 0

    def file(self, content, suffix=""):
        """Writes bytes, or JSON, into a new file."""
        self.count += 1
        path = pathlib.Path(self.folder.name) / f"{self.count}{suffix}"
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return path

    def run(self, tokenizer, items, *flags):
        """[(tokens or None, text or message)] for texts, bytes, or with --decode lists of tokens."""
        blobs = [struct.pack(f"<{len(i)}I", *i) if isinstance(i, list) else i.encode() if isinstance(i, str) else i for i in items]
        data = b"".join(struct.pack("<I", len(b)) + b for b in blobs)
        done = subprocess.run([self.path, str(tokenizer), *flags], input=data, capture_output=True)
        if done.returncode != 0:
            raise Failure(f"exit code {done.returncode}: {done.stderr.decode()}")
        return list(self._answers(done.stdout, len(items)))

    @staticmethod
    def _answers(out, count):
        at = 0

        def number():
            nonlocal at
            at += 4
            return struct.unpack_from("<I", out, at - 4)[0]

        for _ in range(count):
            size = number()
            ids = None
            if size != 0xFFFFFFFF:
                ids = list(struct.unpack_from(f"<{size}I", out, at))
                at += 4 * size
            length = number()
            yield ids, out[at : at + length].decode()
            at += length

    def refusal(self, content):
        """The message with which a file is refused."""
        done = subprocess.run([self.path, str(self.file(content))], input=b"", capture_output=True)
        if done.returncode != 3:
            raise Failure(f"a bad file was not refused (exit code {done.returncode})")
        return done.stderr.decode()


def check(name, items, ours, ids=None, texts=None):
    """All token lists and all decoded texts must be those of the reference, where it has some."""
    for i, item in enumerate(items):
        for what, mine, wanted in (("tokens", ours[i][0], ids and ids[i]), ("text", ours[i][1], texts and texts[i])):
            if wanted is not None and mine != wanted:
                raise Failure(f"{name}: item {i} {item!r:.200}\n  {what} {mine!r:.300}\n  wanted {wanted!r:.300}")
