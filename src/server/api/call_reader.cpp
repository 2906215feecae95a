// SPDX-License-Identifier: BSD-3-Clause
#include "server/api/call_reader.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace pteron::server {
namespace {

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

}  // namespace

size_t CallReader::feed(std::string_view text) {
  size_t taken = 0;
  while (taken < text.size() && state_ == State::reading) step(text[taken++]);
  return taken;
}

void CallReader::step(char c) {
  if (place_ == Place::value) return step_value(c);
  if (place_ == Place::in_key) {
    if (c == '"')
      place_ = Place::colon;
    else
      key_ += c;
    return;
  }
  if (is_space(c)) return;
  const auto go = [&](bool expected, Place next) {
    if (expected)
      place_ = next;
    else
      state_ = State::malformed;
  };
  switch (place_) {
    case Place::before: return go(c == '{', Place::key_or_end);
    case Place::key_or_end:
    case Place::key: key_.clear(); return go(c == '"', Place::in_key);
    case Place::colon: return go(c == ':', Place::before_value);
    case Place::before_value: return begin_value(c);
    case Place::after_value:
      if (c == '}')
        state_ = name_ ? State::complete : State::malformed;
      else
        go(c == ',', Place::key);
      return;
    default: return;
  }
}

void CallReader::begin_value(char c) {
  value_.clear();
  is_arguments_ = (key_ == "arguments" || key_ == "parameters") && !has_arguments_;
  depth_ = 0;
  quoted_ = escaped_ = false;
  place_ = Place::value;
  if (c == ',' || c == '}' || c == ']' || (is_arguments_ && c != '{'))
    state_ = State::malformed;
  else
    step_value(c);
}

void CallReader::step_value(char c) {
  std::string& out = is_arguments_ ? arguments_ : value_;
  if (quoted_) {
    out += c;
    if (!escaped_ && c == '"') {
      quoted_ = false;
      if (depth_ == 0) end_value();
    }
    escaped_ = !escaped_ && c == '\\';
    return;
  }
  if (depth_ == 0 && (c == ',' || c == '}')) {  // behind a number or a word
    end_value();
    return step(c);
  }
  if (depth_ == 0 && c == ']') state_ = State::malformed;
  out += c;
  if (c == '"') quoted_ = true;
  if (c == '{' || c == '[') ++depth_;
  if ((c == '}' || c == ']') && depth_ > 0) {
    --depth_;
    if (depth_ == 0) end_value();
  }
}

void CallReader::end_value() {
  place_ = Place::after_value;
  if (is_arguments_) {
    has_arguments_ = true;
  } else if (key_ == "name") {
    const auto parsed = nlohmann::json::parse(value_, nullptr, false);
    if (parsed.is_string())
      name_ = parsed.get<std::string>();
    else
      state_ = State::malformed;
  }
}

std::string CallReader::take_arguments() { return name_ ? std::exchange(arguments_, {}) : std::string(); }

}  // namespace pteron::server
