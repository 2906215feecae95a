# SPDX-License-Identifier: BSD-3-Clause
"""`pteron chat` at a terminal. usage: test_terminal.py PTERON DATA_FOLDER"""
import pathlib
import stat
import sys
import tempfile
import unittest

from terminal import Screen, Terminal

PTERON = sys.argv.pop(1)
DATA = pathlib.Path(sys.argv.pop(1))
MODEL = (DATA / "llama_tiny" / "rope_llama" / "model.pte", "--tokenizer", DATA / "tiny_tokenizer" / "tokenizer.json")
EMPTY_PROMPT = b"\x1b[J> \r\x1b[2C"
UP, DOWN, RIGHT, LEFT, HOME, END, DELETE = "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1b[H", "\x1b[F", "\x1b[3~"
WORD_LEFT, WORD_RIGHT, ALT_ENTER, ALT_D, ALT_BACKSPACE = "\x1b[1;5D", "\x1b[1;5C", "\x1b\r", "\x1bd", "\x1b\x7f"
FAMILY, FLAG = "👩‍👩‍👧", "🇯🇵"


def control(letter):
    return chr(ord(letter) - ord("@"))


def paste(text):
    return f"\x1b[200~{text}\x1b[201~"


class Chat(Terminal):
    def __init__(self, folder, *options, max_tokens=1, **more):
        options = ("--ignore-eos", "--temperature", 0, "--max-tokens", max_tokens, "-q", *options)
        super().__init__(PTERON, "chat", *MODEL, *options, PTERON_CACHE=folder, **more)
        self.prompt()

    def prompt(self):
        """Until the program wants to hear something."""
        self.wait_for(lambda out: out.endswith(EMPTY_PROMPT), "a prompt")

    def enter(self, keys):
        """Types a line; what came on the screen below it."""
        self.type(keys)
        self.type("\r")
        before = len(self.output)
        self.wait_for(lambda out: len(out) > before and b"\x1b[?2004l" in out[before:] and out.endswith(EMPTY_PROMPT), "an answer")
        return self.output[before:].decode().split("\x1b[?2004l")[1].replace("\r\n", "\n")

    def message(self, keys):
        """The message that the keys make."""
        self.enter("/reset")
        self.enter(keys)
        said = self.enter("/history")
        return said[said.index("user: ") + 6 : said.index("\nassistant: ")]


class Bar(unittest.TestCase):
    def test_nothing_of_the_bar_is_left_beside_the_answer(self):
        options = ("--prompt", "Hello", "--temperature", 0, "--max-tokens", 4, "--ignore-eos")
        with Terminal(PTERON, "generate", *MODEL, *options) as terminal:
            self.assertEqual(terminal.exit_code(), 0)
        self.assertIn(b"loading pipelines [", terminal.output)
        screen = Screen()
        screen.feed(terminal.output.decode())
        self.assertNotIn("loading", "\n".join(screen.text(len(screen.rows))))


class AtATerminal(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())

    def chat(self, *options, **more):
        return self.enterContext(Chat(self.folder, *options, **more))

    def test_keys_edit_the_line(self):
        chat = self.chat()
        for keys, wanted in (
            ("plain", "plain"),
            ("world" + HOME + "hello " + END + "!", "hello world!"),
            ("bc" + control("A") + "a" + control("E") + "d", "abcd"),
            ("abc" + LEFT + LEFT + DELETE, "ac"),
            ("abc" + control("B") + control("H") + control("F") + "d", "acd"),
            ("abc" + LEFT + "\x7f\x7f\x7f\x7f" + RIGHT + RIGHT + "x", "cx"),
            ("one two three" + control("W") + control("W") + "2", "one 2"),
            ("keep this" + WORD_LEFT + control("K"), "keep "),
            ("lose this" + LEFT * 4 + control("U"), "this"),
            ("a b" + control("U") + control("Y") + control("Y"), "a ba b"),
            ("a-word here" + HOME + WORD_RIGHT + ALT_D + WORD_RIGHT + ALT_BACKSPACE + "x", "a x"),
            ("ab" + control("T"), "ba"),
            ("a\x1b[99~\x1b[1;2Pb\x1bq\x1bOQc", "abc"),  # keys that mean nothing here
            ("日本語" + LEFT + "\x7f", "日語"),
            ("a" + FAMILY + "é" + FLAG + LEFT * 3 + "\x7f", FAMILY + "é" + FLAG),
            ("e\u0301x" + LEFT + "\x7f" + "y", "yx"),
            (paste("two\r\nlines\n\tof") + " it", "two\nlines\n\tof it"),
            ("a" + ALT_ENTER + "b" + UP + "x" + DOWN + "y", "ax\nby"),
            (paste("\x1b[31m\x03\x04") + "!", "\x1b[31m\x03\x04!"),
        ):
            self.assertEqual(chat.message(keys), wanted, repr(keys))

    def test_characters_may_come_in_pieces_and_bad_bytes_are_shown(self):
        chat = self.chat()
        chat.enter("/reset")
        for part in (b"\xe6", b"\x97", b"\xa5", b"a\xff"):
            chat.type(part)
        self.assertIn("user: 日a\ufffd\n", chat.enter("") + chat.enter("/history"))

    def test_up_and_down_go_through_what_was_typed_also_in_earlier_sessions(self):
        with Chat(self.folder) as chat:
            for line in ("first", "second", "second", "with \\ and\\n"):
                chat.enter(line)
            chat.enter(paste("two\nlines"))
            # "/reset", two times for two lines, the three others
            self.assertEqual(chat.message(UP * 6 + HOME + "the "), "the first")
            chat.type("draft" + UP + UP + DOWN + DOWN + DOWN)
            self.assertEqual(chat.screen().text(), ["> draft"])
            chat.type(control("C") + control("D"))
            self.assertEqual(chat.exit_code(), 0)
        kept = pathlib.Path(self.folder) / "chat_history"
        self.assertEqual(stat.S_IMODE(kept.stat().st_mode), 0o600)
        chat = self.chat()
        chat.type(UP * 99)
        self.assertEqual(chat.screen().text(), ["> first"])
        chat.type(DOWN * 2)
        self.assertEqual(chat.screen().text(), ["> with \\ and\\n"])
        chat.type(DOWN)
        self.assertEqual(chat.screen().text(2), ["> two", "  lines"])

    def test_a_history_that_is_damaged_or_too_long_is_no_problem(self):
        kept = pathlib.Path(self.folder) / "chat_history"
        kept.write_bytes(b"\xff\xfe\n" + b"".join(b"line %d\n" % i for i in range(5000)))
        chat = self.chat()
        chat.type(UP)
        self.assertEqual(chat.screen().text(), ["> line 4999"])
        self.assertEqual(len(kept.read_bytes().splitlines()), 1000)

    def test_long_and_wide_text_wraps_and_the_cursor_is_where_it_should_be(self):
        chat = self.chat(columns=10)
        chat.type("12345678")
        screen = chat.screen()
        self.assertEqual((screen.text(2), screen.column), (["> 12345678", ""], 0))
        chat.type("9" + LEFT)
        screen = chat.screen()
        self.assertEqual((screen.text(2), screen.row, screen.column), (["> 12345678", "9"], len(screen.rows) - 1, 0))
        chat.type(LEFT)
        screen = chat.screen()
        self.assertEqual((screen.row, screen.column), (len(screen.rows) - 2, 9))
        chat.type(control("E") + control("U") + "1234567日本")
        screen = chat.screen()
        self.assertEqual((screen.text(2), screen.column), (["> 1234567", "日本"], 4))
        chat.type(control("A"))
        screen = chat.screen()
        self.assertEqual((screen.row, screen.column), (len(screen.rows) - 2, 2))
        chat.type(control("K"))
        self.assertEqual(chat.screen().text(), [">"])

    def test_ctrl_c_clears_the_line_and_ctrl_d_leaves(self):
        chat = self.chat()
        chat.type("nonsense" + control("C"))
        self.assertEqual(chat.screen().text(), [">"])
        self.assertEqual(chat.message("sense"), "sense")
        before = len(chat.output)
        chat.type(control("C"))
        chat.wait_for(lambda out: b"Ctrl-D or /quit" in out[before:] and out.endswith(EMPTY_PROMPT), "a hint")
        chat.type("x" + LEFT + control("D") + control("D"))
        self.assertEqual(chat.exit_code(), 0)

    def test_ctrl_c_stops_the_answer_and_not_the_program(self):
        chat = self.chat("--on-full", "slide", max_tokens=1_000_000)
        chat.type("Go on\r")
        before = len(chat.output)
        chat.wait_for(lambda out: len(out) > before + 200, "the answer")
        chat.type(control("C"))
        chat.prompt()
        self.assertIn("user: Go on", chat.enter("/history"))

    def test_commands(self):
        chat = self.chat()
        self.assertIn("no answer yet", chat.enter("/stats"))
        self.assertIn("no question to take back", chat.enter("/back"))
        chat.enter("Hi")
        self.assertIn("read back per token", chat.enter("/stats"))
        self.assertIn("/save FILE", chat.enter("/help"))
        self.assertIn("no command '/foo'", chat.enter("/foo bar"))
        self.assertIn("use /save FILE", chat.enter("/save"))
        self.assertIn("Saved in", chat.enter(f"/save {self.folder}/said.json"))
        self.assertIn('"content": "Hi"', (pathlib.Path(self.folder) / "said.json").read_text())
        chat.enter("/back")
        self.assertNotIn("user: Hi", chat.enter("/history"))
        chat.type("/quit\r")
        self.assertEqual(chat.exit_code(), 0)

    def test_a_terminal_that_cannot_move_its_cursor_gives_plain_lines(self):
        chat = self.enterContext(Terminal(PTERON, "chat", *MODEL, "--max-tokens", 1, TERM="dumb"))
        chat.wait_for(lambda out: out.endswith(b"\n> "), "a prompt")
        chat.type("Hello\n/history\n/quit\n")
        self.assertEqual(chat.exit_code(), 0)
        self.assertNotIn(b"\x1b[J", chat.output)
        self.assertIn(b"user: Hello", chat.output)


if __name__ == "__main__":
    unittest.main()
