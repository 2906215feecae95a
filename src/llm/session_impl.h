// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.h"

#include <pteron/llm.h>

#include <array>

namespace pteron {

struct Session::Impl {
  ~Impl() {
    if (running) (void)method.finish();  // the GPU may still read the inputs
  }

  Method method;
  std::shared_ptr<const ModelInfo> info;
  std::vector<u32> tokens;
  u32 cached = 0;
  Readback answer = Readback::none;

  // The run that is under way. Its inputs must stay where they are.
  bool running = false;
  Readback wanted = Readback::none;
  std::vector<i64> input;
  i64 position = 0;
  std::array<TensorView, 2> views;

  Status check_idle() const {
    if (running) return invalid("the session is in the middle of a run; call finish first");
    return {};
  }
  // What a run reads and gives, as members above; then what it leaves.
  Status prepare(Readback readback);
  std::span<const TensorView> inputs();
  void conclude();

  Status check(std::span<const u32> more, size_t kept) const;
  Status forget_behind(u32 length);
  OutputSet outputs_of(Readback readback) const;
  const Tensor& output(u32 behind_own) const { return method.outputs()[info->outputs + behind_own]; }
};

}  // namespace pteron
