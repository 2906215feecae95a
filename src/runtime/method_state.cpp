// SPDX-License-Identifier: BSD-3-Clause
// A method's state as bytes.
#include "base/text.h"
#include "runtime/method_impl.h"

#include <algorithm>

namespace pteron {

std::string Method::state_layout() const {
  std::string out;
  for (const auto& delegate : impl_->delegates) out += delegate.state.layout() + "\n";
  for (u32 id : impl_->written_constants()) out += str("host ", id, ": ", impl_->constant_bytes(id).size(), "\n");
  return out;
}

u64 Method::state_bytes(u32 positions) const {
  u64 sum = 0;
  for (const auto& delegate : impl_->delegates) sum += delegate.state.kept_bytes(positions);
  for (u32 id : impl_->written_constants()) sum += impl_->constant_bytes(id).size();
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
  for (u32 id : impl_->written_constants()) {
    const Bytes bytes = impl_->constant_bytes(id);
    std::ranges::copy(bytes, out.begin() + std::ptrdiff_t(at));
    at += bytes.size();
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
  for (u32 id : impl_->written_constants()) {
    const size_t size = impl_->constant_bytes(id).size();
    impl_->write_constant(id, bytes.subspan(at, size));
    at += size;
  }
  return {};
}

}  // namespace pteron
