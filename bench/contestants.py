# SPDX-License-Identifier: BSD-3-Clause
"""Who takes part in compare.py: Pteron and other runtimes, all with the same model and the same ways to be asked."""
import array
import json
import os
import pathlib
import statistics
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "bench"
MODELS = ROOT / "build" / "models"
KERNELS = WORK / "kernels"
PEERS = ROOT / "bench" / "peers"
PTERON = ROOT / "build" / "release" / "pteron"
PYTHON = WORK / "venv" / "bin" / "python"  # with the peers
EXPORTER = ROOT / "build" / "venv" / "bin" / "python"  # with ExecuTorch
NODE = ROOT / "build" / "deps" / "node" / "bin" / "node"
ADAPTERS = {
    "lavapipe": "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json",
    "SwiftShader": "/usr/lib/chromium/vk_swiftshader_icd.json",
}


def run(*command, **options):
    return subprocess.run([*map(str, command)], check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def environment(adapter, **more):
    icd = ADAPTERS.get(adapter, ADAPTERS["lavapipe"])
    return {**os.environ, "VK_ICD_FILENAMES": icd, "NODEVICE_SELECT": "1", "GGML_VK_VISIBLE_DEVICES": "0", **more}


def pteron_bench(program, adapter, *options, by=PTERON, **variables):
    command = [by, "bench", program, "--json", "-q", "--no-tuning", *options]
    return json.loads(run(*command, env=environment(adapter, **variables)))


def middle(reports):
    """Of several runs, the one whose decoding took neither long nor short."""
    return sorted(reports, key=lambda report: report["decode_cpu_ms"])[len(reports) // 2]


def gguf_model():
    return next(MODELS.glob("SmolLM2-*.gguf"))


def convert(source, target, *options):
    if not target.exists() or target.stat().st_mtime < source.stat().st_mtime:
        run(PTERON, "convert", source, "-o", target, "-q", *options)
    return target


def write_npy(path, shape, numbers):
    header = f"{{'descr': '<i8', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + array.array("q", numbers).tobytes())


def read_floats(path):
    data = path.read_bytes()
    values = array.array("f")
    values.frombytes(data[10 + struct.unpack_from("<H", data, 8)[0] :])
    return values


def median_cost(costs):
    return {key: statistics.median(cost[key] for cost in costs) for key in ("wall_ms", "cpu_ms")}


class Pteron:
    """A process for each turn: loading is quick."""

    def __init__(self, program, adapter, *options):
        self.program, self.adapter, self.options = program, adapter, options

    def prompt(self, tokens):
        report = self.bench(self.program, "--prefill", len(tokens), "--prompts", 2, "--decode", 1)
        cost = {"wall_ms": 1e3 / report["prefill_tok_s"], "cpu_ms": report["prefill_cpu_ms"]}
        about = {key: report[key] for key in ("load_ms", "adapter", "driver")}
        return {"prompt": cost, "next": self.next_token(tokens), **about}

    def tokens(self, count):
        report = self.bench(self.program, "--prefill", 0, "--decode", 8 * count)
        return {"wall_ms": 1e3 / report["decode_tok_s"], "cpu_ms": report["decode_cpu_ms"]}

    def kernel(self, name, runs):
        report = self.bench(KERNELS / "vulkan" / f"{name}.pte", "--decode", runs)
        return {"wall_ms": report["run_ms"], "cpu_ms": report["run_cpu_ms"]}

    def bench(self, program, *options):
        return pteron_bench(program, self.adapter, *self.options, *options)

    def next_token(self, tokens):
        folder = WORK / "next"
        folder.mkdir(exist_ok=True)
        write_npy(folder / "tokens.npy", (1, len(tokens)), tokens)
        write_npy(folder / "position.npy", (1,), [0])
        inputs = ("-i", folder / "tokens.npy", "-i", folder / "position.npy")
        run(PTERON, "run", self.program, *inputs, "-o", folder, "-q", *self.options, env=environment(self.adapter))
        logits = read_floats(folder / "output_0.npy")
        return max(range(len(logits)), key=logits.__getitem__)

    def close(self):
        pass


class Peer:
    """A process that answers requests, one line of JSON each; see peers/serving.py."""

    def __init__(self, *command, adapter=None):
        log = open(WORK / "peers.log", "a")
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": log}
        self.process = subprocess.Popen([*map(str, command)], text=True, env=environment(adapter), **pipes)
        self.about = self.read()

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{pathlib.Path(self.process.args[1]).name} ended; see {WORK / 'peers.log'}")
        return json.loads(line)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return self.read()

    def prompt(self, tokens):
        self.ask(prompt=tokens[:4])  # compiles
        self.ask(tokens=1)
        answer = self.ask(prompt=tokens)
        cost = {key: value / len(tokens) for key, value in answer["costs"][0].items()}
        return {"prompt": cost, "next": answer["next"], "load_ms": self.about["load_ms"], "adapter": self.about["device"]}

    def tokens(self, count):
        return median_cost(self.ask(tokens=count)["costs"])

    def kernel(self, name, runs):
        return median_cost(self.ask(kernel=name, runs=runs)["costs"])

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)


def say(what):
    print(what, file=sys.stderr, flush=True)


def prepare(without):
    """Makes the files that everyone reads who is not left out."""
    model, onnx, xnnpack = gguf_model(), WORK / "smollm2.onnx", WORK / "smollm2-xnnpack.pte"
    convert(model, MODELS / "smollm2-q4.pte", "--quant", "q4")
    convert(model, MODELS / "smollm2.pte")
    if not onnx.exists() and "ONNX" not in without:
        say("making the model for ONNX Runtime")
        run(PYTHON, PEERS / "onnx_llama.py", model, onnx)
    if not xnnpack.exists() and "XNNPACK" not in without:
        say("exporting the model for XNNPACK, which takes about five minutes")
        run(EXPORTER, "-W", "ignore", PEERS / "export_xnnpack.py", model, xnnpack)
    say("exporting single ops")
    run(EXPORTER, "-W", "ignore", PEERS / "export_kernels.py", KERNELS)


def contestants():
    """Name → a function that starts it. Names tell the weights and the adapter, or the CPU."""
    q4, lossless = MODELS / "smollm2-q4.pte", MODELS / "smollm2.pte"
    ort = (PYTHON, PEERS / "ort.py", WORK / "smollm2.onnx")
    llama = (NODE, PEERS / "llama_cpp.mjs", WORK / "node", gguf_model())
    xnnpack = (EXPORTER, PEERS / "xnnpack.py", WORK / "smollm2-xnnpack.pte", KERNELS / "xnnpack")
    return {
        "Pteron, q4, lavapipe": lambda: Pteron(q4, "lavapipe"),
        "Pteron, lossless, lavapipe": lambda: Pteron(lossless, "lavapipe"),
        "llama.cpp Vulkan, Q4_1, lavapipe": lambda: Peer(*llama, "vulkan", adapter="lavapipe"),
        "Pteron, q4, SwiftShader": lambda: Pteron(q4, "SwiftShader"),
        "ONNX Runtime WebGPU, q4, SwiftShader": lambda: Peer(*ort, "WebGpuExecutionProvider", adapter="SwiftShader"),
        "ONNX Runtime, q4, CPU": lambda: Peer(*ort, "CPUExecutionProvider"),
        "ExecuTorch XNNPACK, q4 + 8-bit activations, CPU": lambda: Peer(*xnnpack),
        "llama.cpp, Q4_1, CPU": lambda: Peer(*llama, "cpu"),
    }


def has_kernels(name):
    return "llama.cpp" not in name and "lossless" not in name
