# SPDX-License-Identifier: BSD-3-Clause
"""Programs of Windows on this machine: Wine, with a screen in memory, because its Vulkan wants one."""
import os
import pathlib
import subprocess

SHIM = pathlib.Path(__file__).with_name("bcryptprimitives.c")


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
        shim = ["x86_64-w64-mingw32-gcc-posix", "-shared", "-O1", SHIM, "-o", programs / "bcryptprimitives.dll"]
        subprocess.run([*shim, "-ladvapi32"], check=True)
        subprocess.run(["wine", "wineboot", "-i"], env=self.environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def close(self) -> None:
        subprocess.run(["wineserver", "-k"], env=self.environment, check=False)
        self.screen.terminate()
        self.screen.wait()
