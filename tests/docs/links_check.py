#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Does what the pages link to exist, down to the heading? And is the README what it is meant to be?

usage: links_check.py SOURCE_DIR
"""
import json
import pathlib
import re
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
DOOR_LINES = 15
PICTURE_BYTES = 150_000


def pages() -> list[pathlib.Path]:
    listed = subprocess.run(["git", "-C", SOURCE, "ls-files", "-co", "--exclude-standard", "*.md"], capture_output=True, text=True)
    if listed.returncode == 0:
        return [SOURCE / name for name in listed.stdout.splitlines() if (SOURCE / name).exists()]
    ours = (path for path in SOURCE.rglob("*.md") if not {"build", "node_modules", "dist"} & set(path.relative_to(SOURCE).parts))
    return sorted(ours)  # a copy without git


def prose(page: pathlib.Path) -> str:
    """Without code."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
    return re.sub(r"(?<!\[)`[^`\n]*`(?!\])", "", re.sub(r"^    .*$", "", text, flags=re.M))


def links(page: pathlib.Path) -> list[str]:
    text = prose(page)
    found = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'(?:src|srcset|href)="([^"]+)"', text)
    return [link for link in found if not re.match(r"\w+:", link)]


def anchors(page: pathlib.Path) -> set[str]:
    """As GitHub makes them of headings."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
    out: dict[str, int] = {}
    for heading in re.findall(r"^#+ +(.*?) *#*$", text, flags=re.M):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        name = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        out[name if name not in out else f"{name}-{out[name]}"] = 1
        out[name] = out.get(name, 0) + 1
    return set(out)


class Links(unittest.TestCase):
    def test_there_are_pages(self):
        self.assertIn(SOURCE / "docs" / "README.md", pages())

    def test_every_relative_link_leads_somewhere(self):
        for page in pages():
            for link in links(page):
                path, _, anchor = link.partition("#")
                target = (page.parent / path).resolve() if path else page
                with self.subTest(page=str(page.relative_to(SOURCE)), link=link):
                    self.assertTrue(target.exists(), "there is no such file")
                    if anchor:
                        self.assertIn(anchor, anchors(target))

    def test_the_index_names_every_page(self):
        docs = SOURCE / "docs"
        named = {(docs / link.partition("#")[0]).resolve() for link in links(docs / "README.md")}
        for page in docs.glob("*.md"):
            self.assertTrue(page.name == "README.md" or page in named, f"docs/README.md does not name {page.name}")

    def test_what_is_no_link_is_none(self):
        self.assertNotIn("https://github.com/pytorch/executorch", links(SOURCE / "README.md"))
        self.assertIn("not-wholly-for-the-gpu", anchors(SOURCE / "docs" / "programs.md"))


class Readme(unittest.TestCase):
    def test_each_door_is_short_and_leads_to_one_page(self):
        doors = re.findall(r"^## (I [^\n]*)\n(.*?)(?=^## )", (SOURCE / "README.md").read_text(), re.M | re.S)
        self.assertEqual(len(doors), 8)
        for title, text in doors:
            lines = [line for line in text.splitlines() if line.strip()]
            self.assertLessEqual(len(lines), DOOR_LINES, title)
            self.assertEqual(len(set(re.findall(r"\]\((docs/\w+\.md)\)", text))), 1, title)

    def test_its_numbers_are_those_of_the_tables(self):
        readme = (SOURCE / "README.md").read_text()
        ops = len(re.findall(r"^\| `", (SOURCE / "docs" / "ops.md").read_text(), re.M))
        programs = len(list((SOURCE / "tests" / "data" / "ops").glob("*/*/manifest.json")))
        token = json.loads((SOURCE / "docs" / "benchmarks" / "results.json").read_text())["own"]["q4, lavapipe"]
        self.assertIn(f"**{ops} ops**", readme)
        self.assertIn(f"in over {programs // 100 * 100:,}\n  programs", readme)
        self.assertIn(f"{token['dispatches_per_token']:.0f} dispatches, one queue write, one submit and no allocation", readme)
        counts = [token[f"{what}_per_token"] for what in ("queue_writes", "submits", "host_allocations")]
        self.assertEqual(counts, [1, 1, 0])

    def test_it_begins_with_the_two_commands_and_a_picture(self):
        first = (SOURCE / "README.md").read_text().partition("\n## ")[0]
        self.assertEqual(re.findall(r"^    (\./\w+)", first, re.M), ["./run", "./test"])
        self.assertRegex(first, r'<img src="docs/images/chat-light\.png" width="\d+" alt="[^"]+">')

    def test_pictures_are_small(self):
        for picture in (SOURCE / "docs" / "images").glob("*"):
            self.assertLessEqual(picture.stat().st_size, PICTURE_BYTES, picture.name)


unittest.main()
