// SPDX-License-Identifier: BSD-3-Clause
// The GGUF container (versions 2 and 3, little-endian) as plain structs: verified, with every byte range in the file.
#pragma once

#include "convert/blocks.h"
#include "format/data_source.h"

#include <pteron/shape.h>

#include <map>
#include <variant>

namespace pteron::convert {

// The elements stay in the file until somebody asks for them.
struct GgufArray {
  u32 type = 0;  // GGUF's number of the elements' type
  u64 count = 0;
  format::DataRange bytes;
};
using GgufValue = std::variant<i64, f64, bool, std::string, GgufArray>;

struct GgufTensor {
  std::string name;
  const BlockFormat* format = nullptr;
  Shape shape;  // row-major: the innermost axis comes last
  format::DataRange data;
};

class Gguf {
 public:
  static Result<Gguf> read(std::shared_ptr<const format::DataSource> source);

  const format::DataSource& source() const { return *source_; }
  const std::map<std::string, GgufValue, std::less<>>& metadata() const { return metadata_; }
  const std::vector<GgufTensor>& tensors() const { return tensors_; }
  const GgufTensor* tensor(std::string_view name) const;

  // A metadata value, or nothing if there is no such key. Another type than the one asked for is an error.
  Result<std::optional<i64>> integer(std::string_view key) const;
  Result<std::optional<f64>> number(std::string_view key) const;  // integers count too
  Result<std::optional<bool>> flag(std::string_view key) const;
  Result<std::optional<std::string>> text(std::string_view key) const;

  Result<std::vector<std::string>> strings(const GgufArray& array) const;
  // Integers, floating-point numbers and booleans.
  Result<std::vector<f64>> numbers(const GgufArray& array) const;
  static bool holds_strings(const GgufArray& array);

 private:
  Status read_metadata(class Cursor& cursor, u64 count);
  Status read_tensors(class Cursor& cursor, u64 count);

  std::shared_ptr<const format::DataSource> source_;
  std::map<std::string, GgufValue, std::less<>> metadata_;
  std::vector<GgufTensor> tensors_;
  std::map<std::string, size_t, std::less<>> tensor_index_;
};

}  // namespace pteron::convert
