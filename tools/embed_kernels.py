#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Turns src/ops/**/*.wgsl into C++ tables and lists the op files.

usage: embed_kernels.py OPS_DIR OUT_DIR

Kernel files and the snippets that they use declare bindings in WGSL; this script only reads them. A header may say
    //! use NAME…          shared snippets (files under snippets/) that go in front
    //! enable f16|subgroups
    //! variadic           tensors are bound by the specialisation, behind the parameters
    //! ends               all loops end, whatever the parameters; checked here
Each src/ops/<noun>.cpp contributes its list `OpList <noun>_ops` to the op table. A file without ops has a header for
those that use it. Passes are listed by hand, since their order matters; one that is forgotten is an error here.
"""
import pathlib
import re
import sys

KINDS = {"uniform": "uniform", "storage, read": "read", "storage, read_write": "read_write"}
BINDING = re.compile(r"@group\(0\)\s*@binding\((\d+)\)\s*var<([^>]+)>")


def literal(text: str) -> str:
    # Compilers limit the length of one literal, so split it; adjacent literals join.
    parts = [text[i : i + 8000] for i in range(0, len(text), 8000)] or [""]
    return "\n".join(f'R"wgsl({p})wgsl"' for p in parts)


def bindings_of(path: pathlib.Path, text: str) -> list[str]:
    found = {}
    for number, space in BINDING.findall(text):
        space = re.sub(r"\s*,\s*", ", ", space.strip())
        if space == "storage":
            space = "storage, read"
        if space not in KINDS:
            sys.exit(f"{path}: unknown address space '{space}'")
        if int(number) in found:
            sys.exit(f"{path}: binding {number} is declared twice")
        found[int(number)] = KINDS[space]
    if sorted(found) != list(range(len(found))):
        sys.exit(f"{path}: bindings are not numbered 0 to {len(found) - 1}")
    return [found[i] for i in range(len(found))]


def without_comments(text: str) -> str:
    # Lines stay, because errors name them; a browser loads the rest.
    return "\n".join(line.split("//", 1)[0].strip() for line in text.splitlines()) + "\n"


# What kernels say most often is embedded as one byte each, the longest first: a browser loads the text of all of them.
PHRASES = [
    ")\nfn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32",
    "\n\n@compute @workgroup_size(", "\n@group(0) @binding(", "var<uniform> p: Params;", "group_index(wid", "\nstruct Params {",
    "workgroupBarrier(", "var<storage", "for (var ", "\nreturn", ": array<", "select(", "vec4f", "\nfn ", "\nlet ", "if (", ": u32",
    " f32", ");\n", " = ", " + ", " * ", ") ", ", ", "p.", ";\n",
]
CODES = [chr(code) for code in (*range(1, 9), *range(14, 32))]  # no kernel has such characters


def coded(text: str) -> str:
    text = without_comments(text)
    if strange := set(text) & set(CODES):
        sys.exit(f"a kernel has the character {ord(min(strange))}")
    for phrase, code in zip(PHRASES, CODES, strict=True):
        text = text.replace(phrase, code)
    return text


# Forms of loops that end whatever the parameters: a count up to a bound that the body does not change (the count can't pass
# it, so it can't wrap); steps up to a bound of constants; a constant that is halved.
COUNT = re.compile(r"var (?P<name>\w+) = [^;]+; (?P=name) < (?P<bound>[^;]+); (?P=name)\+\+")
STEPS = re.compile(r"var (?P<name>\w+) = [^;]+; (?P=name) < (?P<bound>[A-Z0-9_u+*/ ]+); (?P=name) \+= [A-Z0-9_u*/ ]+")
HALVES = re.compile(r"var (?P<name>\w+) = (?P<bound>[A-Z0-9_u/ ]+); (?P=name) > 0u; (?P=name) /= 2u")


def body_after(text: str, at: int) -> str:
    start, depth = text.index("{", at), 0
    for i in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        if depth == 0:
            return text[start:i]
    return text[start:]


def endless_loops(text: str) -> list[str]:
    """Heads of loops that could run forever, as far as this can tell."""
    text = without_comments(text)
    out = re.findall(r"\b(?:while\b.*|loop\s*\{)", text)
    for found in re.finditer(r"\bfor \((.*)\) \{", text):
        loop = next((m for form in (COUNT, STEPS, HALVES) if (m := form.fullmatch(found.group(1)))), None)
        used = [loop["name"], *re.findall(r"[a-z_]\w*", loop["bound"])] if loop else []
        body = body_after(text, found.start())
        changed = [name for name in used if re.search(rf"(?<![.\w]){name}\s*([-+*/]?=[^=]|\+\+|--)", body)]
        if not loop or changed:
            out.append(found.group(0))
    return out


def write_if_changed(path: pathlib.Path, text: str) -> None:
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def embed_kernel(ops: pathlib.Path, path: pathlib.Path) -> list[str]:
    text, name = path.read_text(), path.stem
    used = [n for line in re.findall(r"^//! use (.*)$", text, re.M) for n in line.split()]
    enabled = {n for line in re.findall(r"^//! enable (.*)$", text, re.M) for n in line.split()}
    variadic = re.search(r"^//! variadic$", text, re.M) is not None
    for snippet in used:
        if not (ops / "snippets" / f"{snippet}.wgsl").exists():
            sys.exit(f"{path}: no snippet '{snippet}'")
    shared = [(ops / "snippets" / f"{snippet}.wgsl").read_text() for snippet in used]
    kinds = bindings_of(path, "".join([*shared, text]))
    ends = re.search(r"^//! ends$", text, re.M) is not None
    for loop in endless_loops("".join([*shared, text])) if ends else []:
        sys.exit(f"{path}: '//! ends' is not shown by the loop '{loop}'")
    out = [f"static constexpr BindingKind {name}_bindings[] = {{{', '.join('BindingKind::' + k for k in kinds)}}};"]
    if used:
        out.append(f"static constexpr std::string_view {name}_uses[] = {{{', '.join(chr(34) + u + chr(34) for u in used)}}};")
    uses = f"{name}_uses" if used else "{}"
    out.append(
        f"const graph::KernelSource {name} = {{\"{name}\", {literal(coded(text))}, {name}_bindings, {uses}, "
        f"{str('subgroups' in enabled).lower()}, {str('f16' in enabled).lower()}, {str(variadic).lower()}, "
        f"{str(ends).lower()}}};"
    )
    return out


def embed_kernels(ops: pathlib.Path) -> tuple[list[str], list[str]]:
    """The names of the kernels, and the C++ that defines them with the tables that know them all."""
    body = ['#include "kernels.h"', '#include "graph/op.h"', "namespace pteron::kernels {", "using gpu::BindingKind;"]
    names, snippets = [], []
    for path in sorted(ops.rglob("*.wgsl")):
        name = path.stem
        if path.parent.name == "snippets":
            snippets.append(name)
            body.append(f"static constexpr std::string_view snippet_{name} = {literal(coded(path.read_text()))};")
            continue
        if name in names:
            sys.exit(f"{path}: another kernel has this name")
        names.append(name)
        body += embed_kernel(ops, path)
    body.append("}\nnamespace pteron::graph {")
    body.append("static constexpr const KernelSource* kernel_list[] = {" + ", ".join(f"&kernels::{n}" for n in names) + "};")
    body.append("std::span<const KernelSource* const> all_kernels() { return kernel_list; }")
    body.append("static constexpr std::pair<std::string_view, std::string_view> snippets[] = {{}, ")
    body += [f'  {{"{name}", kernels::snippet_{name}}},' for name in snippets]
    body.append("};\nstd::string_view find_snippet(std::string_view name) {")
    body.append("  for (const auto& [own, text] : snippets)\n    if (own == name) return text;\n  return {};\n}")
    meaning = dict(zip(CODES, PHRASES))
    phrases = ", ".join(literal(meaning[chr(code)]) if chr(code) in meaning else "{}" for code in range(32))
    body.append(f"static constexpr std::string_view phrases[] = {{{phrases}}};")
    body.append("std::string_view phrase_of(char code) { return u8(code) < 32 ? phrases[u8(code)] : std::string_view(); }")
    body.append("}")
    return names, body


def nouns_of(ops: pathlib.Path, headers: pathlib.Path) -> list[str]:
    """Of the sources that define a list of ops. What would not get into the op table is an error."""
    out = []
    for path in sorted(ops.glob("*.cpp")):
        if path.stem.endswith("_test"):
            continue
        text = path.read_text()
        own = f"{path.stem}_ops"
        lists = re.findall(r"\bOpList (\w+)\s*[={]", text)
        if others := set(lists) - {own}:
            sys.exit(f"{path}: the list '{min(others)}' would not be found; a source has one list of ops, {own}")
        if re.search(rf"^extern const OpList {own} = ", text, re.M):
            out.append(path.stem)
        elif lists or "OpEntry" in text or not headers.joinpath(f"{path.stem}.h").exists():
            sys.exit(f"{path}: registers no ops; define `extern const OpList {own}`")
    return out


def check_passes(folder: pathlib.Path) -> None:
    """A pass that is not in the list of passes.cpp would never run."""
    order = folder / "passes.cpp"
    listed = re.findall(r"&ops::(\w+)", order.read_text()) if order.exists() else []
    for path in sorted(folder.glob("*.cpp")):
        for name in re.findall(r"^(?:extern )?(?:const|constexpr) Pass (\w+)\s*[={(]", path.read_text(), re.M):
            if name not in listed:
                sys.exit(f"{path}: the pass '{name}' would never run; {order.name} does not list it")


def main() -> None:
    ops, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    headers = pathlib.Path(__file__).resolve().parent.parent / "src" / "ops"
    out.mkdir(parents=True, exist_ok=True)
    names, body = embed_kernels(ops)
    nouns = nouns_of(ops, headers)
    check_passes(ops / "passes")
    header = ["#pragma once", '#include "graph/kernel.h"', "namespace pteron::kernels {"]
    header += [f"extern const graph::KernelSource {name};" for name in names]
    header.append("}")
    body.append("namespace pteron::ops {")
    body += [f"extern const graph::OpList {noun}_ops;" for noun in nouns]
    body.append("}\nnamespace pteron::graph {")
    body.append("std::span<const OpList> all_ops() {")
    body.append("  static const OpList lists[] = {" + ", ".join(f"ops::{n}_ops" for n in nouns) + "};")
    body.append("  return lists;\n}")
    body.append("}")
    write_if_changed(out / "kernels.h", "\n".join(header) + "\n")
    write_if_changed(out / "kernels.cpp", "\n".join(body) + "\n")


if __name__ == "__main__":
    main()
