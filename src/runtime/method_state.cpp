// SPDX-License-Identifier: BSD-3-Clause
// A method's state as bytes.
#include "runtime/method_impl.h"

namespace pteron {

std::string Method::state_layout() const {
  std::string out;
  for (const auto& delegate : impl_->delegates) out += delegate.state.layout() + "\n";
  return out;
}

u64 Method::state_bytes(u32 positions) const {
  u64 sum = 0;
  for (const auto& delegate : impl_->delegates) sum += delegate.state.kept_bytes(positions);
  return sum;
}

Result<std::vector<std::byte>> Method::save_state(u32 positions) const {
  TRY_DO(impl_->check_idle("state can't be saved"));
  std::vector<std::byte> out(state_bytes(positions));
  size_t at = 0;
  for (const auto& delegate : impl_->delegates) {
    const size_t size = delegate.state.kept_bytes(positions);
    TRY_DO(delegate.state.read(positions, std::span(out).subspan(at, size)));
    at += size;
  }
  return out;
}

Status Method::restore_state(u32 positions, Bytes bytes) {
  TRY_DO(reset());
  if (bytes.size() != state_bytes(positions))
    return invalid("the state of ", positions, " positions has ", state_bytes(positions), " bytes, but ", bytes.size(),
                   " were given");
  size_t at = 0;
  for (auto& delegate : impl_->delegates) {
    const size_t size = delegate.state.kept_bytes(positions);
    TRY_DO(delegate.state.write(positions, bytes.subspan(at, size)));
    at += size;
  }
  return {};
}

}  // namespace pteron
