// SPDX-License-Identifier: BSD-3-Clause
// A matrix of a GGUF file as constants of the program: 4-bit planes with scales and minima per group, or plain numbers.
//
// An integer of up to 8 bits is split into 16·h + l + c, with h and l in −8…7. Where q never exceeds 119, c is 0; else
// it is 8. With two planes w = scale·(16·h + l + shift) + minimum, where c has joined the shift: exactly the weight
// that the file has.
#pragma once

#include "convert/constant.h"
#include "convert/gguf.h"

namespace pteron::convert {

enum class Quantization {
  lossless,  // as in the file
  q4,        // symmetric 4 bits in groups of 32, whatever the file has
};

class Weight {
 public:
  // A tensor of one axis counts as one row. The file must outlive the weight and its constants.
  Weight(const Gguf& file, const GgufTensor& tensor, Quantization quantization);

  u32 rows() const { return rows_; }
  u32 columns() const { return columns_; }
  // True: planes, scales and perhaps minima. False: numbers.
  bool quantized() const { return group_ > 0; }
  u32 group() const { return group_; }
  u32 groups() const { return columns_ / group_; }  // per row
  u32 planes() const { return planes_; }
  u32 shift() const { return shift_; }
  bool has_minima() const { return minima_; }

  Constant plane(u32 plane) const;              // uint8 [rows, columns / 2], even columns in the low halves; h, then l
  Constant row_scales() const;                  // [rows, groups]
  Constant transposed_scales() const;           // [groups, rows rounded up to 4]
  Constant minima() const;                      // [rows, groups]
  Constant numbers() const;                     // [rows, columns]
  Constant padded_numbers(u32 multiple) const;  // of one row: [columns rounded up]

 private:
  // Some rows as integers.
  struct Rows {
    u32 first = 0, count = 0;
    std::vector<i8> q;                // [count, columns]
    std::vector<f32> scales, minima;  // [count, groups]
  };
  template <class Visit>
  Status for_each_part(Visit visit) const;
  Status read(Rows& rows, std::vector<std::byte>& buffer) const;
  Status requantize(Bytes blocks, Rows& rows) const;
  Status check_finite(std::span<const f32> numbers) const;
  const BlockFormat& format() const { return *tensor_->format; }
  i32 plane_value(i32 q, u32 plane) const;

  const Gguf* file_;
  const GgufTensor* tensor_;
  u32 columns_, rows_;
  u32 group_ = 0, planes_ = 0;
  i32 centre_ = 0;  // c above
  u32 shift_ = 0;
  bool minima_ = false;
  // Where 4 bits were asked for: the best rounding of each group, found once.
  std::shared_ptr<std::vector<u8>> roundings_;
};

}  // namespace pteron::convert
