// SPDX-License-Identifier: BSD-3-Clause
// Stock ExecuTorch with the plugin, as a C++ program uses it.
#pragma once

#include "support/builder.h"

#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>

#include <memory>

namespace pteron::test {

using executorch::extension::Module;
using EtError = executorch::runtime::Error;

// What the plugin has logged as errors since the last call.
std::vector<std::string> take_errors();

// A program in memory, with the module that reads it.
class Hosted {
 public:
  explicit Hosted(std::vector<std::byte> program, std::unique_ptr<executorch::runtime::EventTracer> tracer = nullptr)
      : bytes_(std::move(program)),
        module_(std::make_unique<Module>(
            std::make_unique<executorch::extension::BufferDataLoader>(bytes_.data(), bytes_.size()), nullptr, nullptr,
            std::move(tracer))) {}
  Module* operator->() { return module_.get(); }

 private:
  std::vector<std::byte> bytes_;
  std::unique_ptr<Module> module_;
};

// y = x + x, for x of 4 floats.
GraphBuilder doubling();
// The same with a delegate's blob of any kind.
std::vector<std::byte> program_with(std::vector<std::byte> blob, std::vector<format::CompileSpec> specs = {});

executorch::extension::TensorPtr floats(std::vector<float> values);
// The only output, or nothing if the call fails.
std::vector<float> run(Hosted& program, std::vector<float> values);

}  // namespace pteron::test
