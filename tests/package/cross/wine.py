# SPDX-License-Identifier: BSD-3-Clause
"""Programs of Windows on this machine: Wine, with a screen in memory, because its Vulkan wants one."""
import os
import pathlib
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "cli"))
from terminal import PATIENCE, Screen, Terminal

HERE = pathlib.Path(__file__).parent
COMPILE = ["x86_64-w64-mingw32-gcc-posix", "-O1", "-Wall", "-Wextra"]


class Wine:
    def __init__(self, folder: pathlib.Path, programs: pathlib.Path):
        """Keeps its settings in `folder`, and puts what Wine lacks beside the programs."""
        folder.mkdir(parents=True)
        read, write = os.pipe()
        screen = ["Xvfb", "-displayfd", str(write), "-screen", "0", "640x480x24", "-nolisten", "tcp"]
        self.screen = subprocess.Popen(screen, pass_fds=[write], stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as answer:
            number = answer.readline().strip()
        self.environment = os.environ | {
            "DISPLAY": f":{number}",
            "WINEPREFIX": str(folder / "prefix"),
            "WINEDEBUG": "-all",
            # Its DirectX 12 shows a GPU that is not there; Vulkan is this machine's.
            "WINEDLLOVERRIDES": "mscoree,mshtml,d3d12,dxgi=;bcryptprimitives=n,b",
        }
        shim = [HERE / "bcryptprimitives.c", "-o", programs / "bcryptprimitives.dll"]
        subprocess.run([*COMPILE, "-shared", *shim, "-ladvapi32"], check=True)
        self.ctrl_c = folder / "ctrl_c.exe"
        subprocess.run([*COMPILE, HERE / "ctrl_c.c", "-o", self.ctrl_c], check=True)
        subprocess.run(["wine", "wineboot", "-i"], env=self.environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def console(self, *command) -> "Console":
        return Console(shutil.which(str(command[0])), *command[1:], **self.environment)

    def close(self) -> None:
        subprocess.run(["wineserver", "-k"], env=self.environment, check=False)
        self.screen.terminate()
        self.screen.wait()


class Console(Terminal):
    """A console of Windows in a terminal of this machine: Wine paints it there, and gives it the keys."""

    def wait_for_file(self, path: pathlib.Path, words: str) -> None:
        """Until they stand in it. Meanwhile the console goes on."""
        end = time.monotonic() + PATIENCE
        while not path.exists() or words not in path.read_text():
            if time.monotonic() > end:
                raise AssertionError(f"'{words}' did not come:\n{self.output.decode(errors='replace')[-3000:]}")
            self.read(0.2)

    @staticmethod
    def shown(output: bytes) -> str:
        screen = Screen()
        screen.feed(output.decode(errors="replace"))
        return "\n".join(screen.text(len(screen.rows)))
