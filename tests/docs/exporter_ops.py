#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Is src/runtime/exporter_ops.h what the installed ExecuTorch's Vulkan partitioner registers?

usage: exporter_ops.py HEADER [--write]
"""
import textwrap
from importlib.metadata import version

from generated_header import keep

HEAD = """// SPDX-License-Identifier: BSD-3-Clause
// What ExecuTorch's Vulkan partitioner registers, as programs name it: aten ops with the overload that writes to `out`,
// others without overload. Written by tests/docs/exporter_ops.py --write from the pinned exporter; a test compares.
#pragma once

#include <string_view>

namespace pteron {{

constexpr std::string_view exporter_version = "{version}";

struct ExporterOps {{
  std::string_view first_input;  // types that it takes, or empty: any of `exporter_types`
  bool many_dims;                // more than four dimensions too
  bool resizes;                  // also if the export asks for dynamic shapes
  std::string_view names;        // separated by spaces
}};

constexpr std::string_view exporter_types = "{types}";

// clang-format off
constexpr ExporterOps exporter_ops[] = {{
"""


def names_of(op) -> str | None:
    from executorch.exir.dialects.edge._ops import EdgeOpOverload

    if isinstance(op, str):
        return op
    if not hasattr(op, "name") or not isinstance(op, EdgeOpOverload):
        return None  # Python's operators and shape ops are no kernels of a program
    name = op.name()
    if not name.startswith("aten::"):
        return name.split(".")[0]
    try:
        return op.to_out_variant().name()
    except RuntimeError:
        return None  # is fused or decomposed before a program is written


def types_of(types) -> str:
    return " ".join(sorted(str(t).removeprefix("torch.") for t in types))


def header() -> str:
    from executorch.backends.vulkan import utils
    from executorch.backends.vulkan.op_registry import vulkan_supported_ops

    everything = types_of(utils.ALL_T)
    groups = {}
    for op, features in vulkan_supported_ops.items():
        if name := names_of(op):
            first = types_of(features.inputs_dtypes[0])
            key = ("" if first == everything else first, features.supports_highdim, features.supports_resize)
            groups.setdefault(key, set()).add(name)
    text = HEAD.format(version=version("executorch"), types=everything)
    for (types, many_dims, resizes), names in sorted(groups.items()):
        lines = textwrap.wrap(" ".join(sorted(names)), 108)
        quoted = "\n     ".join(f'"{line}{"" if line is lines[-1] else " "}"' for line in lines)
        text += f'    {{"{types}", {str(many_dims).lower()}, {str(resizes).lower()},\n     {quoted}}},\n'
    return text + "};\n// clang-format on\n\n}  // namespace pteron\n"


keep(header(), f"what ExecuTorch {version('executorch')} registers")
