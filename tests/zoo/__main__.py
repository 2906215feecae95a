# SPDX-License-Identifier: BSD-3-Clause
"""Exports the zoo's models with both partitioners, runs them and compares with torch.

usage: python -m zoo [--only NAME,…] [--variants static,dynamic,half] [--ways own,stock,portable] [--again | --export] [--table FILE] [--list]

Programs and results are kept in build/zoo, so that only what has changed is done again; another build of the engine runs all programs
again, but exports only those anew that it would take otherwise. The exit code says whether all that
has been exported agrees with torch.
"""
import argparse
import importlib
import json
import logging
import sys
import warnings
from pathlib import Path

from zoo import exporting, measuring, table
from zoo.model import Model

FILES = ("text", "vision", "sound", "small", "weights")


def models() -> list[Model]:
    return [model for file in FILES for model in importlib.import_module(f"zoo.{file}").MODELS]


def result(model: Model, variant: str, ways: list[str], known: dict) -> dict:  # `known` stays if nothing has changed
    out = {"kind": model.kind, "weights": model.weights, "engine": measuring.engine()}
    programs = {}
    for way in exporting.WAYS:
        exported = exporting.export(model, variant, way, only_kept=way not in ways)
        if exported:
            out[way] = {"delegates": exported.delegates, "outside": exported.outside, "problem": exported.problem,
                        "reasons": exported.reasons, "key": exporting.key(model, variant, way)}  # fmt: skip
            if not exported.problem:
                programs[way] = exported
    if known.get("right") and all(known.get(name) == out.get(name) for name in ("engine", *exporting.WAYS)):
        return known
    if "own" in programs:
        out["difference"] = measuring.agreement(model, variant, programs["own"])
        out["right"] = isinstance(out["difference"], float) and out["difference"] <= measuring.TOLERANCE[variant]
        if out["right"]:
            out["times"] = measuring.times(model, variant, programs)
    return out


def export_all(chosen: list[Model], variants: list[str], ways: list[str]) -> None:
    for variant in variants:
        for model in chosen:
            if variant in exporting.variants(model):
                made = {way: exporting.export(model, variant, way) for way in ways}
                print(f"{model.name}/{variant}:", ", ".join(f"{way} {table.count(each)}" for way, each in made.items()), flush=True)


def line(name: str, r: dict) -> str:
    problem = (r.get("own") or {}).get("problem") or ""
    outside = (r.get("own") or {}).get("outside") or ""
    return f"{name}: stock {table.cell(r, 'stock')}, ours {table.cell(r, 'own')}, difference {table.difference(r)} {problem}{outside}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="zoo", description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="NAME,…", help="models of these names")
    parser.add_argument("--variants", default=",".join(exporting.VARIANTS))
    parser.add_argument("--ways", default=",".join(exporting.WAYS), help="what to export if it is not there")
    parser.add_argument("--table", type=Path, metavar="FILE", help="write the table of all results that there are")
    parser.add_argument("--again", action="store_true", help="run and measure also what has been")
    parser.add_argument("--export", action="store_true", help="export what is not there, and run nothing")
    parser.add_argument("--list", action="store_true", help="print the models' names")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    chosen = [model for model in models() if not args.only or model.name in args.only.split(",")]
    if args.list:
        print("\n".join(model.name for model in chosen))
        return 0
    logging.disable(logging.WARNING)
    if args.export:
        export_all(chosen, args.variants.split(","), args.ways.split(","))
        return 0
    kept = exporting.KEPT / "results.json"
    results = json.loads(kept.read_text()) if kept.exists() else {}
    wrong = []
    for model in chosen:
        for variant in exporting.variants(model):
            if variant not in args.variants.split(","):
                continue
            name = f"{model.name}/{variant}"
            results[name] = result(model, variant, args.ways.split(","), {} if args.again else results.get(name, {}))
            print(line(name, results[name]), flush=True)
            if not results[name].get("right"):
                wrong.append(name)
            exporting.KEPT.mkdir(parents=True, exist_ok=True)
            kept.write_text(json.dumps(results, indent=1))
    if args.table:
        order = {f"{model.name}/{variant}": (model, variant) for model in models() for variant in exporting.variants(model)}
        known = {name: results[name] for name in order if name in results}
        earlier = sum(r.get("engine") != measuring.engine() for r in known.values())
        missing = [name for name in order if name not in known and name.endswith("/static")]
        args.table.write_text(table.write(known, earlier, [name.removesuffix("/static") for name in missing]))
    if wrong:
        print(f"not as torch has it: {', '.join(wrong)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
