// SPDX-License-Identifier: BSD-3-Clause
#include "convert/weight.h"

#include "convert/fit_q4.h"

#include <algorithm>
#include <cmath>

namespace pteron::convert {
namespace {

constexpr u64 part_values = 1 << 18;
constexpr i32 highest_without_centre = 119;  // 16·7 + 7
constexpr u8 undecided = 255;

constexpr u32 round_up(u32 n, u32 multiple) { return (n + multiple - 1) / multiple * multiple; }

template <class T>
Bytes bytes_of(const std::vector<T>& items) {
  return std::as_bytes(std::span(items));
}

}  // namespace

Weight::Weight(const Gguf& file, const GgufTensor& tensor, Quantization quantization)
    : file_(&file), tensor_(&tensor), columns_(tensor.shape.dim(-1)), rows_(u32(tensor.shape.numel() / columns_)) {
  const bool is_q4 = format().group == q4_group && format().highest <= 7 && !format().has_minima();
  if (quantization == Quantization::q4 && !is_q4 && columns_ % q4_group == 0) {
    roundings_ = std::make_shared<std::vector<u8>>(tensor.shape.numel() / q4_group, undecided);
    group_ = q4_group;
    planes_ = 1;
    return;
  }
  group_ = format().group;
  planes_ = format().highest <= 7 ? 1 : 2;
  centre_ = format().highest > highest_without_centre ? 8 : 0;
  shift_ = u32(format().shift + centre_);
  minima_ = format().has_minima();
}

Status Weight::requantize(Bytes blocks, Rows& rows) const {
  std::vector<f32> values(rows.q.size());
  dequantize(format(), blocks, values);
  TRY_DO(check_finite(values));
  u8* roundings = roundings_->data() + u64(rows.first) * groups();
  for (u64 i = 0; i < rows.scales.size(); ++i) {
    const std::span<const f32, q4_group> from(values.data() + i * q4_group, q4_group);
    if (roundings[i] == undecided) roundings[i] = best_q4_rounding(from);
    rows.scales[i] = quantize_q4(from, roundings[i], std::span<i8, q4_group>(rows.q.data() + i * q4_group, q4_group));
  }
  return {};
}

Status Weight::check_finite(std::span<const f32> numbers) const {
  if (std::all_of(numbers.begin(), numbers.end(), [](f32 x) { return std::isfinite(x); })) return {};
  return invalid("tensor '", tensor_->name, "' holds a number that is not finite; the file is corrupted");
}

Status Weight::read(Rows& rows, std::vector<std::byte>& buffer) const {
  const u64 row_bytes = u64(columns_) / format().values * format().bytes;
  const format::DataRange range{tensor_->data.offset + rows.first * row_bytes, rows.count * row_bytes};
  TRY(const Bytes blocks, format::fetch(file_->source(), range, buffer));
  if (roundings_) return requantize(blocks, rows);
  const u64 count = blocks.size() / format().bytes, groups_per_block = format().values / group_;
  for (u64 i = 0; i < count; ++i)
    format().integers(blocks.data() + i * format().bytes, rows.q.data() + i * format().values,
                      rows.scales.data() + i * groups_per_block, rows.minima.data() + i * groups_per_block);
  TRY_DO(check_finite(rows.scales));
  return check_finite(rows.minima);
}

// Calls visit(rows) with consecutive rows until all have been seen.
template <class Visit>
Status Weight::for_each_part(Visit visit) const {
  const u32 step = u32(std::max<u64>(part_values / columns_, 1));
  Rows rows;
  std::vector<std::byte> buffer;
  for (u32 first = 0; first < rows_; first += rows.count) {
    rows.first = first;
    rows.count = std::min(step, rows_ - first);
    rows.q.resize(u64(rows.count) * columns_);
    rows.scales.resize(u64(rows.count) * groups());
    rows.minima.assign(rows.scales.size(), 0);
    TRY_DO(read(rows, buffer));
    TRY_DO(visit(rows));
  }
  return {};
}

i32 Weight::plane_value(i32 q, u32 plane) const {
  if (planes_ == 1) return q;
  const i32 h = (q - centre_ + 8) >> 4;
  return plane == 0 ? h : q - centre_ - 16 * h;
}

Constant Weight::plane(u32 plane) const {
  const Weight self = *this;
  return {DType::u8, Shape{rows_, columns_ / 2}, [self, plane](const format::Sink& sink) {
            std::vector<u8> packed;
            return self.for_each_part([&](const Rows& rows) {
              packed.resize(rows.q.size() / 2);
              for (u64 i = 0; i < packed.size(); ++i) {
                const i32 even = self.plane_value(rows.q[2 * i], plane),
                          odd = self.plane_value(rows.q[2 * i + 1], plane);
                packed[i] = u8((odd + 8) << 4 | (even + 8));
              }
              return sink(bytes_of(packed));
            });
          }};
}

Constant Weight::row_scales() const {
  const Weight self = *this;
  return {DType::f32, Shape{rows_, groups()}, [self](const format::Sink& sink) {
            return self.for_each_part([&](const Rows& rows) { return sink(bytes_of(rows.scales)); });
          }};
}

Constant Weight::transposed_scales() const {
  const Weight self = *this;
  const u32 stride = round_up(rows_, 4);
  return {DType::f32, Shape{groups(), stride}, [self, stride](const format::Sink& sink) -> Status {
            std::vector<f32> out(u64(self.groups()) * stride);
            TRY_DO(self.for_each_part([&](const Rows& rows) -> Status {
              for (u32 row = 0; row < rows.count; ++row)
                for (u32 g = 0; g < self.groups(); ++g)
                  out[u64(g) * stride + rows.first + row] = rows.scales[u64(row) * self.groups() + g];
              return {};
            }));
            return sink(bytes_of(out));
          }};
}

Constant Weight::minima() const {
  const Weight self = *this;
  return {DType::f32, Shape{rows_, groups()}, [self](const format::Sink& sink) {
            return self.for_each_part([&](const Rows& rows) { return sink(bytes_of(rows.minima)); });
          }};
}

Constant Weight::numbers() const {
  const Weight self = *this;
  return {DType::f32, tensor_->shape, [self](const format::Sink& sink) -> Status {
            const BlockFormat& format = self.format();
            const u64 step = std::max<u64>(part_values / format.values, 1) * format.bytes;
            const format::DataRange all = self.tensor_->data;
            std::vector<std::byte> buffer;
            std::vector<f32> values;
            for (u64 at = 0; at < all.size; at += step) {
              const u64 size = std::min(step, all.size - at);
              TRY(const Bytes blocks, format::fetch(self.file_->source(), {all.offset + at, size}, buffer));
              values.resize(size / format.bytes * format.values);
              dequantize(format, blocks, values);
              TRY_DO(self.check_finite(values));
              TRY_DO(sink(bytes_of(values)));
            }
            return {};
          }};
}

Constant Weight::padded_numbers(u32 multiple) const {
  const u32 width = round_up(columns_, multiple);
  const u64 padding = width - columns_;
  return {DType::f32, Shape{width}, [exact = numbers(), padding](const format::Sink& sink) -> Status {
            TRY_DO(exact.write(sink));
            return sink(bytes_of(std::vector<f32>(padding)));
          }};
}

}  // namespace pteron::convert
