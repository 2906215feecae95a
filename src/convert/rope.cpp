// SPDX-License-Identifier: BSD-3-Clause
#include "convert/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace pteron::convert {
namespace {

constexpr std::string_view divisors_tensor = "rope_freqs.weight";

Result<std::vector<f32>> read_divisors(const Gguf& file, u32 pairs) {
  const GgufTensor* tensor = file.tensor(divisors_tensor);
  if (!tensor) return std::vector<f32>();
  if (tensor->shape.numel() != pairs)
    return invalid("tensor '", divisors_tensor, "' has shape ", tensor->shape, ", but ", pairs, " pairs are rotated");
  std::vector<std::byte> buffer;
  TRY(const Bytes bytes, format::fetch(file.source(), tensor->data, buffer));
  std::vector<f32> out(pairs);
  dequantize(*tensor->format, bytes, out);
  if (!std::all_of(out.begin(), out.end(), [](f32 x) { return std::isfinite(x) && x > 0; }))
    return invalid("tensor '", divisors_tensor, "' must hold positive numbers");
  return out;
}

Status read_scaling(const Gguf& file, const std::string& prefix, u32 context, Rope& rope) {
  TRY(const auto type, file.text(prefix + "scaling.type"));
  TRY(auto factor, file.number(prefix + "scaling.factor"));
  if (!factor) {
    TRY(factor, file.number(prefix + "scale_linear"));
  }
  const f64 scale = factor.value_or(0) == 0 ? 1 : *factor;
  if (!(scale > 0) || !std::isfinite(scale))
    return invalid("the rope scaling factor is ", scale, "; it must be positive");
  if (type == "none" || (!type && !factor)) return {};
  rope.linear_scale = 1 / scale;
  if (!type || type == "linear") return {};
  if (type != "yarn") return unsupported("rope scaling '", *type, "' is not supported; none, linear and yarn are");
  Rope::Yarn yarn;
  const std::pair<const char*, f64*> fields[] = {{"original_context_length", &yarn.original_context},
                                                 {"attn_factor", &yarn.attention_factor},
                                                 {"yarn_attn_factor", &yarn.attention_factor},
                                                 {"yarn_ext_factor", &yarn.extrapolation},
                                                 {"yarn_beta_fast", &yarn.beta_fast},
                                                 {"yarn_beta_slow", &yarn.beta_slow}};
  yarn.original_context = context;
  for (const auto& [key, field] : fields) {
    TRY(const auto value, file.number(prefix + "scaling." + key));
    *field = value.value_or(*field);
    if (!(*field > 0) || !std::isfinite(*field))
      return invalid("metadata '", prefix, "scaling.", key, "' is ", *field, "; it must be positive");
  }
  rope.yarn = yarn;
  return {};
}

// The pair whose wave turns `turns` times within the original context.
f64 yarn_pair(const Rope& rope, f64 turns) {
  return rope.dimensions * std::log(rope.yarn->original_context / (turns * 2 * std::numbers::pi)) /
         (2 * std::log(rope.base));
}

// Radians per position of each pair.
std::vector<f64> frequencies(const Rope& rope) {
  const u32 pairs = rope.dimensions / 2;
  std::vector<f64> out(pairs);
  f64 low = 0, high = 0;
  if (rope.yarn) {
    low = std::max(std::floor(yarn_pair(rope, rope.yarn->beta_fast)), 0.0);
    high = std::min(std::ceil(yarn_pair(rope, rope.yarn->beta_slow)), f64(rope.dimensions - 1));
  }
  for (u32 i = 0; i < pairs; ++i) {
    f64 own = std::pow(rope.base, -2.0 * i / rope.dimensions);
    if (!rope.divisors.empty()) own /= rope.divisors[i];
    const f64 stretched = own * rope.linear_scale;
    out[i] = stretched;
    if (!rope.yarn) continue;
    // Fast waves keep their frequency, slow ones are stretched, with a ramp between.
    const f64 slowness = std::clamp((i - low) / std::max(high - low, 0.001), 0.0, 1.0);
    const f64 kept = (1 - slowness) * rope.yarn->extrapolation;
    out[i] = stretched * (1 - kept) + own * kept;
  }
  return out;
}

}  // namespace

Result<Rope> read_rope(const Gguf& file, std::string_view architecture, bool interleaved, u32 head_width, u32 context) {
  const std::string prefix = str(architecture, ".rope.");
  Rope rope;
  rope.interleaved = interleaved;
  rope.head_width = head_width;
  TRY(const auto dimensions, file.integer(prefix + "dimension_count"));
  const i64 rotated = dimensions.value_or(head_width);
  if (rotated <= 0 || rotated % 2 != 0 || rotated > i64(head_width))
    return invalid(prefix, "dimension_count is ", rotated, "; it must be even and at most the head's ", head_width);
  rope.dimensions = u32(rotated);
  TRY(const auto base, file.number(prefix + "freq_base"));
  rope.base = base.value_or(rope.base);
  if (!(rope.base > 1) || !std::isfinite(rope.base))
    return invalid(prefix, "freq_base is ", rope.base, "; it must be above 1");
  TRY_DO(read_scaling(file, prefix, context, rope));
  TRY(rope.divisors, read_divisors(file, rope.dimensions / 2));
  return rope;
}

RopeTables rope_tables(const Rope& rope, u32 count) {
  const u32 pairs = rope.dimensions / 2;
  const u32 width = rope.interleaved ? rope.head_width / 2 : rope.dimensions;
  const std::vector<f64> frequency = frequencies(rope);
  const f64 stretch = 1 / rope.linear_scale;
  const f64 magnitude = rope.yarn ? rope.yarn->attention_factor * (1 + 0.1 * std::log(stretch)) : 1;
  RopeTables out{Shape{count, width}, std::vector<f32>(u64(count) * width, 1), std::vector<f32>(u64(count) * width, 0)};
  for (u32 position = 0; position < count; ++position) {
    f32* cosines = out.cosines.data() + u64(position) * width;
    f32* sines = out.sines.data() + u64(position) * width;
    for (u32 i = 0; i < pairs; ++i) {
      const f64 angle = position * frequency[i];
      cosines[i] = f32(std::cos(angle) * magnitude);
      sines[i] = f32(std::sin(angle) * magnitude);
    }
    // Interleaved tables end with pairs that don't turn (cosine 1, sine 0).
    if (rope.interleaved) continue;
    std::copy_n(cosines, pairs, cosines + pairs);
    std::copy_n(sines, pairs, sines + pairs);
  }
  return out;
}

}  // namespace pteron::convert
