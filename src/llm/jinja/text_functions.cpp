// SPDX-License-Identifier: BSD-3-Clause
#include "llm/jinja/text_functions.h"

#include "base/error.h"
#include "base/utf8.h"
#include "llm/text/search.h"

namespace pteron::jinja {
namespace {

bool is_line_end(u32 c) {
  return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

Result<Value> list_of(Renderer& renderer, const std::vector<std::string_view>& parts) {
  std::vector<Value> items;
  for (std::string_view part : parts) {
    TRY_DO(renderer.heap().check());
    items.push_back(renderer.text(std::string(part)));
  }
  return list_value(renderer.heap(), std::move(items));
}

}  // namespace

Result<Value> strip_text(Renderer& renderer, const std::string& text, const Value* characters, Side side) {
  if (!characters || characters->is_none()) return renderer.text(std::string(strip(text, side)));
  TRY(const std::string set, text_or(characters, ""));
  TRY_DO(renderer.heap().spend(set.size() * text.size() / 256));
  return renderer.text(set.empty() ? text : std::string(strip(text, side, set)));
}

Result<Value> replace_text(Renderer& renderer, const std::string& text, const std::string& from, const std::string& to,
                           i64 most) {
  TextWriter out(renderer.heap());
  const std::string_view source = text;
  size_t at = 0;
  if (from.empty()) {  // Python puts it between all characters
    for (; most != 0; --most) {
      TRY_DO(out.write(to));
      if (at == source.size()) return renderer.text(out.take());
      const size_t length = utf8::length_from(source[at]);
      TRY_DO(out.write(source.substr(at, length)));
      at += length;
    }
  }
  for (; most != 0; --most) {
    const size_t found = find_text(source, from, at);
    if (found == std::string_view::npos) break;
    TRY_DO(out.write(source.substr(at, found - at)));
    TRY_DO(out.write(to));
    at = found + from.size();
  }
  TRY_DO(out.write(source.substr(at)));
  return renderer.text(out.take());
}

Result<Value> split_at(Renderer& renderer, std::string_view text, std::string_view separator, u64 most,
                       bool from_left) {
  std::vector<std::string_view> parts;
  while (parts.size() < most) {
    const size_t at = from_left ? find_text(text, separator) : find_last_text(text, separator);
    if (at == std::string_view::npos) break;
    // From the right a long separator is looked for through all of the text each time.
    TRY_DO(renderer.heap().spend(1 + (from_left ? 0 : text.size() / 32)));
    parts.push_back(from_left ? text.substr(0, at) : text.substr(at + separator.size()));
    text = from_left ? text.substr(at + separator.size()) : text.substr(0, at);
  }
  parts.push_back(text);
  if (!from_left) std::ranges::reverse(parts);
  return list_of(renderer, parts);
}

Result<Value> split_at_spaces(Renderer& renderer, std::string_view text, u64 most, bool from_left) {
  std::vector<std::string_view> parts;
  const Side near = from_left ? Side::left : Side::right;
  for (text = strip(text, near); !text.empty(); text = strip(text, near)) {
    TRY_DO(renderer.heap().spend(1));
    if (parts.size() == most) {
      parts.push_back(text);
      break;
    }
    // The word at the near end.
    size_t length = 0;
    if (from_left) {
      for (size_t next = 0; next < text.size() && !is_space(utf8::next(text, next));) length = next;
      parts.push_back(text.substr(0, length));
      text.remove_prefix(length);
    } else {
      size_t start = text.size();
      while (start > 0) {
        size_t before = start - 1;
        while (before > 0 && utf8::continues(text[before])) --before;
        size_t next = before;
        if (is_space(utf8::next(text, next))) break;
        start = before;
      }
      parts.push_back(text.substr(start));
      text = text.substr(0, start);
    }
  }
  if (!from_left) std::ranges::reverse(parts);
  return list_of(renderer, parts);
}

std::vector<std::string_view> lines_of(std::string_view text, bool keep_ends) {
  std::vector<std::string_view> lines;
  size_t start = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = at;
    const u32 c = utf8::next(text, at);
    if (!is_line_end(c)) continue;
    if (c == '\r' && text.substr(at).starts_with('\n')) ++at;
    lines.push_back(text.substr(start, (keep_ends ? at : end) - start));
    start = at;
  }
  if (start < text.size()) lines.push_back(text.substr(start));
  return lines;
}

Result<i64> width_of(const Value* value) {
  TRY(const i64 width, integer_or(value, 80));
  return std::clamp<i64>(width, 0, i64(1) << 41);
}

Result<Value> padded(Renderer& renderer, const std::string& text, i64 left, i64 right, const std::string& fill) {
  const u64 copies = u64(std::max<i64>(left, 0)) + u64(std::max<i64>(right, 0));
  TRY_DO(renderer.heap().check_room(copies > (u64(1) << 40) ? ~u64(0) : copies * fill.size()));
  std::string out;
  for (i64 i = 0; i < left; ++i) out += fill;
  out += text;
  for (i64 i = 0; i < right; ++i) out += fill;
  return renderer.text(std::move(out));
}

Result<Value> centered(Renderer& renderer, const std::string& text, i64 width, const std::string& fill) {
  const i64 missing = width - i64(utf8::count(text));
  if (missing <= 0) return renderer.text(text);
  const i64 left = missing / 2 + (missing & width & 1);  // Python's rounding
  return padded(renderer, text, left, missing - left, fill);
}

}  // namespace pteron::jinja
