// SPDX-License-Identifier: BSD-3-Clause
// Filters that make text.
#include "base/error.h"
#include "base/utf8.h"
#include "llm/jinja/filters.h"
#include "llm/jinja/text_functions.h"

namespace pteron::jinja {
namespace {

using Subject = const Value&;
using Args = const CallArguments&;

template <std::string (*convert)(std::string_view)>
Result<Value> converted(Renderer& r, Subject subject, Args args) {
  TRY_DO(take_none(args));
  TRY(const std::string text, r.str_of(subject));
  return r.text(convert(text));
}

std::string same(std::string_view text) { return std::string(text); }

// Words begin behind white space and opening brackets, not behind every character that is no letter.
std::string title_of_words(std::string_view text) {
  std::string out;
  const auto separates = [](u32 c) { return is_space(c) || (c < 0x80 && std::string_view("-({[<").contains(char(c))); };
  for (size_t at = 0; at < text.size();) {
    const size_t start = at;
    size_t next = at;
    const bool separator = separates(utf8::next(text, next));
    for (; next <= text.size(); utf8::next(text, next)) {
      at = next;
      size_t look = next;
      if (next == text.size() || separates(utf8::next(text, look)) != separator) break;
    }
    const std::string_view piece = text.substr(start, at - start);
    const size_t first = utf8::length_from(piece[0]);
    out += upper_case(piece.substr(0, first)) + lower_case(piece.substr(first));
  }
  return out;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&#34;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  return out;
}

Result<Value> trim(Renderer& r, Subject subject, Args args) {
  TRY(const auto a, take(args, {"chars"}));
  TRY(const std::string text, r.str_of(subject));
  return strip_text(r, text, a[0], Side::both);
}

Result<Value> replace(Renderer& r, Subject subject, Args args) {
  TRY(const auto a, take(args, {"old", "new", "count"}, 2));
  TRY(const std::string text, r.str_of(subject));
  TRY(const std::string from, r.str_of(*a[0]));
  TRY(const std::string to, r.str_of(*a[1]));
  TRY(const i64 most, integer_or(a[2] && a[2]->is_none() ? nullptr : a[2], -1));
  return replace_text(r, text, from, to, most);
}

Result<Value> center(Renderer& r, Subject subject, Args args) {
  TRY(const auto a, take(args, {"width"}));
  TRY(const std::string text, r.str_of(subject));
  TRY(const i64 width, width_of(a[0]));
  return centered(r, text, width, " ");
}

// The white space for a level, from a number or as text.
Result<std::string> indentation(Renderer& r, const Value* width, i64 fallback) {
  if (width && width->text()) return *width->text();
  TRY(const i64 spaces, integer_or(width, fallback));
  TRY_DO(r.heap().check_room(u64(std::max<i64>(spaces, 0))));
  return std::string(size_t(std::max<i64>(spaces, 0)), ' ');
}

Result<Value> indent(Renderer& r, Subject subject, Args args) {
  TRY(const auto a, take(args, {"width", "first", "blank"}));
  TRY(const std::string text, text_or(&subject, ""));
  TRY(const std::string space, indentation(r, a[0], 4));
  const bool first = truth_or(a[1], false), blank = truth_or(a[2], false);
  const std::string with_end = text + '\n';
  TextWriter out(r.heap());
  bool is_first = true;
  for (std::string_view line : lines_of(with_end, false)) {
    if (!is_first) TRY_DO(out.write("\n"));
    if (is_first ? first : blank || !line.empty()) TRY_DO(out.write(space));
    TRY_DO(out.write(line));
    is_first = false;
  }
  return r.text(out.take());
}

Result<Value> to_json_filter(Renderer& r, Subject subject, Args args) {
  TRY(const auto a, take(args, {"ensure_ascii", "indent", "separators", "sort_keys"}));
  JsonStyle style;
  style.ascii = truth_or(a[0], false);
  style.sort_keys = truth_or(a[3], false);
  if (a[1] && !a[1]->is_none()) {
    TRY(style.indent, indentation(r, a[1], 0));
    style.item_separator = ",";
  }
  if (a[2] && !a[2]->is_none()) {
    const List* pair = a[2]->list();
    if (!pair || pair->items.size() != 2) return invalid("the separators must be two texts");
    TRY(style.item_separator, text_or(&pair->items[0], ""));
    TRY(style.key_separator, text_or(&pair->items[1], ""));
  }
  TRY(std::string json, to_json(r.heap(), subject, style));
  return r.text(std::move(json));
}

constexpr NamedBuiltin filters[] = {
    {"upper", converted<upper_case>},
    {"lower", converted<lower_case>},
    {"title", converted<title_of_words>},
    {"capitalize", converted<capitalized>},
    {"string", converted<same>},
    {"safe", converted<same>},
    {"escape", converted<escaped>},
    {"e", converted<escaped>},
    {"trim", trim},
    {"replace", replace},
    {"center", center},
    {"indent", indent},
    {"tojson", to_json_filter},
};

}  // namespace

std::span<const NamedBuiltin> text_filters() { return filters; }

}  // namespace pteron::jinja
