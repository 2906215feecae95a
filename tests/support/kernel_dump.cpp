// SPDX-License-Identifier: BSD-3-Clause
#include "support/kernel_dump.h"

#include <fstream>

namespace pteron::test {
namespace fs = std::filesystem;
namespace {

std::string_view name_of(gpu::BindingKind kind) {
  switch (kind) {
    case gpu::BindingKind::uniform: return "uniform";
    case gpu::BindingKind::read: return "read";
    case gpu::BindingKind::read_write: return "read_write";
  }
  return "unknown";
}

}  // namespace

KernelDump::KernelDump(std::shared_ptr<gpu::Device> inner, fs::path folder)
    : ForwardingDevice(std::move(inner)), folder_(std::move(folder)) {
  fs::create_directories(folder_);
  for (const auto& entry : fs::directory_iterator(folder_))
    if (entry.path().extension() == ".wgsl") fs::remove(entry.path());
}

Result<std::unique_ptr<gpu::Device::PipelineBatch>> KernelDump::compile(std::vector<gpu::PipelineSpec> specs) {
  for (const gpu::PipelineSpec& spec : specs) write_file(spec);
  return ForwardingDevice::compile(std::move(specs));
}

Result<gpu::Pipeline> KernelDump::compile_now(const gpu::PipelineSpec& spec) {
  write_file(spec);
  return ForwardingDevice::compile_now(spec);
}

void KernelDump::write_file(const gpu::PipelineSpec& spec) const {
  std::string text = "//";
  for (gpu::BindingKind kind : spec.bindings) text += str(" ", name_of(kind));
  if (spec.subgroups) text += " subgroups";
  text += "\n" + spec.source;
  // A text has one name, so that the same text is the same file.
  const fs::path path = folder_ / str(spec.label, "-", std::hash<std::string>{}(text), ".wgsl");
  if (!fs::exists(path)) std::ofstream(path, std::ios::binary) << text;
}

}  // namespace pteron::test
