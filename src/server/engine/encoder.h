// SPDX-License-Identifier: BSD-3-Clause
// Programs that turn a text into one vector: forward(tokens [1, S], mask [1, S]) -> [1, width].
#pragma once

#include <pteron/program.h>
#include <pteron/tokenizer.h>

#include <filesystem>

namespace pteron::server {

// For one thread at a time.
class Encoder {
 public:
  // Whether a program has the shape of one.
  static bool is_one(const Program& program);
  // The tokenizer.json lies beside the program if none is named.
  static Result<Encoder> load(const std::string& path, LoadOptions options, std::string tokenizer);

  const Tokenizer& tokenizer() const { return tokenizer_; }
  u32 context() const { return context_; }
  u32 width() const { return width_; }
  // At least one token and at most `context`. The vector has length 1.
  Result<std::vector<f32>> embed(std::span<const u32> tokens);

 private:
  Encoder(Program program, Method method, Tokenizer tokenizer);

  Program program_;
  Method method_;
  Tokenizer tokenizer_;
  u32 context_, width_;
  bool dynamic_;
};

}  // namespace pteron::server
