# SPDX-License-Identifier: BSD-3-Clause
"""What is done on the fresh machines, in order. The first build is the only one; what comes after it uses it."""
import functools
import re
import shutil
from dataclasses import dataclass
from typing import Callable

from machine import CLONE, ROOT, CommandFailed, Machine

ASK = ["./run", "generate", "--prompt", "What is gravity?", "--max-tokens", "40", "--quiet"]
SOON = 60  # seconds for an answer when nothing is to be built, on a busy machine
VENV = "/home/user/venv"


@dataclass
class Part:
    name: str
    promise: str
    run: Callable[[], None]
    needs: tuple[str, ...] = ()


PARTS: list[Part] = []


def part(promise: str, needs: tuple[str, ...] = ()):
    def add(function):
        PARTS.append(Part(function.__name__, promise, function, needs))
        return function

    return add


def expect(condition, sentence: str) -> None:
    if not condition:
        raise CommandFailed(sentence)


def expect_words(text: str) -> None:
    words = re.findall(r"[A-Za-z]{2,}", text)
    expect(len(words) >= 10, f"an answer has words, this is '{text}'")


def packages(*groups: str) -> set[str]:
    pins = [line.split() for line in (ROOT / "pins.txt").read_text().splitlines()]
    return {pin[2] for pin in pins if pin[0] in groups and pin[1] == "apt"}


@functools.cache
def newcomer() -> Machine:
    return Machine("newcomer").clone()


def asked_for(machine: Machine, command: str, *groups: str) -> str:
    """The one command line with which a user who may not install packages is told to install them."""
    _, messages = machine.run(command, user="user", fails=True)
    lines = [line for line in messages.splitlines() if "apt-get install" in line]
    expect(len(lines) == 1, f"{command} names one command to install packages, not {len(lines)}:\n{messages}")
    missing = packages(*groups) - set(lines[0].split())
    expect(not missing, f"{command} does not ask for {', '.join(sorted(missing))}:\n{messages}")
    line = re.search(r"(sudo )?apt-get update.*", lines[0])
    expect(line, f"apt-get update is missing:\n{messages}")
    return line.group()


@part("without root, ./run and ./test each print one command that installs all they need; with sudo that asks nothing they do it")
def user():
    machine = Machine("user").clone("user")
    asked_for(machine, "./test", "build", "test", "chromium", "wasm")
    command = asked_for(machine, "./run", "build")
    machine.run("bash", "-c", 'sudo() { env "$@"; }; ' + command, DEBIAN_FRONTEND="noninteractive")
    machine.run("tools/setup", "build", "model", user="user")
    allow = "apt-get install -y -q sudo && echo 'user ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/user"
    machine.run("bash", "-c", allow, DEBIAN_FRONTEND="noninteractive")
    machine.run("tools/setup", "test", user="user")
    machine.run("dpkg", "-s", *packages("test"))


@part("./run goes on after Ctrl-C in the middle of installing, fetching and compiling")
def stopped():
    machine = Machine("stopped").clone()
    machine.stop("./run", file="build/logs/apt.log", says="Unpacking ")
    machine.stop("./run", file="build/logs/venv.log", says="Installing collected")
    first, then = (compiled(machine, done) for done in (9, 1))
    expect(then < first - 5, f"after files were compiled, {then} of {first} are left")


def compiled(machine: Machine, done: int) -> int:
    """How much there was to do, when it is stopped after some of it."""
    log = "build/logs/build-release.log"
    machine.stop("./run", file=log, says=rf"(?m)^\[{done}/\d+\] Building")
    return int(re.search(r"(?m)^\[1/(\d+)\] (?!Re-)", machine.inside(f"{CLONE}/{log}").read_text()).group(1))


@part("./run sets up, builds, and the model answers")
def run():
    answer, _ = newcomer().run("./run")
    expect_words(answer)


@part("./run again answers at once, changes nothing and says nothing else, even with a home that can't be written", needs=("run",))
def again():
    machine = newcomer()
    machine.run("touch", "/tmp/before")
    answer, messages = machine.run("timeout", str(SOON), *ASK, HOME="/sys")
    expect_words(answer)
    expect(not messages, f"besides the answer it said:\n{messages}")
    notes = ["-name", "*.lock", "-o", "-name", ".ninja_*", "-o", "-path", "build/logs/*"]
    changed, _ = machine.run("find", "build", "-newer", "/tmp/before", "-type", "f", "-not", "(", *notes, ")")
    expect(not changed, f"it changed:\n{changed}")


@part("./run goes on after Ctrl-C in the middle of converting", needs=("run",))
def converting():
    machine = newcomer()
    program = machine.inside(f"{CLONE}/build/models/smollm2.pte")
    program.unlink()
    machine.stop(*ASK, file="build/models/smollm2.pte.part")
    expect(not program.exists(), "what was stopped left a program")
    expect_words(machine.run(*ASK)[0])


@part("cmake --install gives a library that a project finds, and a command", needs=("run",))
def install():
    line = re.search(r"`(.*cmake --install .*) PREFIX`", (ROOT / "README.md").read_text()).group(1)
    newcomer().run("bash", "-c", f"{line} /tmp/prefix")
    newcomer().run("tests/install/check.sh", CLONE, f"{CLONE}/build/release")


@part("./test after ./run finds its tests, and installs and builds only what they need", needs=("run",))
def only():
    machine = newcomer()
    output, messages = machine.run("./test", "--only", "c-api")
    expect("100% tests passed" in output, f"./test --only c-api says:\n{output}")
    built = {path.name for path in machine.inside(f"{CLONE}/build/release").glob("*_tests")}
    groups = {path.name for path in machine.inside(f"{CLONE}/build/.setup").iterdir()}
    expect(not built, f"it also built {built}:\n{messages}")
    expect(groups == {"build", "model", "test"}, f"it installed {groups}:\n{messages}")


@part("pip install . and the README's three lines of Python", needs=("run",))
def python():
    machine = newcomer()
    machine.run("python3", "-m", "venv", VENV)
    machine.run(f"{VENV}/bin/pip", "install", ".[executorch]")
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    lines = next(block for block in blocks if "executorch.runtime" in block)
    code = f"import torch\ninputs = [torch.ones(3, 5)]\n{lines}print(outputs[0].sum().item())\n"
    output, _ = machine.run(f"{VENV}/bin/python", "-c", code, cwd=f"{CLONE}/tests/data/ops/add/itself")
    expect(output.split()[-1:] == ["30.0"], f"1 + 1, fifteen times, is 30, not '{output}'")


@part("tools/package makes the packages", needs=("run", "python"))
def package():
    newcomer().run("tools/package", *KINDS)


def installed(kind: str, pattern: str) -> None:
    """On a machine of its own, which has the package and the tests' data, but neither a compiler nor the project."""
    machine, project = Machine(kind), newcomer().inside(CLONE)
    shutil.copytree(project / "tests", machine.inside(f"{CLONE}/tests"))
    made = sorted(project.glob(f"build/packages/{pattern}"))
    expect(len(made) == 1, f"there is one {kind}, not {[file.name for file in made]}")
    shutil.copy(made[0], machine.inside("/home/user"))
    machine.run("tests/package/installed.sh", kind, f"/home/user/{made[0].name}")


KINDS = {"tarball": "*.tar.*", "deb": "*.deb", "wheel": "*.whl"}
for kind, pattern in KINDS.items():
    promise = f"the {kind} installs and works without a compiler"
    PARTS.append(Part(kind, promise, functools.partial(installed, kind, pattern), needs=("package",)))
