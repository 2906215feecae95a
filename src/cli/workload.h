// SPDX-License-Identifier: BSD-3-Clause
// Something to do for a program that is measured.
#pragma once

#include <pteron/program.h>

#include <vector>

namespace pteron::cli {

// A method that is to be measured. A decoder takes (tokens [1, S], position [1]) and is loaded with an arg-max as its
// last output.
struct Subject {
  Program program;
  Method method;
  MethodOptions options;
  bool is_decoder = false;
};
Result<Subject> load_subject(const std::string& path, const std::string& method, LoadOptions options);

// Prompts and tokens for a decoder. What a step costs depends neither on the tokens nor on what the caches hold, so a
// context need not be computed to be there.
class Decoder {
 public:
  explicit Decoder(Subject& subject);

  u32 capacity() const { return capacity_; }  // positions in the caches
  u32 longest_step() const { return u32(tokens_.size()); }
  Status step(u32 position, u32 count);
  // A prompt from position 0 on, in as few steps as the program allows.
  Status prompt(u32 count);

 private:
  Method& method_;
  std::vector<i64> tokens_;
  u32 capacity_ = 0;
};

// Conversations of a decoder that decode a token each in one submit. They are at the same position.
class DecoderBatch {
 public:
  static Result<DecoderBatch> create(Subject& subject, u32 conversations);
  Status step(u32 position);
  const Batch& batch() const { return batch_; }

 private:
  DecoderBatch(Batch batch, std::vector<Method> methods) : batch_(std::move(batch)), methods_(std::move(methods)) {}
  Batch batch_;
  std::vector<Method> methods_;
};

// Floats in (-1, 1); integers 0, which any table has.
Result<std::vector<Tensor>> made_up_inputs(const MethodInfo& info);

}  // namespace pteron::cli
