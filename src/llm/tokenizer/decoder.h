// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "llm/tokenizer/definition.h"

#include <utility>

namespace pteron::tokenizer {

// Turns tokens into text, one after the other.
class Decoding {
 public:
  // `eager`: gives a character as soon as it is complete. Else bytes that tokens spell one by one are judged together,
  // as the reference does: one bad byte makes all of them bad.
  Decoding(const std::vector<DecoderStep>& steps, bool eager) : steps_(&steps), eager_(eager) {}

  void push(std::string_view token) { apply(0, std::string(token)); }
  void finish();
  // What has become text since the last call.
  std::string take() { return std::exchange(out_, {}); }

 private:
  void apply(size_t step, std::string text);
  void take_bytes(size_t step, std::string_view token);
  void end_bytes(size_t step);
  std::string strip(const DecodeStrip& strip, std::string_view rest);

  const std::vector<DecoderStep>* steps_;
  bool eager_;
  std::string out_;
  std::string bytes_;  // that are not text yet
  u32 stripped_ = 0;   // from the start of the fused text
  bool started_ = false;
};

// What a token adds in the midst of a text.
std::string bytes_of_token(const std::vector<DecoderStep>& steps, std::string_view token);

// Whether these steps can run token by token.
Status check_decoder(const std::vector<DecoderStep>& steps);

}  // namespace pteron::tokenizer
