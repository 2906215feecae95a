// SPDX-License-Identifier: BSD-3-Clause
#include "llm/tokenizer/pre_tokenizer.h"

#include "base/error.h"
#include "llm/tokenizer/byte_alphabet.h"
#include "llm/tokenizer/normalizer.h"

#include <utility>

namespace pteron::tokenizer {

const std::string_view gpt2_pattern = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

namespace {

using EmitRange = std::function<Status(u32 begin, u32 end)>;

// Makes pieces of matches and of what lies between them.
class Joiner {
 public:
  Joiner(Joining joining, const EmitRange& emit) : joining_(joining), emit_(emit) {}

  Status add(u32 begin, u32 end, bool match) {
    const bool was_match = std::exchange(match_, match);
    switch (joining_) {
      case Joining::removed: return match ? Status() : emit(begin, end);
      case Joining::isolated: return emit(begin, end);
      case Joining::contiguous: return match == was_match ? extend(begin, end) : restart(begin, end);
      case Joining::merged_with_previous: return match && !was_match ? extend(begin, end) : restart(begin, end);
      case Joining::merged_with_next: return !match && was_match ? extend(begin, end) : restart(begin, end);
    }
    return {};
  }
  Status finish() { return emit(begin_, end_); }

 private:
  Status emit(u32 begin, u32 end) { return begin < end ? emit_(begin, end) : Status(); }
  Status extend(u32 begin, u32 end) {
    if (begin_ == end_) begin_ = begin;
    end_ = end;
    return {};
  }
  Status restart(u32 begin, u32 end) {
    TRY_DO(emit(begin_, end_));
    begin_ = begin;
    end_ = end;
    return {};
  }

  Joining joining_;
  const EmitRange& emit_;
  bool match_ = false;
  u32 begin_ = 0, end_ = 0;  // what may still grow
};

}  // namespace

Result<PreTokenizer> PreTokenizer::build(const std::vector<PreTokenizerStep>& steps) {
  PreTokenizer out;
  const auto add_cut = [&](const Wanted& at, Joining joining, bool invert) -> Status {
    TRY(Pattern pattern, at.regex ? Pattern::compile(at.text) : Pattern::literal(at.text));
    out.steps_.push_back(Cut{std::move(pattern), joining, invert});
    return {};
  };
  for (const PreTokenizerStep& step : steps) {
    if (out.gives_bytes_) out.steps_.push_back(Letters{});  // only the last one may leave bytes to the model
    out.gives_bytes_ = false;
    const Overloaded build{
        [&](const Split& s) { return add_cut(s.at, s.matches, s.invert); },
        [&](const ByteLevel& s) -> Status {
          out.gives_bytes_ = true;
          if (s.add_prefix_space) out.steps_.push_back(PrefixSpace{});
          return s.use_regex ? add_cut({std::string(gpt2_pattern), true}, Joining::isolated, false) : Status();
        },
        [&](const Metaspace& s) -> Status {
          out.steps_.push_back(s);
          return s.split ? add_cut({s.replacement, false}, Joining::merged_with_next, false) : Status();
        },
    };
    TRY_DO(std::visit(build, step));
  }
  return out;
}

Status PreTokenizer::run(std::string_view text, bool first, const Emit& emit) const {
  PatternBudget budget(text.size());
  return run(0, text, first, {emit, budget});
}

Status PreTokenizer::run(size_t step, std::string_view text, bool first, const Call& call) const {
  if (text.empty()) return {};
  if (step == steps_.size()) return call.emit(text);
  const Overloaded apply{
      [&](const Cut& s) {
        return cut(s, text, call.budget, [&](u32 begin, u32 end) {
          return run(step + 1, text.substr(begin, end - begin), first && begin == 0, call);
        });
      },
      [&](const PrefixSpace&) {
        if (text.starts_with(' ')) return run(step + 1, text, first, call);
        return run(step + 1, str(" ", text), first, call);
      },
      [&](const Letters&) { return run(step + 1, bytes_to_letters(text), first, call); },
      [&](const Metaspace& s) {
        std::string replaced = replace_all(text, " ", s.replacement);
        const bool prefix = s.prefix == Metaspace::always || (s.prefix == Metaspace::first && first);
        if (prefix && !replaced.starts_with(s.replacement)) replaced.insert(0, s.replacement);
        return run(step + 1, replaced, first, call);
      },
  };
  return std::visit(apply, steps_[step]);
}

Status PreTokenizer::cut(const Cut& cut, std::string_view text, PatternBudget& budget, const EmitRange& emit) {
  Joiner joiner(cut.joining, emit);
  Pattern::Search search(cut.pattern, text, budget);
  const u32 size = u32(text.size());
  u32 done = 0;
  while (true) {
    TRY(const auto match, search.next());
    if (!match) break;
    if (match->begin > done) TRY_DO(joiner.add(done, match->begin, cut.invert));
    TRY_DO(joiner.add(match->begin, match->end, !cut.invert));
    done = match->end;
  }
  if (done < size) TRY_DO(joiner.add(done, size, cut.invert));
  return joiner.finish();
}

}  // namespace pteron::tokenizer
