# SPDX-License-Identifier: BSD-3-Clause
"""docs/models.md from the results."""
import statistics

HEAD = """# Models
Architectures that others wrote, with small configurations, exported and run; real weights where a package has them. *Delegates* and *CPU
ops* are counted with ExecuTorch's `VulkanPartitioner` (stock) and with [`PteronPartitioner`](python.md#a-model-in-one-piece) (ours);
*difference* is the largest from torch in any output, relative to the largest number there; *ms* are medians of interleaved runs on Mesa's
lavapipe, a CPU, for programs of both partitioners, ExecuTorch's portable kernels and eager torch. Times of such small models say what
a cut costs, not how fast a GPU is. A dash means that nobody has tried that; programs of dynamic sizes and in half precision are
made with `--variants dynamic,half`. This file is written by `tests/zoo`: `python -m zoo --table docs/models.md`.
"""


LEFT_OUT = """## Left out
- silero-vad: its package has a TorchScript file and an ONNX graph with branches (`If`); `torch.export` takes neither.
- PP-OCRv4's recogniser and angle classifier: `onnx2torch` can't convert the one (a batch norm without a known rank) and makes
  shapes of the other depend on contents.
- VITS as a whole: how long speech gets is told by contents. What follows when the length is known is `vits`.
"""


def cell(result: dict | None, way: str) -> str:
    exported = (result or {}).get(way)
    if not exported:
        return "–"
    if exported["problem"]:
        return "no export"
    return f"{exported['delegates']} + {sum(exported['outside'].values())}"


def difference(result: dict) -> str:
    value = result.get("difference")
    return f"{value:.0e}" if isinstance(value, float) else (value or "–")


def milliseconds(result: dict, way: str) -> str:
    value = result.get("times", {}).get(way)
    return f"{value:.1f}" if value is not None else "–"


def is_whole(result: dict) -> bool:
    own = result.get("own") or {}
    return not own.get("problem", "x") and own["delegates"] == 1 and not own["outside"]


def summary(results: dict[str, dict]) -> list[str]:
    static = [r for name, r in results.items() if name.endswith("/static")]
    tried = [r for r in static if r.get("stock")]
    stock = [r for r in static if (s := r.get("stock")) and not s["problem"] and s["delegates"] == 1 and not s["outside"]]
    right = [r for r in results.values() if r.get("right")]
    lines = [
        f"- {len(static)} models, {len(results)} programs; {sum(map(is_whole, static))} models are one delegate without CPU ops with ours"
        + (f"; of {len(tried)} that were tried, {len(stock)} with stock." if tried else "; stock was not tried."),
        f"- {len(right)} of {len(results)} programs agree with torch.",
    ]
    ratios = [
        r["times"]["own"] / r["times"]["stock"]
        for r in static
        if {"own", "stock"} <= r.get("times", {}).keys() and (r["stock"]["delegates"] > 1 or r["stock"]["outside"])
    ]
    if ratios:
        lines.append(f"- Models that stock cuts: time with ours ÷ with stock, median {statistics.median(ratios):.2f} ({len(ratios)} models).")
    return lines


def write(results: dict[str, dict]) -> str:
    lines = [HEAD, *summary(results), ""]
    for kind in ("text", "vision", "sound", "recurrent"):
        rows = {name: r for name, r in results.items() if r["kind"] == kind}
        if not rows:
            continue
        lines += [f"## {kind.capitalize()}", "| model | program | stock: delegates + CPU ops | ours | difference | ms ours | stock | portable | torch |",
                  "|---|---|---|---|---|---|---|---|---|"]  # fmt: skip
        for name, r in rows.items():
            model, variant = name.rsplit("/", 1)
            label = model if r["weights"] == "random" else f"{model} ({r['weights']})"
            timed = " | ".join(milliseconds(r, way) for way in ("own", "stock", "portable", "eager"))
            lines.append(f"| {label} | {variant} | {cell(r, 'stock')} | {cell(r, 'own')} | {difference(r)} | {timed} |")
        lines.append("")
    reasons = {}
    for name, r in results.items():
        own = r.get("own") or {}
        for line in [own["problem"]] if own.get("problem") else own.get("reasons", "").splitlines():
            reasons.setdefault(line, []).append(name.split("/")[0])
    if reasons:
        lines += ["## What is left", "| why | models |", "|---|---|"]
        lines += [f"| {why.replace('|', chr(92) + '|')} | {', '.join(dict.fromkeys(names))} |" for why, names in sorted(reasons.items())]
    lines += ["", LEFT_OUT]
    return "\n".join(lines).rstrip() + "\n"
