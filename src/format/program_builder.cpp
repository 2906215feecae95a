// SPDX-License-Identifier: BSD-3-Clause
#include "format/program_builder.h"

namespace pteron::format {

u32 ProgramBuilder::constant_bytes(DType dtype, const Shape& shape, std::vector<std::byte> bytes,
                                   const std::string& key) {
  const u32 id = constant_tensor(dtype, shape, {key, {}, bytes.size()});
  inline_.push_back(key.empty() ? bytes : std::vector<std::byte>());
  bool known = key.empty();
  for (const auto& blob : named_) known |= blob.key == key;
  if (!known) named_.push_back(named_blob(key, std::move(bytes)));
  return id;
}

std::vector<std::byte> ProgramBuilder::program() const {
  ProgramDraft draft;
  draft.methods.push_back(method("forward"));
  draft.methods[0].blobs[0] = blob();
  draft.named_data = named_;
  std::vector<std::byte> out;
  const Status status = write_program(draft, [&](Bytes bytes) -> Status {
    out.insert(out.end(), bytes.begin(), bytes.end());
    return {};
  });
  return status ? out : std::vector<std::byte>();
}

}  // namespace pteron::format
