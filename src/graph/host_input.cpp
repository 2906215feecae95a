// SPDX-License-Identifier: BSD-3-Clause
#include "graph/host_input.h"

#include "graph/dtype_cast.h"

namespace pteron::graph {
namespace {

Status check_number(u32 index, const HostInput& input) {
  if (!input.number) return invalid("input ", index, " should be a number, but a tensor was given");
  if (*input.number < INT32_MIN || *input.number > INT32_MAX)
    return invalid("input ", index, " is ", *input.number, ", which does not fit in 32 bits");
  return {};
}

Status check_tensor(const CompiledGraph& c, u32 index, const HostInput& input) {
  const ValueId id = c.graph.inputs[index];
  const Tensor& tensor = *c.graph.tensor(id);
  if (input.number) return invalid("input ", index, " should be a tensor, but a number was given");
  if (!can_convert(input.dtype, c.facts.dtype[id]))
    return invalid("input ", index, " should be ", tensor.dtype, ", but ", input.dtype, " was given");
  if (input.shape.rank() != tensor.max.rank())
    return invalid("input ", index, " should have rank ", tensor.max.rank(), ", but ", input.shape, " was given");
  for (u32 axis = 0; axis < input.shape.rank(); ++axis) {
    const u32 live = input.shape[axis], max = tensor.max[axis];
    if (live > max)
      return invalid("input ", index, " has ", live, " in axis ", axis, ", but the program allows at most ", max);
    if (live == 0 && max != 0)
      return invalid("input ", index, " has 0 in axis ", axis, "; at least 1 is needed (at most ", max, ")");
    if (live != max && !c.facts.varies[id])
      return invalid("input ", index, " should have shape ", tensor.max, ", but ", input.shape, " was given");
  }
  const u64 bytes = input.shape.numel() * size_of(input.dtype);
  if (input.bytes.size() != bytes)
    return invalid("input ", index, " of shape ", input.shape, " ", input.dtype, " needs ", bytes, " bytes, but ",
                   input.bytes.size(), " were given");
  if (bytes > 0 && input.bytes.data() == nullptr) return invalid("input ", index, " has no data");
  return {};
}

Status check_indices(const CompiledGraph& c, const IndexCheck& check, const HostInput& input) {
  const u64 count = input.shape.numel();
  const i64 low = check.negative ? -i64(check.limit) : 0;
  for (u64 i = 0; i < count; ++i) {
    const i64 value = element_as_integer(input.bytes, input.dtype, i);
    if (value < low || value >= i64(check.limit))
      return within(Status(invalid(check.what, " ", value, " (element ", i, " of input ", check.input,
                                   ") is out of range; there are ", check.limit)),
                    describe(c.graph.ops[check.op]));
  }
  return {};
}

}  // namespace

Status check_inputs(const CompiledGraph& c, std::span<const HostInput> inputs) {
  if (inputs.size() != c.graph.inputs.size())
    return invalid("the program takes ", c.graph.inputs.size(), " inputs, but ", inputs.size(), " were given");
  for (u32 i = 0; i < inputs.size(); ++i)
    TRY_DO(c.graph.tensor(c.graph.inputs[i]) ? check_tensor(c, i, inputs[i]) : check_number(i, inputs[i]));
  for (const IndexCheck& check : c.index_checks) TRY_DO(check_indices(c, check, inputs[check.input]));
  return {};
}

}  // namespace pteron::graph
