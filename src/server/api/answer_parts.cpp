// SPDX-License-Identifier: BSD-3-Clause
#include "server/api/answer_parts.h"

#include <algorithm>
#include <utility>

namespace pteron::server {
namespace {

constexpr std::string_view think = "<think>", end_think = "</think>", call_tag = "<tool_call>",
                           end_call_tag = "</tool_call>", white = " \n\r\t";

// How many bytes at the end of the text may be the beginning of the tag.
size_t beginning_of(std::string_view tag, std::string_view text) {
  for (size_t size = std::min(tag.size() - 1, text.size()); size > 0; --size)
    if (text.ends_with(tag.substr(0, size))) return size;
  return 0;
}

}  // namespace

AnswerParts::AnswerParts(PartSink& sink, CallForm form, bool thinking)
    : sink_(sink),
      form_(form),
      place_(form == CallForm::forced ? Place::call
             : thinking               ? Place::thinking
                                      : Place::start) {}

void AnswerParts::feed(std::string_view text) {
  held_ += text;
  while (!held_.empty() && advance()) {}
}

bool AnswerParts::advance() {
  switch (place_) {
    case Place::start: return at_start();
    case Place::thinking: {
      const size_t end = held_.find(end_think);
      const size_t shown = end == std::string::npos ? held_.size() - beginning_of(end_think, held_) : end;
      if (shown > 0) sink_.reasoning(std::string_view(held_).substr(0, shown));
      held_.erase(0, end == std::string::npos ? shown : end + end_think.size());
      if (end != std::string::npos) place_ = Place::after_thinking;
      return end != std::string::npos;
    }
    case Place::after_thinking:
    case Place::behind_call: {
      const size_t first = held_.find_first_not_of(white);
      held_.erase(0, first);
      if (held_.empty()) return false;
      if (place_ == Place::behind_call) {
        if (end_call_tag.starts_with(held_) && held_ != end_call_tag) return false;
        if (held_.starts_with(end_call_tag)) return held_.erase(0, end_call_tag.size()), true;
      }
      place_ = Place::text;
      if (form_ == CallForm::bare && calls_ == 0 && held_[0] == '{') place_ = Place::call;
      return true;
    }
    case Place::text: return in_text();
    case Place::call: return in_call();
  }
  return false;
}

bool AnswerParts::at_start() {
  const size_t first = held_.find_first_not_of(white);
  if (first == std::string::npos) return false;
  const std::string_view text = std::string_view(held_).substr(first);
  if (text.size() < think.size() && think.starts_with(text)) return false;
  if (text.starts_with(think)) {
    held_.erase(0, first + think.size());
    place_ = Place::thinking;
  } else if (form_ == CallForm::bare && text[0] == '{') {
    held_.erase(0, first);
    place_ = Place::call;
  } else {
    place_ = Place::text;
  }
  return true;
}

bool AnswerParts::in_text() {
  if (form_ != CallForm::tagged && form_ != CallForm::forced) {
    sink_.content(held_);
    held_.clear();
    return false;
  }
  const size_t tag = held_.find(call_tag);
  const size_t shown = tag == std::string::npos ? held_.size() - beginning_of(call_tag, held_) : tag;
  // White space in front of a call belongs to it.
  const size_t last = std::string_view(held_).substr(0, shown).find_last_not_of(white);
  const size_t kept = last == std::string::npos ? 0 : last + 1;
  if (kept > 0) sink_.content(std::string_view(held_).substr(0, kept));
  held_.erase(0, kept);
  if (tag == std::string::npos) return false;
  raw_ = held_.substr(0, tag - kept + call_tag.size());
  held_.erase(0, raw_.size());
  place_ = Place::call;
  return true;
}

bool AnswerParts::in_call() {
  const size_t taken = reader_.feed(held_);
  if (!announced_) raw_.append(held_, 0, taken);
  held_.erase(0, taken);
  if (reader_.state() == CallReader::State::malformed) return give_up_call(), true;
  if (!announced_ && reader_.name()) {
    announced_ = true;
    sink_.call(calls_++, *reader_.name());
  }
  const std::string arguments = reader_.take_arguments();
  if (!arguments.empty()) sink_.arguments(calls_ - 1, arguments);
  if (reader_.state() != CallReader::State::complete) return false;
  reader_ = CallReader();
  announced_ = false;
  raw_.clear();
  place_ = Place::behind_call;
  return true;
}

// It is no call after all, but text.
void AnswerParts::give_up_call() {
  if (!announced_) sink_.content(raw_);
  raw_.clear();
  reader_ = CallReader();
  announced_ = false;
  place_ = Place::text;
  if (form_ == CallForm::bare || form_ == CallForm::forced) form_ = CallForm::none;
}

void AnswerParts::finish() {
  if (place_ == Place::call) give_up_call();
  if (held_.empty()) return;
  const std::string rest = std::exchange(held_, {});
  if (place_ == Place::thinking)
    sink_.reasoning(rest);
  else if (place_ == Place::text || place_ == Place::start)
    sink_.content(rest);
}

}  // namespace pteron::server
