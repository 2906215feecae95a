# SPDX-License-Identifier: BSD-3-Clause
"""Writes benchmarks.md and its plots from the numbers that compare.py has left."""
import json

import svg
from peers.kernels import KERNELS

METHOD = """# Benchmarks

    bench/compare.py

sets everything up under `build/`, measures and writes this page; nothing on it is typed by hand (`--report-only` writes it again
from [results.json](benchmarks/results.json)). A single program: `pteron bench MODEL.pte`, or `./run bench` for the chat model.

## Method
- **Model**: SmolLM2-135M-Instruct from one GGUF file for everyone. "q4" is plain symmetric 4 bits in groups of 32 (`pteron convert
  --quant q4`; `MatMulNBits` for ONNX Runtime; XNNPACK has it only with activations rounded to 8 bits). "Lossless" and llama.cpp use
  the file's own Q4_1 weights and Q8_0 embedding.
- **A machine without a GPU**: WebGPU and Vulkan run on software adapters, Mesa's lavapipe and SwiftShader, for Pteron as for the
  others. ONNX Runtime's Dawn refuses this lavapipe, so it is compared on SwiftShader; llama.cpp refuses SwiftShader, which has no
  16-bit storage. Runtimes on the bare CPU are shown for scale: they don't go through a GPU's programming model.
- **In turns**: everyone reads the prompt, then each decodes a few tokens in turn, for several rounds; numbers are medians over
  rounds. What Pteron is compared with itself in (lossless weights, contexts) takes turns too. Runs that compile or allocate come
  before and don't count.
- **CPU-ms** is processor time of the whole process, software GPU included. It depends less than wall time on what else the machine
  does; but whoever waits by spinning (llama.cpp on the CPU, SwiftShader's users) looks worse on a busy one. On a machine with a GPU it
  would be wall time that counts, and the counts further below.
- **Context**: everyone decodes behind a prompt of {prompt} tokens; Pteron alone at the contexts that are named. A step's work does not
  depend on what caches hold, so `pteron bench --context N` does not compute the N positions first. Prompts compute logits of the
  last position only, for everyone.
- **Same model?** Everyone's most likely token after the prompt is in the table. Weights are rounded differently, so it may differ
  where two are close.
- ONNX Runtime gets its caches from the host at each step (a few MB), which is below 1 % of its time.
- **Single ops** are whole runs of a program with one op: upload, one product, download.
- **Modelled bytes**: what a token's dispatches bind, divided by weights and live cache positions once each.
"""

QUALITY = """
## Quality
What 4-bit weights and caches in half precision cost in perplexity is in [converting.md](converting.md#what-that-does-to-a-model)."""

LOADED = "{cores} cores, {system}, load average {load:.1f} while measuring, {date}, {seconds:.0f} s in all. {quick}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


def number(value):
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def spread(cost):
    return "–" if cost is None else f"{number(cost['median'])} ({number(cost['low'])}…{number(cost['high'])})"


def kind_of(name):
    return "own" if name.startswith("Pteron") else "cpu" if name.endswith("CPU") else "peer"


def shortened(results):
    """Without what no part of the page needs, and without digits that mean nothing."""
    out = json.loads(json.dumps(results), parse_float=lambda text: float(f"{float(text):.5g}"))
    for entry in out.get("own", {}).values():
        entry.pop("model", None)
    return out


def at(results, *path):
    """What was measured there, or nothing."""
    for key in path:
        results = (results or {}).get(key)
    return results


def ratio(value, base):
    return value / base if value is not None and base is not None else None


def contestants_section(results):
    rows = []
    for name, row in results["contestants"].items():
        decode, prompt = row["decode"], row["prompt"]
        rate = number(1e3 / decode["wall_ms"]["median"]) if decode else "–"
        rows.append([name, spread(decode and decode["cpu_ms"]), rate, number(prompt["cpu_ms"]),
                     number(1e3 / prompt["wall_ms"]), number(row["load_ms"]), row["next"]])  # fmt: skip
    head = ["", "decode, CPU-ms per token", "tok/s", "prompt, CPU-ms per token", "tok/s", "load, ms", "next token"]
    return table(head, rows)


def failures(results):
    return "".join(f"\n\n{who} did not run: {why}" for who, why in results["failed"].items())


def factors(results):
    """How Pteron compares with each GPU peer on the same adapter."""
    if results["machine"]["quick"]:
        return "This was a quick run: no conclusions."
    rows = {n: r for n, r in results["contestants"].items() if r["decode"]}
    lines = []
    for name, row in rows.items():
        own = rows.get(f"Pteron, q4, {name.rsplit(', ', 1)[1]}")
        if kind_of(name) != "peer" or not own:
            continue
        cost = row["decode"]["cpu_ms"]["median"] / own["decode"]["cpu_ms"]["median"]
        wall = row["decode"]["wall_ms"]["median"] / own["decode"]["wall_ms"]["median"]
        prompt = row["prompt"]["cpu_ms"] / own["prompt"]["cpu_ms"]
        lines.append(f"- {name}: Pteron (q4) needs 1/{number(cost)} of its processor time and 1/{number(wall)} of its time per"
                     f" decoded token, and 1/{number(prompt)} of its processor time per token of the prompt.")  # fmt: skip
    return "\n".join(lines)


def kernels_section(results):
    names = list(dict.fromkeys(name for row in results["kernels"].values() for name in row))
    rows = []
    for kernel, row in results["kernels"].items():
        rows.append([KERNELS[kernel][0]] + [spread(row[n]["cpu_ms"]) if n in row else "–" for n in names])
    return table(["CPU-ms"] + names, rows)


def targets(results):
    """(what, value, target, stretch, whether more is better)"""
    q4 = lambda key: at(results, "own", "q4, lavapipe", key)
    cost = lambda name: at(results, "own", name, "decode_cpu_ms")
    kernel = lambda name: at(results, "kernels", name, "Pteron, q4, lavapipe", "cpu_ms", "median")
    growth = ratio(cost("q4, context 1000, f32"), cost("q4, context 32, f32"))
    memory = q4("file_bytes") * 1.3e-6 + 120 if q4("file_bytes") else None
    prompt = q4("prefill_tok_s") if q4("prefill_tokens") == 64 else None
    return [
        ("decode at context 32, CPU-ms per token", q4("decode_cpu_ms"), 230, 170, False),
        ("decode at context 32, tok/s", q4("decode_tok_s"), 5, 9, True),
        ("decode at context 1,000 ÷ at 32, CPU time", growth, 1.5, 1.25, False),
        ("lossless ÷ q4, CPU time per token", ratio(cost("lossless, lavapipe"), q4("decode_cpu_ms")), 1.35, None, False),
        ("prompt of 64, tok/s", prompt, 15, 25, True),
        ("dispatches per token", q4("dispatches_per_token"), 250, 190, False),
        ("queue writes per token", q4("queue_writes_per_token"), 2, None, False),
        ("submits per token", q4("submits_per_token"), 1, None, False),
        ("host allocations per token", q4("host_allocations_per_token"), 0, None, False),
        ("objects created per token", q4("creates_per_token"), 0, None, False),
        ("host time per token outside of the wait, µs", q4("host_us_per_token"), 300, 120, False),
        ("first load (no driver cache), ms", at(results, "own", "first load", "load_ms"), 3000, None, False),
        ("second load, ms", at(results, "own", "second load", "load_ms"), 1500, 700, False),
        ("peak resident memory, MB (file × 1.3 + 120)", q4("peak_rss_mb"), memory, None, False),
        ("modelled bytes ÷ needed", q4("bytes_ratio"), 1.10, 1.05, False),
        ("matmul 1024³, CPU-ms", kernel("matmul-1024"), 1200, 700, False),
        ("conv 3×3 32→64 at 56², CPU-ms", kernel("conv-56"), 65, 40, False),
    ]


def verdict(value, target, stretch, more):
    reaches = lambda limit: value >= limit if more else value <= limit
    if stretch is not None and reaches(stretch):
        return "met, stretch too"
    if reaches(target):
        return "met"
    if target == 0:
        return "**missed**"
    return f"**missed** by {100 * abs(value / target - 1):.0f} %"


def targets_section(results):
    rows = []
    for what, value, target, stretch, more in targets(results):
        if value is not None:
            sign = "≥" if more else "≤"
            goal = f"{sign} {number(target)}" + (f" ({sign} {number(stretch)})" if stretch is not None else "")
            rows.append([what, number(value), goal, verdict(value, target, stretch, more)])
    return table(["Pteron, q4, lavapipe", "measured", "target (stretch)", ""], rows)


def profile_section(results):
    q4 = results["own"]["q4, lavapipe"]
    times = q4["gpu_ms_by_kernel"]
    rows = [[kernel, number(ms), f"{100 * ms / q4['gpu_ms']:.0f} %"] for kernel, ms in list(times.items())[:8]]
    host = q4["host_cpu_us_spread"]
    spread_of = f"{number(host['lower_quartile'])} to {number(host['upper_quartile'])}"
    gpu = f"\n\nBy timestamps, {number(q4['gpu_ms'])} ms in all."
    cpu = (f" On the host, a token takes {number(host['median'])} µs of the calling thread's processor time ({spread_of});"
           f" {number(q4['host_us_while_gpu_works'])} µs plan and record the next token while the GPU works on this one.")
    return table(["kernels of a decoded token", "ms", ""], rows) + gpu + cpu


def adapters_section(results):
    names = ["q4, lavapipe", "lossless, lavapipe", "q4, SwiftShader", "lossless, SwiftShader"]
    names = [name for name in names if name in results["own"]]
    keys = [("decode, CPU-ms per token", "decode_cpu_ms"), ("decode, tok/s", "decode_tok_s"),
            ("length of the prompt", "prefill_tokens"), ("prompt, CPU-ms per token", "prefill_cpu_ms"),
            ("prompt, tok/s", "prefill_tok_s"),
            ("dispatches per token", "dispatches_per_token"), ("host time per token, µs", "host_us_per_token"),
            ("load, ms", "load_ms"), ("GPU buffers, MB", "gpu_buffer_mb"), ("peak resident, MB", "peak_rss_mb")]  # fmt: skip
    rows = [[label] + [number(results["own"][name][key]) for name in names] for label, key in keys]
    return table(["Pteron alone"] + names, rows)


def growth_section(results):
    parts = []
    if is_grown(results):
        parts.append("![Decode time, memory and load time](benchmarks/growth.svg)")
    if context := results["growth"].get("context"):
        head = ["context, all of it in use", "caches", "decode, CPU-ms", "tok/s", "GPU buffers, MB", "peak resident, MB"]
        keys = ("decode_cpu_ms", "decode_tok_s", "gpu_buffer_mb", "peak_rss_mb")
        parts.append(table(head, [[r["context"], r["kv"], *(number(r[key]) for key in keys)] for r in context]))
    if size := results["growth"].get("size"):
        head = ["layers", "program, MB", "load, ms", "peak resident, MB"]
        rows = [[r["layers"], number(r["file_bytes"] / 1e6), number(r["load_ms"]), number(r["peak_rss_mb"])] for r in size]
        parts.append(table(head, rows))
    return "\n\n".join(parts)


def decoded(results):
    return [(n, r["decode"]["cpu_ms"]["median"], kind_of(n)) for n, r in results.get("contestants", {}).items() if r["decode"]]


def is_grown(results):
    return bool(at(results, "growth", "context") and at(results, "growth", "size"))


def plots(results, folder):
    if rows := decoded(results):
        rows.sort(key=lambda row: row[1])
        title = "CPU-ms per decoded token (logarithmic; shorter is better)"
        (folder / "peers.svg").write_text(svg.bars(title, rows))
    if not is_grown(results):
        return
    context, size = results["growth"]["context"], results["growth"]["size"]
    by_context = lambda key: [(f"{kv} caches", kind, [(r["context"], r[key]) for r in context if r["kv"] == kv])
                              for kv, kind in (("f32", "first"), ("f16", "second"))]  # fmt: skip
    by_size = lambda key: [("", "first", [(r["file_bytes"] / 1e6, r[key]) for r in size])]
    (folder / "growth.svg").write_text(svg.panels("How costs grow", [
        ("decode, CPU-ms per token", "context", by_context("decode_cpu_ms")),
        ("GPU buffers, MB", "context", by_context("gpu_buffer_mb")),
        ("load, ms", "program, MB", by_size("load_ms")),
    ]))  # fmt: skip


def introduction(results):
    machine, q4 = results["machine"], at(results, "own", "q4, lavapipe")
    quick = "**A quick run: numbers mean little.**" if machine["quick"] else ""
    commit = f" Commit {q4['commit']}; {q4['adapter']}, {q4['driver']}." if q4 else ""
    text = METHOD.format(prompt=machine["prompt"]) + "\n" + LOADED.format(**{**machine, "quick": quick}) + commit
    return text if "contestants" in results else text + failures(results)


def sections(results):
    """The page's parts, as far as there are numbers for them."""
    yield introduction(results)
    if "contestants" in results:
        yield "\n## Language model, side by side\n" + factors(results) + "\n\nMedian over rounds (lowest…highest).\n"
        yield contestants_section(results) + failures(results)
        if decoded(results):
            yield "\n![CPU time per decoded token](benchmarks/peers.svg)"
    if "kernels" in results:
        yield "\n## Single ops\n"
        yield kernels_section(results)
    if any(value is not None for _, value, *_ in targets(results)):
        yield "\n## Targets\n"
        yield targets_section(results)
    if "own" in results:
        yield "\n## Where the time goes\n"
        if "q4, lavapipe" in results["own"]:
            yield profile_section(results) + "\n"
        yield adapters_section(results)
    if "growth" in results:
        yield "\n## How costs grow\n"
        yield growth_section(results)
    yield QUALITY


def write(folder, page):
    results = json.loads((folder / "results.json").read_text())
    plots(results, folder)
    page.write_text("\n".join(sections(results)).rstrip() + "\n")
