// SPDX-License-Identifier: BSD-3-Clause
// What an op's table entry says, and what src/ops gives to the engine: it knows ops and kernels by these tables alone.
#pragma once

#include "graph/graph.h"
#include "graph/kernel.h"
#include "graph/signature.h"

namespace pteron::graph {

class Plan;

using PlanFunction = Status (*)(Plan&);

// What else is known about an op; bits.
enum Traits : u8 {
  plain = 0,
  copies = 1,    // if dtypes agree, the result is the same bytes as the first argument
  internal = 2,  // only passes make it; a file can't name it
  lanewise = 4,  // rows of the leading axis don't see each other, if there are further axes
  chains = 8,    // `detail` is a WGSL expression over its tensors a, b, … and its scalars s0, s1; it can join others
  prepacks = 16  // the result is the argument, a constant; nothing runs
};
constexpr Traits operator|(Traits a, Traits b) { return Traits(u8(a) | u8(b)); }

// What the ops of a table have in common.
struct OpFamily {
  PlanFunction plan;
  Signature signature;
  Traits traits = plain;
};

struct OpEntry {
  std::string_view name;  // as it stands in the file: "aten.add.Tensor"
  PlanFunction plan;
  Signature signature;
  Traits traits;
  std::string_view detail;  // what a shared plan needs to know: an expression, a mode

  constexpr OpEntry(std::string_view n, PlanFunction p, Signature s, Traits t = plain, std::string_view d = {})
      : name(n), plan(p), signature(s), traits(t), detail(d) {}
  constexpr OpEntry(std::string_view n, const OpFamily& f, std::string_view d = {})
      : OpEntry(n, f.plan, f.signature, f.traits, d) {}

  bool is(Traits trait) const { return (traits & trait) != 0; }
};

using OpList = std::span<const OpEntry>;

// Each file src/ops/<noun>.cpp defines `const OpList <noun>_ops`; the build collects them.
std::span<const OpList> all_ops();
// Nothing if no op has this name.
const OpEntry* find_op(std::string_view name);
// Copies the first tensor to the second; its parameter is the number of quads of 16 bytes, one per thread of 64.
const KernelSource& copy_kernel();

}  // namespace pteron::graph
