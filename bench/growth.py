# SPDX-License-Identifier: BSD-3-Clause
"""How Pteron's costs grow with the context and with the size of the model."""
from contestants import PEERS, PYTHON, WORK, convert, gguf_model, middle, pteron_bench, run

CONTEXTS = (32, 128, 256, 512, 768, 1024, 1280, 1536, 1792, 2048)
LAYERS = (1, 8, 15, 22, 30, 45, 60, 90)
DECODED = 8


def measure_context(context, out):
    program = convert(gguf_model(), WORK / "long.pte", "--quant", "q4", "--max-context", CONTEXTS[-1] + 4 * DECODED)
    for kv in ("f32", "f16"):
        flags = ("--prefill", 0, "--decode", DECODED, "--context", context, "--kv", kv)
        report = pteron_bench(program, "lavapipe", *flags)
        keys = ("decode_cpu_ms", "decode_tok_s", "gpu_buffer_mb", "peak_rss_mb", "bytes_ratio", "dispatches_per_token")
        out.append({"context": context, "kv": kv, **{key: report[key] for key in keys}})


def measure_size(layers, out):
    """The same model with fewer or more layers."""
    source, program = WORK / "layers.gguf", WORK / "layers.pte"
    try:
        run(PYTHON, PEERS / "stack_layers.py", gguf_model(), source, layers)
        convert(source, program, "--quant", "q4")
        loads = [pteron_bench(program, "lavapipe", "--prefill", 0, "--decode", 1) for _ in range(3)]
        fastest = min(loads, key=lambda report: report["load_ms"])
        out.append({"layers": layers, **{key: fastest[key] for key in ("file_bytes", "load_ms", "peak_rss_mb")}})
    finally:
        source.unlink(missing_ok=True)
        program.unlink(missing_ok=True)


def add(progress, options):
    out = {"context": [], "size": []}
    contexts, sizes = (CONTEXTS[::5], LAYERS[:2]) if options.quick else (CONTEXTS, LAYERS)
    for _ in range(options.rounds):
        for context in contexts:
            progress.add(f"context {context}", lambda context=context: measure_context(context, out["context"]), optional=True)
    for layers in sizes:
        progress.add(f"{layers} layers", lambda layers=layers: measure_size(layers, out["size"]), optional=True)
    return out


def settle(measured):
    rounds = {}
    for row in measured["context"]:
        rounds.setdefault((row["context"], row["kv"]), []).append(row)
    out = {"context": [middle(rows) for rows in rounds.values()], "size": measured["size"]}
    return {name: rows for name, rows in out.items() if rows}
