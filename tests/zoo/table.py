# SPDX-License-Identifier: BSD-3-Clause
"""docs/models.md from the results."""
import collections
import statistics

from zoo.exporting import Exported

HEAD = """# Models
Architectures that others wrote, with small configurations, exported and run; real weights where a package has them. *Delegates* and *CPU
ops* are counted with ExecuTorch's `VulkanPartitioner` (stock) and with [`PteronPartitioner`](python.md#a-model-in-one-piece) (ours);
*difference* is the largest from torch in any output, relative to the largest number there; *ms* are medians of interleaved runs on Mesa's
lavapipe, a CPU, for programs of both partitioners and ExecuTorch's portable kernels, and behind them of eager torch. Times of such small
models say what a cut costs, not how fast a GPU is; on a busy machine they vary by a factor of two and more. All programs get the same
inputs and give their outputs back to Python. A dash: there is no such program, or no runtime runs it. This file is written by `tests/zoo`:
`python -m zoo --table docs/models.md`.
"""


LEFT_OUT = """## Left out
- VITS as a whole: how long speech gets is told by contents. What follows when the length is known is `vits`.
- wav2vec2 and HuBERT of any length: `torch.export` refuses, because their normalisation asks whether one position is left.
"""


def count(exported: Exported) -> str:
    """Delegates and CPU ops."""
    return "no export" if exported.problem else f"{exported.delegates} + {sum(exported.outside.values())}"


def cell(result: dict | None, way: str) -> str:
    known = (result or {}).get(way)
    return count(Exported(delegates=known["delegates"], outside=known["outside"], problem=known["problem"])) if known else "–"


def difference(result: dict) -> str:
    value = result.get("difference")
    return f"{value:.0e}" if isinstance(value, float) else (value or "–")


def milliseconds(result: dict, way: str) -> str:
    value = result.get("times", {}).get(way)
    return f"{value:.1f}" if value is not None else "–"


def is_whole(result: dict, way: str = "own") -> bool:
    exported = result.get(way) or {}
    return not exported.get("problem", "x") and exported["delegates"] == 1 and not exported["outside"]


def ratio(results: list[dict], other: str) -> str:
    """Our time over another's, the median, and of how many models."""
    ratios = [r["times"]["own"] / r["times"][other] for r in results if {"own", other} <= r.get("times", {}).keys()]
    return f"{statistics.median(ratios):.2f} ({len(ratios)} models)" if ratios else "–"


def summary(results: dict[str, dict]) -> list[str]:
    static = [r for name, r in results.items() if name.endswith("/static")]
    tried = [r for r in static if r.get("stock")]
    failed = [r for r in tried if r["stock"]["problem"]]
    cut = [r for r in tried if not r["stock"]["problem"] and not is_whole(r, "stock")]
    kinds = collections.Counter(name.rsplit("/", 1)[1] for name in results)
    right = collections.Counter(name.rsplit("/", 1)[1] for name, r in results.items() if r.get("right"))
    stock = f"; with stock {len(tried) - len(failed) - len(cut)} of {len(tried)}, {len(cut)} are cut and {len(failed)} not exported"
    return [
        f"- Of {len(static)} models, {sum(map(is_whole, static))} are one delegate without CPU ops with ours{stock if tried else ''}.",
        f"- Right against torch: {', '.join(f'{right[kind]} of {count} {kind}' for kind, count in kinds.items())} programs.",
        f"- Time with ours ÷ with stock, for models that stock cuts: median {ratio(cut, 'stock')}.",
        f"- Time with ours ÷ ExecuTorch's portable kernels: median {ratio(static, 'portable')}; ÷ eager torch: {ratio(static, 'eager')}.",
    ]


def write(results: dict[str, dict], earlier: int, missing: list[str]) -> str:
    """`earlier`: how many results are those of an earlier build; `missing`: programs without any."""
    lines = [HEAD, *summary(results)]
    if earlier:
        lines.append(f"- {earlier} of these programs were exported and run with an earlier build of the engine.")
    if missing:
        lines.append(f"- Not run yet: {', '.join(missing)}.")
    lines.append("")
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
    lines += ["", LEFT_OUT] if reasons else [LEFT_OUT]
    return "\n".join(lines).rstrip() + "\n"
