# SPDX-License-Identifier: BSD-3-Clause
"""A machine: a minimal Debian in a folder of its own, entered with chroot from a mount namespace.

Where packages come from (apt, pip, npm, proxies, certificates) is passed on; nothing else of this machine is seen. The
network is this machine's.
"""
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "fresh"
LOGS = WORK / "logs"
BASE = WORK / "base"
CLONE = "/home/user/a project"  # the space is on purpose
LIMIT = 2400  # seconds of one command

HOME = Path.home()
PIP_FILES = [Path("/etc/pip.conf"), Path("/etc/xdg/pip/pip.conf"), HOME / ".pip/pip.conf", HOME / ".config/pip/pip.conf"]
NPM_FILES = [Path("/etc/npmrc"), Path("/usr/etc/npmrc"), Path("/usr/local/etc/npmrc"), HOME / ".npmrc"]
SETTINGS = re.compile(
    r"PIP_.*|npm_config_.*|.*_proxy|SSL_CERT_.*|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|NODE_EXTRA_CA_CERTS|GIT_SSL_CAINFO", re.I)
# A newcomer sees what these would hide.
HIDING = re.compile(r"PIP_DISABLE_PIP_VERSION_CHECK|npm_config_loglevel", re.I)


class CommandFailed(Exception):
    pass


def call(*command) -> None:
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise CommandFailed(f"{command[0]} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-2000:]}")


def make_base() -> None:
    """The plain system, made once."""
    if BASE.exists():
        return
    part = BASE.with_suffix(".part")
    # apt's settings are copied instead of given as a mirror: they may say more than a mirror can.
    call("unshare", "--mount", "mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", "--include=git,ca-certificates",
         '--setup-hook=cp -a /etc/apt/. "$1/etc/apt" && mkdir -p "$1/usr/share/keyrings"',
         '--setup-hook=cp -an /usr/share/keyrings/. "$1/usr/share/keyrings"', "bookworm", part, "-")
    call("chroot", part, "useradd", "--create-home", "--shell", "/bin/bash", "user")
    part.rename(BASE)


def local_folders() -> set[Path]:
    """Folders that pip's settings name; of a local index (…/simple) all, because it points to files beside itself."""
    texts = [file.read_text() for file in PIP_FILES if file.is_file()]
    texts += [f" {value}" for name, value in os.environ.items() if name.startswith("PIP_")]
    paths = re.findall(r"(?:[=\s]|file://)(/[^\s/]\S*)", " ".join(texts))
    folders = {Path(re.sub(r"/simple/*$", "", path)) for path in paths}
    return {folder for folder in folders if folder.is_dir()}


class Machine:
    """Only inside of a mount namespace: nothing is unmounted here."""

    def __init__(self, name: str):
        self.name = name
        self.root = WORK / "machines" / name
        self.root.parent.mkdir(exist_ok=True)
        LOGS.mkdir(exist_ok=True)
        self.commands = 0
        call("cp", "-a", "--reflink=auto", BASE, self.root)
        self._pass_on()
        self._mount()

    def inside(self, path) -> Path:
        return self.root / str(path).lstrip("/")

    def _pass_on(self) -> None:
        for file in ("/etc/resolv.conf", "/etc/hosts"):
            shutil.copy(file, self.inside(file))
        certificates = Path("/usr/local/share/ca-certificates")
        if certificates.is_dir():
            call("cp", "-aLT", certificates, self.inside(certificates))
        call("chroot", self.root, "update-ca-certificates")
        for file in filter(Path.is_file, PIP_FILES + NPM_FILES):
            in_home = file.is_relative_to(HOME)
            for copy in [home / file.relative_to(HOME) for home in (Path("/root"), Path("/home/user"))] if in_home else [file]:
                self.inside(copy).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, self.inside(copy))
        call("chroot", self.root, "chown", "-R", "user:user", "/home/user")

    def _mount(self) -> None:
        call("mount", "-t", "proc", "proc", self.inside("/proc"))
        call("mount", "--rbind", "/dev", self.inside("/dev"))
        call("mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", self.inside("/dev/shm"))
        call("mount", "--bind", "-o", "ro", "/sys", self.inside("/sys"))
        for folder in local_folders():
            self.inside(folder).mkdir(parents=True, exist_ok=True)
            call("mount", "--bind", "-o", "ro", folder, self.inside(folder))

    def clone(self, user: str = "root") -> "Machine":
        call("git", "clone", "-q", "--no-hardlinks", ROOT, self.inside(CLONE))
        call("chroot", self.root, "chown", "-R", f"{user}:{user}", CLONE)
        return self

    def _enter(self, command, user: str, cwd: str, variables: dict) -> list:
        sbin = "" if user != "root" else "/usr/local/sbin:/usr/sbin:/sbin:"
        settings = {name: value for name, value in os.environ.items() if SETTINGS.fullmatch(name) and not HIDING.fullmatch(name)}
        settings |= {"HOME": "/root" if user == "root" else f"/home/{user}", "PATH": f"{sbin}/usr/local/bin:/usr/bin:/bin"}
        enter = ["chroot", f"--userspec={user}:{user}", self.root, "env", "-i"]
        enter += [f"{name}={value}" for name, value in (settings | variables).items()]
        return [*enter, "bash", "-c", 'cd "$1" && shift && exec "$@"', "bash", cwd, *command]

    def _logs(self) -> list[Path]:
        self.commands += 1
        return [LOGS / f"{self.name}-{self.commands}.{stream}" for stream in ("out", "err")]

    def run(self, *command, user: str = "root", cwd: str = CLONE, fails: bool = False, **variables) -> tuple[str, str]:
        """The output and the messages of a command, which must succeed, or fail if `fails`. Nothing is a terminal."""
        files = self._logs()
        with open(files[0], "w") as out, open(files[1], "w") as err:
            try:
                enter = self._enter(command, user, cwd, variables)
                status = subprocess.run(enter, stdin=subprocess.DEVNULL, stdout=out, stderr=err, timeout=LIMIT).returncode
            except subprocess.TimeoutExpired:
                status = f"no end after {LIMIT} s"
        texts = [file.read_text(errors="replace") for file in files]
        if (status == 0) == fails:
            raise CommandFailed(f"{' '.join(command)}: {status}\n{texts[0][-2000:]}\n{texts[1][-6000:]}")
        return texts[0], texts[1]

    def stop(self, *command, file: str, says: str = "") -> None:
        """Presses Ctrl-C once a file of the project says something, which must end the command with a word about going on."""
        files, path = self._logs(), self.inside(f"{CLONE}/{file}")
        path.unlink(missing_ok=True)
        with open(files[0], "w") as out, open(files[1], "w") as err:
            enter = ["env", "--default-signal=INT", *self._enter(command, "root", CLONE, {})]  # a background job ignores Ctrl-C
            running = subprocess.Popen(enter, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True)
            end = time.monotonic() + LIMIT
            while not (path.exists() and (not says or re.search(says, path.read_text(errors="replace")))):
                if running.poll() is None and time.monotonic() > end:
                    os.killpg(running.pid, signal.SIGKILL)
                    running.wait()
                if running.poll() is not None:
                    raise CommandFailed(f"{' '.join(command)} did not come to {file}:\n{files[1].read_text()}")
                time.sleep(0.05)
            os.killpg(running.pid, signal.SIGINT)
            status = running.wait(timeout=120)
        messages = files[1].read_text()
        if status != -signal.SIGINT or "the same command goes on from here" not in messages:
            raise CommandFailed(f"{' '.join(command)} ended with {status} after Ctrl-C:\n{messages}")
