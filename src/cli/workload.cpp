// SPDX-License-Identifier: BSD-3-Clause
#include "cli/workload.h"

#include "base/error.h"

#include <algorithm>

namespace pteron::cli {
namespace {

// The numbers of a linear congruential generator.
class Numbers {
 public:
  u32 next() { return state_ = state_ * 1664525 + 1013904223; }

 private:
  u32 state_ = 1;
};

bool is_decoder(const MethodInfo& info) {
  const auto& in = info.inputs;
  return in.size() == 2 && in[0].dtype == DType::i64 && in[0].shape.rank() == 2 && in[0].shape[0] == 1 &&
         in[0].dynamic && in[1].dtype == DType::i64 && in[1].shape == Shape{1};
}

// The first of these constants that the program has.
i64 constant_or(const Program& program, std::initializer_list<const char*> names, i64 otherwise) {
  for (const char* name : names)
    if (const auto value = program.constant(name); value && value->size() == 1 && value->front() > 0)
      return value->front();
  return otherwise;
}

Result<Tensor> made_up(const ValueInfo& info) {
  if (!info.is_tensor && info.dtype != DType::i64)
    return unsupported("a number of type ", info.dtype, " is fixed by the program; it can't be made up");
  Tensor out(info.dtype, info.is_tensor ? info.shape : Shape());
  Numbers numbers;
  const auto next = [&numbers] { return f32(i32(numbers.next())) * 0x1p-31f; };
  if (info.dtype == DType::f32) std::ranges::generate(out.as<f32>(), next);
  if (info.dtype == DType::f64) std::ranges::generate(out.as<f64>(), next);
  return out;
}

}  // namespace

Result<Subject> load_subject(const std::string& path, const std::string& method, LoadOptions options) {
  TRY(auto program, Program::load(path, std::move(options)));
  const auto described = std::ranges::find(program.methods(), method, &MethodInfo::name);
  const bool decoder = described != program.methods().end() && is_decoder(*described);
  MethodOptions with;
  if (decoder) with.epilogues = {{.kind = Epilogue::arg_max}};
  TRY(auto loaded, program.method(method, with));
  return Subject{std::move(program), std::move(loaded), std::move(with), decoder};
}

Decoder::Decoder(Subject& subject) : method_(subject.method), tokens_(subject.method.info().inputs[0].shape[1]) {
  capacity_ = u32(constant_or(subject.program, {"get_max_context_len", "get_max_seq_len"}, longest_step()));
  const i64 vocabulary = constant_or(subject.program, {"get_vocab_size"}, 256);
  Numbers numbers;
  for (i64& token : tokens_) token = (numbers.next() >> 16) % vocabulary;
}

Status Decoder::step(u32 position, u32 count) {
  const i64 at = position;
  const TensorView inputs[] = {{DType::i64, Shape{1, count}, std::as_bytes(std::span(tokens_).first(count))},
                               {DType::i64, Shape{1}, std::as_bytes(std::span(&at, 1))}};
  TRY_DO(method_.begin(inputs, {u32(method_.info().outputs.size() - 1)}));
  TRY_DO(method_.finish());
  return {};
}

Status Decoder::prompt(u32 count) {
  for (u32 at = 0; at < count; at += longest_step()) TRY_DO(step(at, std::min(count - at, longest_step())));
  return {};
}

Result<DecoderBatch> DecoderBatch::create(Subject& subject, u32 conversations) {
  const std::string& name = subject.method.info().name;
  TRY(Batch batch, subject.program.batch(name, subject.options));
  std::vector<Method> methods;
  for (u32 i = 0; i < conversations; ++i) {
    TRY(Method method, subject.program.method(name, subject.options));
    methods.push_back(std::move(method));
  }
  return DecoderBatch(std::move(batch), std::move(methods));
}

Status DecoderBatch::step(u32 position) {
  const i64 token = 1, at = position;
  const TensorView inputs[] = {{DType::i64, Shape{1, 1}, std::as_bytes(std::span(&token, 1))},
                               {DType::i64, Shape{1}, std::as_bytes(std::span(&at, 1))}};
  std::vector<Batch::Lane> lanes;
  lanes.reserve(methods_.size());
  for (Method& method : methods_) lanes.push_back({&method, inputs, {u32(method.info().outputs.size() - 1)}});
  TRY_DO(batch_.begin(lanes));
  TRY_DO(batch_.finish());
  for (Batch::Lane& lane : lanes) TRY_DO(std::move(lane.status));
  return {};
}

Result<std::vector<Tensor>> made_up_inputs(const MethodInfo& info) {
  std::vector<Tensor> out;
  for (const ValueInfo& input : info.inputs) {
    TRY(Tensor tensor, made_up(input));
    out.push_back(std::move(tensor));
  }
  return out;
}

}  // namespace pteron::cli
