// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "llm/tokenizer/definition.h"
#include "llm/tokenizer/pattern.h"

#include <functional>

namespace pteron::tokenizer {

// Cuts text into the pieces that the model encodes one by one.
class PreTokenizer {
 public:
  using Emit = std::function<Status(std::string_view piece)>;

  static Result<PreTokenizer> build(const std::vector<PreTokenizerStep>& steps);

  // Pieces are bytes, for a model of bytes, rather than text.
  bool gives_bytes() const { return gives_bytes_; }
  // `first`: the text stands at the start of all that is encoded.
  Status run(std::string_view text, bool first, const Emit& emit) const;

 private:
  struct Cut {
    Pattern pattern;
    Joining joining;
    bool invert;
  };
  struct PrefixSpace {};
  struct Letters {};  // bytes in their alphabet
  using Step = std::variant<Cut, PrefixSpace, Letters, Metaspace>;

  struct Call {
    const Emit& emit;
    PatternBudget& budget;
  };
  using EmitRange = std::function<Status(u32 begin, u32 end)>;

  Status run(size_t step, std::string_view text, bool first, const Call& call) const;
  static Status cut(const Cut& cut, std::string_view text, PatternBudget& budget, const EmitRange& emit);

  std::vector<Step> steps_;
  bool gives_bytes_ = false;
};

}  // namespace pteron::tokenizer
