// SPDX-License-Identifier: BSD-3-Clause
// The matrix-product family: y = finish(A · B) in batches, where the operands are dense, quantised, or an image that a
// filter moves over. An op says where A and B come from and what becomes of the sums; the family chooses the kernel.
#pragma once

#include "ops/common.h"

namespace pteron::ops {

// As in snippets/gemm.wgsl. Strides are in elements.
struct GemmParams {
  u32 rows = 0, columns = 0, batches = 1, width = 0, first_column = 0;
  u32 sections_y = 1, sections_x = 1, steps = 0, depth = 0;
  u32 a_batches = 1, a_batch = 0, a_row = 0, a_section = 0, a_step = 1;
  u32 b_batch = 0, b_column = 0, b_step = 0;
  i32 a_zero = 0, b_zero = 0;
  u32 group = 1, scale_stride = 0;
  u32 addend_row = 0, addend_column = 0;
  f32 factor = 1, beta = 0;
  f32 low = 0, high = 0;
  f32 inverse_scale = 1, zero = 0;
  u32 in_height = 1, in_width = 1, out_width = 1;
  u32 stride_y = 1, stride_x = 1;
  i32 pad_y = 0, pad_x = 0, dilation_y = 1, dilation_x = 1;
  u32 in_depth = 1, out_height = 1, taps_y = 1, stride_z = 1;
  i32 pad_z = 0, dilation_z = 1;
};

class Gemm {
 public:
  enum Sums { floats, integers };
  Gemm(Plan& op, Sums sums) : op_(op), sums_(sums) {}

  GemmParams params;

  // Tensors that the snippets read by name. A scale (per channel), row_scale, bias (per channel) or addend that is
  // never bound counts as 1 or 0.
  void bind(std::string_view name, const TensorArg& tensor) { bind(name, Operand(tensor), tensor.dtype()); }
  void bind(std::string_view name, const Operand& operand, DType dtype);
  void bind_if(std::string_view name, const std::optional<TensorArg>& tensor);
  // B is a weight with `row_bytes` bytes per column of y, split over several bindings if it is too large for one.
  void bind_weight(const TensorArg& weight, u64 row_bytes);
  void flag(std::string_view name, bool value) { spec_.flag(name, value); }
  void number(std::string_view name, u32 value) { spec_.num(name, value); }
  void use(std::string_view snippet) { spec_.use(snippet); }

  // A is a tensor, bound as "a", or B one, bound as "b", with strides in `params`. Quads: four neighbouring k (or
  // columns) are one load, so all strides but the one between them are multiples of four.
  enum Quads { none, along_depth, along_columns };
  void dense_a(Quads quads, bool centered = false);
  void dense_b(Quads quads);

  void channels_are_rows() { channel_rows_ = true; }
  void clamp(f32 low, f32 high);
  // The sums of integers are the result, without any scale or bias.
  void keep_sums() { exact_ = true; }
  // The result is int8: round(value / scale) + zero, after an activation ("none" or "relu"). Says which arguments these
  // are.
  Status quantize(u32 scale, u32 zero, u32 activation);

  // How filters that look at one channel each (the depth is 1) are run, if these are such.
  enum Depthwise : u8 { none_of_it, by_quads, by_strips };

  // `y` has been resized, and `params` tells rows, columns, batches, depth and strides.
  Status run(const TensorArg& y, Depthwise depthwise = none_of_it);

 private:
  struct Tiling;
  static const Tiling tilings[];
  Result<const Tiling*> choose() const;
  Status dispatch(const TensorArg& y, const Tiling& tiling);
  Status dispatch_parts(const Tiling& tiling, const Operand& y, DType dtype);

  Plan& op_;
  Sums sums_;
  Spec spec_;
  std::array<Operand, 8> operands_{};
  u32 count_ = 0;
  bool overflows_ = false;  // it has more
  u32 bound_ = 0;           // bit i: optional input i is there
  bool channel_rows_ = false, clamped_ = false, quantized_ = false, exact_ = false;
  u32 weight_at_ = 0;  // among the operands
  u64 weight_row_bytes_ = 0;
  bool width_is_fixed_ = false;
};

// An input's zero point.
Result<i32> zero_point(Plan& op, u32 arg);

// Whether `size` is a multiple of four. A size that is not `fixed` may be another one at the next execute.
bool in_fours(Plan& op, u32 size, bool fixed);

}  // namespace pteron::ops
