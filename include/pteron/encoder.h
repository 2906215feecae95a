// SPDX-License-Identifier: BSD-3-Clause
// Programs that turn a text into one vector: forward(tokens [1, S], mask [1, S]) -> [1, width].
//
//   auto encoder = pteron::Encoder::load("minilm.pte");
//   auto vector  = (*encoder)->embed(*(*encoder)->encode("A cat is sleeping."));
#pragma once

#include <pteron/program.h>
#include <pteron/tokenizer.h>

#include <optional>
#include <string>
#include <vector>

namespace pteron {

// For one thread at a time.
class Encoder {
 public:
  // Nothing if the program has another shape. `tokenizer` is a file; empty: what the program carries or what lies
  // beside it.
  static Result<std::optional<Encoder>> load(const std::string& path, LoadOptions options = {},
                                             const std::string& tokenizer = {});
  static bool is_one(const Program& program);
  static Result<Encoder> create(Program program, std::optional<Tokenizer> tokenizer);

  const Tokenizer* tokenizer() const { return tokenizer_ ? &*tokenizer_ : nullptr; }
  u32 context() const { return context_; }  // tokens that a text may have
  u32 width() const { return width_; }      // of a vector

  // An error if there is no tokenizer.
  Result<std::vector<u32>> encode(std::string_view text, const EncodeOptions& options = {}) const;
  // At least one token and at most `context`. The vector has length 1.
  Result<std::vector<f32>> embed(std::span<const u32> tokens);

 private:
  Encoder(Program program, Method method, std::optional<Tokenizer> tokenizer);

  Program program_;
  Method method_;
  std::optional<Tokenizer> tokenizer_;
  u32 context_, width_;
  bool dynamic_;
};

}  // namespace pteron
