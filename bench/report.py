# SPDX-License-Identifier: BSD-3-Clause
"""Writes benchmarks.md and its plots from the results of compare.py.

usage: report.py RESULTS.json DOCS_FOLDER
"""
import json
import pathlib
import sys

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "pteron", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
import matplotlib.pyplot as plt  # noqa: E402

METHOD = """# Benchmarks

    bench/compare.py

sets everything up under `build/`, measures and writes this page; nothing on it is typed by hand. A single program:
`pteron bench MODEL.pte`, or `./run bench` for the chat model.

## Method
- **Model**: SmolLM2-135M-Instruct from one GGUF file for everyone. "q4" is plain symmetric 4 bits in groups of 32 (`pteron convert
  --quant q4`; `MatMulNBits` for ONNX Runtime), "lossless" and llama.cpp use the file's own Q4_1 weights and Q8_0 embedding.
- **Machine without a GPU**: WebGPU and Vulkan run on software adapters, Mesa's lavapipe and SwiftShader, for Pteron as for the others.
  ONNX Runtime's Dawn refuses this lavapipe, so it is compared on SwiftShader. Runtimes on the bare CPU are shown for scale.
- **In turns**: everyone is started, then each decodes a few tokens in turn, for several rounds; numbers are medians over rounds. A
  token's first run (compilation, allocation) is not counted.
- **CPU-ms** is processor time of the whole process, software GPU included. It hardly depends on what else the machine does; wall time
  does. On a machine with a GPU it would be wall time that counts.
- **Context**: decoding starts after {prompt} positions. A step's work does not depend on what caches hold, so `pteron bench --context N`
  does not compute the N positions first. Prompts compute logits of the last position only, for everyone.
- ONNX Runtime gets its caches from the host at each step ({prompt} positions: 1.5 MB), which is below 1 % of its time.
- **Modelled bytes** (`bytes_ratio`): what a token's dispatches bind, divided by weights and live cache positions once each.
"""

HARDWARE_NOTE = "{cores} cores, {system}, load average {load:.1f} while measuring, {date}, {seconds:.0f} s in all."


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


def number(value, digits=3):
    if value is None:
        return "–"
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def spread(cost):
    return "–" if cost is None else f"{number(cost['median'])} ({number(cost['low'])}…{number(cost['high'])})"


def rate(cost):
    return "–" if cost is None else number(1e3 / cost["median"])


def contestants_table(results):
    rows = []
    for name, row in results["contestants"].items():
        rows.append([name, spread(row["decode"]["cpu_ms"]), rate(row["decode"]["wall_ms"]), spread(row["prefill"]["cpu_ms"]), rate(row["prefill"]["wall_ms"]), number(row["load_ms"])])
    head = ["", "decode, CPU-ms per token", "decode, tok/s", "prompt, CPU-ms per token", "prompt, tok/s", "load, ms"]
    text = table(head, rows)
    for name, error in results["failed"].items():
        text += f"\n\n{name} did not run: {error}"
    return text


def kernels_table(results):
    names = sorted({name for row in results["kernels"].values() for name in row})
    rows = [[kernel] + [spread(row[name]["cpu_ms"]) if name in row else "–" for name in names] for kernel, row in results["kernels"].items()]
    return table(["CPU-ms"] + names, rows)


def own_table(results):
    q4, lossless, far = results["own"]["smollm2-q4"], results["own"]["smollm2"], results["context_1000"]
    keys = [
        ("decode, CPU-ms per token", "decode_cpu_ms", "≤ 230"),
        ("decode, tok/s", "decode_tok_s", "≥ 5"),
        ("prompt of 64, tok/s", "prefill_tok_s", "≥ 15"),
        ("prompt of 64, CPU-ms per token", "prefill_cpu_ms", ""),
        ("dispatches per token", "dispatches_per_token", "≤ 250"),
        ("queue writes per token", "queue_writes_per_token", "≤ 2"),
        ("submits per token", "submits_per_token", "1"),
        ("host allocations per token", "host_allocations_per_token", "0"),
        ("objects created per token", "creates_per_token", "0"),
        ("host time per token outside of the wait, µs", "host_us_per_token", "≤ 300"),
        ("load, ms", "load_ms", "≤ 1,500"),
        ("peak resident memory, MB", "peak_rss_mb", f"≤ {q4['file_bytes'] * 1.3e-6 + 120:.0f}"),
        ("modelled bytes ÷ needed", "bytes_ratio", "≤ 1.10"),
    ]
    rows = [[label, number(q4[key]), number(lossless[key]), target] for label, key, target in keys]
    ratio, quality = far["decode_cpu_ms"] / q4["decode_cpu_ms"], lossless["decode_cpu_ms"] / q4["decode_cpu_ms"]
    rows.append(["decode at context 1,000 ÷ at 32 (CPU)", number(ratio), "–", "≤ 1.5"])
    rows.append(["lossless ÷ q4, decode (CPU)", "–", number(quality), "≤ 1.35"])
    return table(["Pteron on lavapipe", "q4", "lossless", "target for q4"], rows)


def growth_tables(results):
    context = [[r["context"], number(r["decode_cpu_ms"]), number(r["decode_tok_s"]), number(r["gpu_buffer_mb"]), number(r["peak_rss_mb"]), r["dispatches_per_token"]] for r in results["growth"]["context"]]
    size = [[r["layers"], number(r["file_bytes"] / 1e6), number(r["load_ms"]), number(r["peak_rss_mb"])] for r in results["growth"]["size"]]
    first = table(["context, all in use", "decode, CPU-ms", "tok/s", "GPU buffers, MB", "peak resident, MB", "dispatches"], context)
    return first + "\n\n" + table(["layers", "file, MB", "load, ms", "peak resident, MB"], size)


def plot_contestants(results, path):
    rows = [(n, r["decode"]["cpu_ms"]["median"]) for n, r in results["contestants"].items() if r["decode"]["cpu_ms"]]
    rows.sort(key=lambda row: -row[1])
    figure, axes = plt.subplots(figsize=(7, 0.4 * len(rows) + 0.9))
    colors = ["#2b6cb0" if n.startswith("Pteron") else "#c3c9d1" if "on the CPU" in n else "#8a94a3" for n, _ in rows]
    bars = axes.barh([n for n, _ in rows], [v for _, v in rows], color=colors)
    axes.bar_label(bars, [number(v) for _, v in rows], padding=3)
    axes.set_xscale("log")
    axes.set_xlabel("CPU-ms per decoded token at context 32 (log; shorter is better)")
    save(figure, path)


def plot_growth(results, path):
    context, size = results["growth"]["context"], results["growth"]["size"]
    panels = [
        ("context", "decode, CPU-ms per token", [r["context"] for r in context], [r["decode_cpu_ms"] for r in context]),
        ("context", "GPU buffers, MB", [r["context"] for r in context], [r["gpu_buffer_mb"] for r in context]),
        ("program, MB", "load, ms", [r["file_bytes"] / 1e6 for r in size], [r["load_ms"] for r in size]),
    ]
    figure, all_axes = plt.subplots(1, 3, figsize=(9, 2.6))
    for axes, (x_label, y_label, x, y) in zip(all_axes, panels):
        axes.plot(x, y, marker="o", markersize=3, color="#2b6cb0")
        axes.set_xlabel(x_label), axes.set_ylabel(y_label)
        axes.set_xlim(0), axes.set_ylim(0)
    save(figure, path)


def save(figure, path):
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def main():
    results, docs = json.loads(pathlib.Path(sys.argv[1]).read_text()), pathlib.Path(sys.argv[2])
    (docs / "benchmarks").mkdir(exist_ok=True)
    plot_contestants(results, docs / "benchmarks" / "peers.svg")
    plot_growth(results, docs / "benchmarks" / "growth.svg")
    q4 = results["own"]["smollm2-q4"]
    parts = [
        METHOD.format(prompt=32),
        HARDWARE_NOTE.format(**results["machine"]) + f" Commit {q4['commit']}; {q4['adapter']}, {q4['driver']}.",
        "\n## Language model, side by side\nMedian over rounds (lowest…highest).\n",
        contestants_table(results),
        "\n![CPU time per decoded token](benchmarks/peers.svg)\n",
        "## Single ops\n",
        kernels_table(results),
        "\n## Pteron against its own targets\n",
        own_table(results),
        "\n## How costs grow\n",
        growth_tables(results),
        "\n![Decode time, memory and load time](benchmarks/growth.svg)",
    ]
    (docs / "benchmarks.md").write_text("\n".join(parts) + "\n")


main()
