# SPDX-License-Identifier: BSD-3-Clause
"""A program in a terminal: keys go in, the screen comes out."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
import unicodedata

PATIENCE = 120
ESCAPE = re.compile(r"\x1b\[([?\d;]*)([A-Za-z~])")


def width(c):
    if unicodedata.category(c) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(c) in "WF" else 1


class Screen:
    """As much of a terminal as a line editor needs. Lines scroll without end."""

    def __init__(self):
        self.rows, self.row, self.column = [[]], 0, 0

    def put(self, c):
        line = self.rows[self.row]
        if width(c) == 0 and self.column > 0:
            line[self.column - 1] += c
            return
        line.extend([" "] * (self.column - len(line)))
        line[self.column : self.column + width(c)] = [c] + [""] * (width(c) - 1)
        self.column += width(c)

    def control(self, parameters, letter):
        n = int(parameters) if parameters.isdigit() else 1
        if letter == "A":
            self.row = max(self.row - n, 0)
        elif letter == "C":
            self.column += n
        elif letter == "J":
            del self.rows[self.row][self.column :], self.rows[self.row + 1 :]
        elif letter == "K":
            del self.rows[self.row][self.column :]

    def feed(self, text):
        at = 0
        while at < len(text):
            if found := ESCAPE.match(text, at):
                self.control(*found.groups())
                at = found.end()
                continue
            c = text[at]
            at += 1
            if c == "\r":
                self.column = 0
            elif c == "\n":
                self.row += 1
                if self.row == len(self.rows):
                    self.rows.append([])
            else:
                self.put(c)

    def text(self, last=1):
        return ["".join(line).rstrip() for line in self.rows[-last:]]


class Terminal:
    def __init__(self, *command, columns=80, **environment):
        self.output = b""
        self.process, self.file = pty.fork()
        if self.process == 0:
            os.environ.update({"TERM": "xterm", **environment})
            try:
                os.execv(command[0], [str(c) for c in command])
            finally:
                os._exit(127)
        fcntl.ioctl(self.file, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.file)
        try:
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
        except (ProcessLookupError, ChildProcessError):
            pass

    def type(self, keys):
        os.write(self.file, keys if isinstance(keys, bytes) else keys.encode())

    def read(self, timeout):
        if not select.select([self.file], [], [], timeout)[0]:
            return False
        try:
            data = os.read(self.file, 65536)
        except OSError:  # the program has ended
            return False
        self.output += data
        return bool(data)

    def wait_for(self, done, about):
        """Until done(output) is true."""
        end = time.monotonic() + PATIENCE
        while not done(self.output):
            if not self.read(max(0, end - time.monotonic())):
                raise AssertionError(f"{about} did not come:\n{self.output.decode(errors='replace')[-3000:]}")

    def settle(self):
        """Until nothing comes any more."""
        while self.read(0.15):
            pass

    def screen(self):
        self.settle()
        screen = Screen()
        screen.feed(self.output.decode())
        return screen

    def exit_code(self):
        while self.read(PATIENCE):
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])
