// SPDX-License-Identifier: BSD-3-Clause
#include "cli/editor/keys.h"

#include "base/utf8.h"
#include "cli/editor/terminal.h"

#include <charconv>
#include <utility>

namespace pteron::cli {
namespace {

using terminal::for_ever;
constexpr int rest_of_a_sequence_ms = 50;  // a lone Escape is followed by nothing
constexpr char escape_byte = '\x1b';

bool is_control(char byte) { return u8(byte) < ' ' || byte == '\x7f'; }

KeyKind control_key(char byte) {
  switch (byte) {
    case 'A' - '@': return KeyKind::home;
    case 'B' - '@': return KeyKind::left;
    case 'C' - '@': return KeyKind::interrupt;
    case 'D' - '@': return KeyKind::end_of_input;
    case 'E' - '@': return KeyKind::end;
    case 'F' - '@': return KeyKind::right;
    case 'H' - '@':
    case '\x7f': return KeyKind::backspace;
    case '\n':
    case '\r': return KeyKind::enter;
    case 'K' - '@': return KeyKind::kill_to_end;
    case 'L' - '@': return KeyKind::clear_screen;
    case 'N' - '@': return KeyKind::down;
    case 'P' - '@': return KeyKind::up;
    case 'T' - '@': return KeyKind::swap;
    case 'U' - '@': return KeyKind::kill_to_start;
    case 'W' - '@': return KeyKind::kill_word_before;
    case 'Y' - '@': return KeyKind::yank;
    case 'Z' - '@': return KeyKind::suspend;
    default: return KeyKind::unknown;
  }
}

// Of "ESC [ 1 ; 5 D": the parameters "1;5" and the final letter. Any modifier makes words of arrows.
KeyKind sequence_key(const std::string& parameters, char last) {
  const bool modified = parameters.find(';') != std::string::npos;
  switch (last) {
    case 'A': return KeyKind::up;
    case 'B': return KeyKind::down;
    case 'C': return modified ? KeyKind::word_right : KeyKind::right;
    case 'D': return modified ? KeyKind::word_left : KeyKind::left;
    case 'H': return KeyKind::home;
    case 'F': return KeyKind::end;
    case '~': break;
    default: return KeyKind::unknown;
  }
  int number = 0;
  std::from_chars(parameters.data(), parameters.data() + parameters.size(), number);
  switch (number) {
    case 1:
    case 7: return KeyKind::home;
    case 4:
    case 8: return KeyKind::end;
    case 3: return KeyKind::erase;
    default: return KeyKind::unknown;
  }
}

}  // namespace

bool KeyReader::fill(int timeout_ms) {
  waiting_.erase(0, std::exchange(at_, 0));
  const std::string typed = terminal::read(timeout_ms);
  waiting_ += typed;
  return !typed.empty();
}

std::optional<char> KeyReader::byte(int timeout_ms) {
  if (at_ == waiting_.size() && !fill(timeout_ms)) return std::nullopt;
  return waiting_[at_++];
}

std::optional<Key> KeyReader::next() {
  const auto first = byte(for_ever);
  if (!first) return std::nullopt;
  if (*first == escape_byte) return escape();
  if (*first == '\t') return Key{KeyKind::text, "\t"};
  if (is_control(*first)) return Key{control_key(*first), {}};
  --at_;
  return text();
}

// A character may come in pieces.
Key KeyReader::text() {
  std::string bytes, out;
  while (at_ < waiting_.size() && !is_control(waiting_[at_])) bytes += waiting_[at_++];
  while (utf8::unfinished(bytes) > 0) {
    const auto more = byte(rest_of_a_sequence_ms);
    if (!more) break;
    bytes += *more;
  }
  utf8::drain(bytes, out);
  return {KeyKind::text, bytes.empty() ? out : out + std::string(utf8::replacement)};
}

// Until ESC [ 201 ~, whatever it holds.
Key KeyReader::pasted() {
  constexpr std::string_view end = "\x1b[201~";
  std::string bytes, out;
  while (!bytes.ends_with(end)) {
    const auto more = byte(for_ever);
    if (!more) break;
    if (*more == '\n' && bytes.ends_with('\r')) bytes.pop_back();
    bytes += *more;
  }
  if (bytes.ends_with(end)) bytes.resize(bytes.size() - end.size());
  for (char& c : bytes)
    if (c == '\r') c = '\n';
  utf8::drain(bytes, out);
  return {KeyKind::text, bytes.empty() ? out : out + std::string(utf8::replacement)};
}

Key KeyReader::escape() {
  const auto second = byte(rest_of_a_sequence_ms);
  if (!second) return {};
  switch (*second) {
    case '[': return sequence();
    case 'O': {
      const auto last = byte(rest_of_a_sequence_ms);
      return last ? Key{sequence_key("", *last), {}} : Key{};
    }
    case 'b': return {KeyKind::word_left, {}};
    case 'f': return {KeyKind::word_right, {}};
    case 'd': return {KeyKind::kill_word_behind, {}};
    case '\x7f':
    case '\b': return {KeyKind::kill_word_before, {}};
    case '\r':
    case '\n': return {KeyKind::new_line, {}};
    default: return {};
  }
}

Key KeyReader::sequence() {
  std::string parameters;
  for (;;) {
    const auto c = byte(rest_of_a_sequence_ms);
    if (!c || parameters.size() > 32) return {};
    if (*c >= '@' && *c <= '~')
      return parameters == "200" && *c == '~' ? pasted() : Key{sequence_key(parameters, *c), {}};
    parameters += *c;
  }
}

}  // namespace pteron::cli
