// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.h"

#include <pteron/encoder.h>

#include <algorithm>
#include <cmath>

namespace pteron {
namespace {

const MethodInfo* forward_of(const Program& program) {
  const auto it = std::ranges::find(program.methods(), "forward", &MethodInfo::name);
  return it == program.methods().end() ? nullptr : &*it;
}

void make_length_one(std::span<f32> vector) {
  f64 sum = 0;
  for (const f32 x : vector) sum += f64(x) * f64(x);
  if (sum > 0)
    for (f32& x : vector) x = f32(f64(x) / std::sqrt(sum));
}

}  // namespace

bool Encoder::is_one(const Program& program) {
  const MethodInfo* method = forward_of(program);
  if (!method || method->inputs.size() != 2 || method->outputs.empty()) return false;
  const auto is_row = [](const ValueInfo& value) {
    return value.is_tensor && value.dtype == DType::i64 && value.shape.rank() == 2 && value.shape[0] == 1;
  };
  const ValueInfo &tokens = method->inputs[0], &mask = method->inputs[1], &out = method->outputs[0];
  return is_row(tokens) && is_row(mask) && tokens.shape[1] == mask.shape[1] && tokens.shape[1] > 1 && out.is_tensor &&
         out.dtype == DType::f32 && out.shape.rank() == 2 && out.shape[0] == 1;
}

Encoder::Encoder(Program program, Method method, std::optional<Tokenizer> tokenizer)
    : program_(std::move(program)), method_(std::move(method)), tokenizer_(std::move(tokenizer)) {
  const MethodInfo& info = method_.info();
  context_ = info.inputs[0].shape[1];
  dynamic_ = info.inputs[0].dynamic;
  width_ = info.outputs[0].shape[1];
}

Result<Encoder> Encoder::create(Program program, std::optional<Tokenizer> tokenizer) {
  if (!is_one(program)) return unsupported("the program is no encoder of texts");
  TRY(Method method, program.method("forward"));
  return Encoder(std::move(program), std::move(method), std::move(tokenizer));
}

Result<std::vector<u32>> Encoder::encode(std::string_view text, const EncodeOptions& options) const {
  if (!tokenizer_) return not_found("the encoder has no tokenizer; name its file");
  return tokenizer_->encode(text, options);
}

Result<std::vector<f32>> Encoder::embed(std::span<const u32> tokens) {
  if (tokens.empty() || tokens.size() > context_)
    return invalid("the text has ", tokens.size(), " tokens; from 1 to ", context_, " are possible");
  // A dynamic length starts at two, and a static one is filled up: what the mask hides does not count.
  const u32 length = dynamic_ ? std::max(u32(tokens.size()), 2u) : context_;
  std::vector<i64> ids(tokens.begin(), tokens.end()), mask(tokens.size(), 1);
  ids.resize(length, tokenizer_ ? i64(tokenizer_->pad().value_or(0)) : 0);
  mask.resize(length, 0);
  TRY(const auto outputs, method_.execute({{DType::i64, Shape{1, length}, std::as_bytes(std::span(ids))},
                                           {DType::i64, Shape{1, length}, std::as_bytes(std::span(mask))}}));
  const auto row = outputs[0].as<f32>();
  std::vector<f32> out(row.begin(), row.end());
  make_length_one(out);
  return out;
}

}  // namespace pteron
