// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "gpu/environment.h"
#include "support/fixture.h"

#include <pteron/chat.h>

namespace pteron::test {

// A tiny Llama with a tokenizer of its size.
inline LanguageModel tiny_model(const std::string& name = "rope_llama", bool with_tokenizer = true) {
  LanguageModelOptions options;
  options.load.device = device();
  if (with_tokenizer) options.tokenizer = data_folder() / "tiny_tokenizer" / "tokenizer.json";
  auto model = LanguageModel::load(data_folder() / "llama_tiny" / name / "model.pte", options);
  EXPECT_TRUE(model.has_value()) << model.error().to_string();
  return *model;
}

template <class T>
std::string error_of(const Result<T>& result) {
  return result ? "" : result.error().to_string();
}

struct Step {
  u32 token;
  f32 gap;  // between the two best logits
};

// Greedy tokens behind a text that a new session reads whole.
inline std::vector<Step> fresh_answer(const LanguageModel& model, std::vector<u32> text, size_t count) {
  auto session = model.session();
  std::vector<Step> out;
  while (out.size() < count && text.size() < model.info().context) {
    EXPECT_EQ(error_of(session->replace(text)), "");
    while (session->answer() == Readback::none) {
      EXPECT_EQ(error_of(session->begin(Readback::candidates)), "");
      EXPECT_EQ(error_of(session->finish()), "");
    }
    const Candidates best = session->candidates();
    out.push_back({u32(best.tokens[0]), best.logits[0] - best.logits[1]});
    text.push_back(out.back().token);
  }
  return out;
}

// Equal up to the first token that the fresh answer decides by less than 0.05.
inline void expect_same_answer(std::span<const u32> tokens, const std::vector<Step>& fresh) {
  for (size_t i = 0; i < tokens.size() && i < fresh.size() && fresh[i].gap > 0.05f; ++i)
    ASSERT_EQ(tokens[i], fresh[i].token) << "token " << i;
}

}  // namespace pteron::test
