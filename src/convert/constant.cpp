// SPDX-License-Identifier: BSD-3-Clause
#include "convert/constant.h"

namespace pteron::convert {

Constant numbers(const Shape& shape, std::vector<f32> values) {
  auto shared = std::make_shared<const std::vector<f32>>(std::move(values));
  return {DType::f32, shape, [shared](const format::Sink& sink) { return sink(std::as_bytes(std::span(*shared))); }};
}

Constant zeros(const Shape& shape) {
  const u64 bytes = shape.numel() * sizeof(f32);
  return {DType::f32, shape, [bytes](const format::Sink& sink) -> Status {
            static constexpr std::array<std::byte, 1 << 16> block{};
            for (u64 left = bytes; left > 0;) {
              const u64 size = std::min<u64>(left, block.size());
              TRY_DO(sink(Bytes(block).first(size)));
              left -= size;
            }
            return {};
          }};
}

}  // namespace pteron::convert
