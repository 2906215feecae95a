// SPDX-License-Identifier: BSD-3-Clause
#include "host.h"

#include <executorch/runtime/platform/platform.h>

#include <mutex>

namespace pteron::test {
namespace {

std::mutex log_mutex;
std::vector<std::string> log_lines;

void keep(et_timestamp_t, et_pal_log_level_t level, const char*, const char*, size_t, const char* message, size_t) {
  const std::scoped_lock lock(log_mutex);
  if (level == kError && std::string_view(message).starts_with("pteron: ")) log_lines.emplace_back(message);
}

// NOLINTNEXTLINE(bugprone-throwing-static-initialization): tests that can't listen need not run
[[maybe_unused]] const bool listening =
    executorch::runtime::register_pal(executorch::runtime::PalImpl::create(keep, __FILE__));

}  // namespace

std::vector<std::string> take_errors() {
  const std::scoped_lock lock(log_mutex);
  return std::exchange(log_lines, {});
}

GraphBuilder doubling() {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {4}));
  const u32 one = b.integer(1), y = b.tensor(DType::f32, {4});
  b.op("aten.add.Tensor", {x, x, one, y});
  b.output(y);
  return b;
}

std::vector<std::byte> program_with(std::vector<std::byte> blob, std::vector<format::CompileSpec> specs) {
  format::TensorSpec spec;
  spec.dtype = DType::f32;
  spec.shape = {4};
  format::ProgramDraft draft;
  draft.methods.push_back(format::delegate_method("forward", doubling().graph, {spec}, {spec}));
  draft.methods[0].blobs[0] = std::move(blob);
  draft.methods[0].spec.delegates[0].compile_specs = std::move(specs);
  std::vector<std::byte> out;
  const Status written = format::write_program(draft, [&](Bytes bytes) -> Status {
    out.insert(out.end(), bytes.begin(), bytes.end());
    return {};
  });
  return written ? out : std::vector<std::byte>();
}

executorch::extension::TensorPtr floats(std::vector<float> values) {
  const auto size = executorch::aten::SizesType(values.size());
  return executorch::extension::make_tensor_ptr({size}, std::move(values));
}

std::vector<float> run(Hosted& program, std::vector<float> values) {
  const auto outputs = program->forward(floats(std::move(values)));
  if (!outputs.ok() || outputs->size() != 1) return {};
  const auto& tensor = (*outputs)[0].toTensor();
  return {tensor.const_data_ptr<float>(), tensor.const_data_ptr<float>() + tensor.numel()};
}

}  // namespace pteron::test
