#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Is tests/support/core_aten.h the core ATen of the installed torch?

usage: core_aten.py HEADER [--write]
"""
import torch

from generated_header import keep

HEAD = """// SPDX-License-Identifier: BSD-3-Clause
// Core ATen: every op that torch {version} tags so, how programs name it, and why Pteron has no kernel for it where it has
// none. Written by tests/docs/core_aten.py --write; a test compares. docs/ops.md is made of it and of the engine's
// table.
#pragma once

#include <string_view>

namespace pteron::test {{

constexpr std::string_view core_aten_version = "{version}";

struct CoreOp {{
  std::string_view name, in_programs, reason;
}};

// clang-format off
constexpr CoreOp core_aten[] = {{
"""

RANDOM = "its result is random; no two implementations agree, so nothing can be compared with torch"
BACKWARD = "gradients of it don't occur in programs; training goes through the ops of ExecuTorch's trainer"
COMPLEX = "complex numbers are in none of the types of a program"
MEMORY = "a tensor's layout is no part of a program: all tensors are contiguous"
REASONS = {
    "rand.default": RANDOM,
    "randn.default": RANDOM,
    "randperm.default": RANDOM,
    "native_dropout.default": RANDOM,
    "_fft_c2r.default": COMPLEX,
    "_fft_r2c.default": COMPLEX,
    "nonzero.default": "only the contents of its input tell the size of its result",
    "_local_scalar_dense.default": "a number that depends on data; programs have et_vk.select_as_symint for it",
    "sym_storage_offset.default": MEMORY,
    "sym_stride.int": MEMORY,
    "sym_numel.default": "the exporter writes products of sizes",
    "atan2.out": "programs have no out variants inside of a delegate",
}


def reason(name: str) -> str:
    return BACKWARD if "_backward." in name else REASONS.get(name, "")


def in_programs(op: torch._ops.OpOverload) -> str:
    """Views are copies there; the sizes of tensors have no namespace."""
    name = str(op)
    if name.startswith("aten.sym_"):
        return name.removeprefix("aten.")
    base, overload = name.removeprefix("aten.").split(".")
    is_view = any(r.alias_info is not None and not r.alias_info.is_write for r in op._schema.returns)
    copy = f"{base}_copy"
    return f"aten.{copy}.{overload}" if is_view and hasattr(torch.ops.aten, copy) else name


def core_ops() -> list:
    packets = (getattr(torch.ops.aten, name) for name in dir(torch.ops.aten))
    overloads = [getattr(p, o) for p in packets if hasattr(p, "overloads") for o in p.overloads()]
    return sorted((op for op in overloads if torch.Tag.core in op.tags), key=str)


def header() -> str:
    text = HEAD.format(version=torch.__version__.split("+")[0])
    for op in core_ops():
        name = str(op).removeprefix("aten.")
        text += f'    {{"{name}", "{in_programs(op)}", "{reason(name)}"}},\n'
    return text + "};\n// clang-format on\n\n}  // namespace pteron::test\n"


keep(header(), f"the core ATen of torch {torch.__version__}")
