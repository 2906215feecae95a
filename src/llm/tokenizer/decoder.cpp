// SPDX-License-Identifier: BSD-3-Clause
#include "llm/tokenizer/decoder.h"

#include "base/error.h"
#include "base/utf8.h"
#include "llm/tokenizer/byte_alphabet.h"
#include "llm/tokenizer/normalizer.h"

namespace pteron::tokenizer {
namespace {

void append_replacements(std::string& out, size_t count) {
  for (size_t i = 0; i < count; ++i) out += utf8::replacement;
}

template <class Step>
size_t find_step(const std::vector<DecoderStep>& steps) {
  for (size_t i = 0; i < steps.size(); ++i)
    if (std::holds_alternative<Step>(steps[i])) return i;
  return steps.size();
}

constexpr std::pair<std::string_view, std::string_view> tidy[] = {
    {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},   {" n't", "n't"},
    {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};

std::string join_word(const DecodeWordPiece& rules, std::string_view token, bool first) {
  std::string text;
  if (!first && token.starts_with(rules.prefix))
    text = token.substr(rules.prefix.size());
  else
    text = first ? std::string(token) : str(" ", token);
  if (rules.cleanup)
    for (const auto& [from, to] : tidy) text = replace_all(text, from, to);
  return text;
}

}  // namespace

Status check_decoder(const std::vector<DecoderStep>& steps) {
  const size_t fuse = find_step<DecodeFuse>(steps);
  u32 byte_steps = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto* strip = std::get_if<DecodeStrip>(&steps[i]);
    const bool last = i + 1 == steps.size();
    byte_steps += std::holds_alternative<DecodeBytes>(steps[i]) || std::holds_alternative<DecodeByteLevel>(steps[i]);
    if (byte_steps > 1 || (i > fuse && (!strip || strip->stop > 0)) ||
        (std::holds_alternative<DecodeByteLevel>(steps[i]) && !last))
      return unsupported("the tokenizer's decoder has its steps in an order that is not supported");
  }
  return {};
}

std::string bytes_of_token(const std::vector<DecoderStep>& steps, std::string_view token) {
  std::string text(token);
  for (const DecoderStep& step : steps) {
    if (std::holds_alternative<DecodeByteLevel>(step)) return letters_to_bytes(text).value_or(text);
    if (std::holds_alternative<DecodeBytes>(step))
      if (const auto byte = byte_of_token(text)) return std::string(1, char(*byte));
    if (const auto* replace = std::get_if<DecodeReplace>(&step)) text = replace_all(text, replace->from, replace->to);
    if (const auto* space = std::get_if<DecodeMetaspace>(&step)) text = replace_all(text, space->replacement, " ");
    if (const auto* word = std::get_if<DecodeWordPiece>(&step)) text = join_word(*word, text, false);
    if (std::holds_alternative<DecodeJoin>(step)) text = str(" ", text);
  }
  return text;
}

void Decoding::apply(size_t step, std::string text) {
  for (; step < steps_->size(); ++step) {
    const DecoderStep& s = (*steps_)[step];
    if (std::holds_alternative<DecodeByteLevel>(s)) {
      bytes_ += letters_to_bytes(text).value_or(text);
      return utf8::drain(bytes_, out_);
    }
    if (std::holds_alternative<DecodeBytes>(s)) {
      if (byte_of_token(text)) return take_bytes(step, text);
      end_bytes(step);
    }
    if (const auto* replace = std::get_if<DecodeReplace>(&s)) text = replace_all(text, replace->from, replace->to);
    if (const auto* cut = std::get_if<DecodeStrip>(&s)) text = strip(*cut, text);
    if (const auto* space = std::get_if<DecodeMetaspace>(&s)) {
      const bool drop = !started_ && space->strip_first;
      text = replace_all(text, space->replacement, drop ? "" : " ");
      started_ = true;
    }
    if (const auto* word = std::get_if<DecodeWordPiece>(&s))
      text = join_word(*word, text, !std::exchange(started_, true));
    if (std::holds_alternative<DecodeJoin>(s) && std::exchange(started_, true)) text = str(" ", text);
  }
  out_ += text;
}

void Decoding::take_bytes(size_t step, std::string_view token) {
  bytes_ += char(*byte_of_token(token));
  if (!eager_) return;
  std::string text;
  utf8::drain(bytes_, text);
  if (!text.empty()) apply(step + 1, std::move(text));
}

void Decoding::end_bytes(size_t step) {
  if (bytes_.empty()) return;
  std::string text = std::exchange(bytes_, {});
  if (utf8::find_invalid(text) != text.size()) {
    const size_t count = text.size();
    text.clear();
    append_replacements(text, count);
  }
  apply(step + 1, std::move(text));
}

// Behind a fuse, what tokens give is one text: only its start is stripped.
std::string Decoding::strip(const DecodeStrip& strip, std::string_view rest) {
  const bool fused = find_step<DecodeFuse>(*steps_) < steps_->size();
  u32 start = fused ? stripped_ : 0;
  for (; start < strip.start && rest.starts_with(strip.character); ++start) rest.remove_prefix(strip.character.size());
  if (fused) stripped_ = rest.empty() ? start : strip.start;
  for (u32 i = 0; i < strip.stop && rest.ends_with(strip.character); ++i) rest.remove_suffix(strip.character.size());
  return std::string(rest);
}

void Decoding::finish() {
  const size_t spelled = find_step<DecodeBytes>(*steps_);
  if (spelled < steps_->size()) return end_bytes(spelled);
  if (!bytes_.empty()) out_ += utf8::replacement;  // a sequence that was never completed
  bytes_.clear();
}

}  // namespace pteron::tokenizer
