// SPDX-License-Identifier: BSD-3-Clause
// Methods of text.
#include "base/error.h"
#include "base/utf8.h"
#include "llm/jinja/methods.h"
#include "llm/jinja/text_functions.h"
#include "llm/text/characters.h"
#include "llm/text/search.h"

namespace pteron::jinja {
namespace {

using Self = const Value&;
using Args = const CallArguments&;

// Methods without arguments that give text, and those that ask something of every character.
template <std::string (*convert)(std::string_view)>
Result<Value> converted(Renderer& r, Self self, Args args) {
  TRY_DO(take_none(args));
  return r.text(convert(*self.text()));
}

template <bool (*holds)(u32)>
Result<Value> all_are(Renderer&, Self self, Args args) {
  TRY_DO(take_none(args));
  const std::string& text = *self.text();
  for (size_t at = 0; at < text.size();)
    if (!holds(utf8::next(text, at))) return Value(false);
  return Value(!text.empty());
}

bool is_letter_or_numeral(u32 c) { return c != '_' && is_word(c); }

template <Side side>
Result<Value> stripped(Renderer& r, Self self, Args args) {
  TRY(const auto a, take(args, {"chars"}));
  return strip_text(r, *self.text(), a[0], side);
}

template <bool from_left>
Result<Value> split(Renderer& r, Self self, Args args) {
  TRY(const auto a, take(args, {"sep", "maxsplit"}));
  TRY(const i64 most, integer_or(a[1], -1));
  const u64 limit = most < 0 ? ~u64(0) : u64(most);
  if (!a[0] || a[0]->is_none()) return split_at_spaces(r, *self.text(), limit, from_left);
  TRY(const std::string separator, text_or(a[0], ""));
  if (separator.empty()) return invalid("the separator is empty");
  return split_at(r, *self.text(), separator, limit, from_left);
}

Result<Value> split_lines(Renderer& r, Self self, Args args) {
  TRY(const auto a, take(args, {"keepends"}));
  std::vector<Value> lines;
  for (std::string_view line : lines_of(*self.text(), truth_or(a[0], false)))
    lines.push_back(r.text(std::string(line)));
  return list_value(r.heap(), std::move(lines));
}

template <bool at_start>
Result<Value> has_affix(Renderer&, Self self, Args args) {
  TRY(const auto a, take(args, {"affix"}, 1));
  const auto fits = [&](const Value& affix) -> Result<bool> {
    TRY(const std::string text, text_or(&affix, ""));
    return at_start ? self.text()->starts_with(text) : self.text()->ends_with(text);
  };
  if (!a[0]->list()) {
    TRY(const bool found, fits(*a[0]));
    return Value(found);
  }
  for (const Value& affix : a[0]->list()->items) {
    TRY(const bool found, fits(affix));
    if (found) return Value(true);
  }
  return Value(false);
}

template <bool at_start>
Result<Value> without_affix(Renderer& r, Self self, Args args) {
  TRY(const auto a, take(args, {"affix"}, 1));
  TRY(const std::string affix, text_or(a[0], ""));
  std::string_view text = *self.text();
  if (at_start && text.starts_with(affix)) text.remove_prefix(affix.size());
  if (!at_start && text.ends_with(affix)) text.remove_suffix(affix.size());
  return r.text(std::string(text));
}

template <bool first, bool must_be_there>
Result<Value> place(Renderer&, Self self, Args args) {
  TRY(const auto a, take(args, {"sub"}, 1));
  TRY(const std::string wanted, text_or(a[0], ""));
  const size_t at = first ? find_text(*self.text(), wanted) : find_last_text(*self.text(), wanted);
  if (at != std::string::npos) return Value(i64(utf8::count(std::string_view(*self.text()).substr(0, at))));
  if (must_be_there) return invalid("the text is not found");
  return Value(i64(-1));
}

Result<Value> count(Renderer&, Self self, Args args) {
  TRY(const auto a, take(args, {"sub"}, 1));
  TRY(const std::string wanted, text_or(a[0], ""));
  if (wanted.empty()) return Value(i64(utf8::count(*self.text())) + 1);
  i64 found = 0;
  for (size_t at = find_text(*self.text(), wanted); at != std::string::npos;
       at = find_text(*self.text(), wanted, at + wanted.size()))
    ++found;
  return Value(found);
}

Result<Value> replace(Renderer& r, Self self, Args args) {
  TRY(const auto a, take(args, {"old", "new", "count"}, 2));
  TRY(const std::string from, text_or(a[0], ""));
  TRY(const std::string to, text_or(a[1], ""));
  TRY(const i64 most, integer_or(a[2], -1));
  return replace_text(r, *self.text(), from, to, most);
}

template <bool from_left>
Result<Value> partition(Renderer& r, Self self, Args args) {
  TRY(const auto a, take(args, {"sep"}, 1));
  TRY(const std::string separator, text_or(a[0], ""));
  if (separator.empty()) return invalid("the separator is empty");
  const std::string& text = *self.text();
  const size_t at = from_left ? find_text(text, separator) : find_last_text(text, separator);
  std::string parts[3];
  if (at == std::string::npos) {
    parts[from_left ? 0 : 2] = text;
  } else {
    parts[0] = text.substr(0, at);
    parts[1] = separator;
    parts[2] = text.substr(at + separator.size());
  }
  return list_value(r.heap(), {r.text(parts[0]), r.text(parts[1]), r.text(parts[2])}, List::tuple);
}

Result<Value> join(Renderer& r, Self self, Args args) {
  TRY(const auto a, take(args, {"iterable"}, 1));
  TRY(const ListRef items, r.iterate(*a[0]));
  TextWriter out(r.heap());
  for (size_t i = 0; i < items->items.size(); ++i) {
    if (i > 0) TRY_DO(out.write(*self.text()));
    TRY(const std::string item, text_or(&items->items[i], ""));
    TRY_DO(out.write(item));
  }
  return r.text(out.take());
}

enum class Align { left, right, center };
template <Align align>
Result<Value> justified(Renderer& r, Self self, Args args) {
  TRY(const auto a, take(args, {"width", "fillchar"}, 1));
  TRY(const i64 width, width_of(a[0]));
  TRY(const std::string fill, text_or(a[1], " "));
  if (utf8::count(fill) != 1) return invalid("the fill character is not one character");
  if (align == Align::center) return centered(r, *self.text(), width, fill);
  const i64 missing = width - i64(utf8::count(*self.text()));
  return padded(r, *self.text(), align == Align::right ? missing : 0, align == Align::left ? missing : 0, fill);
}

Result<Value> zero_filled(Renderer& r, Self self, Args args) {
  TRY(const auto a, take(args, {"width"}, 1));
  TRY(const i64 width, width_of(a[0]));
  const std::string& text = *self.text();
  const bool has_sign = text.starts_with('-') || text.starts_with('+');
  TRY(const Value digits, padded(r, text.substr(has_sign ? 1 : 0), width - i64(utf8::count(text)), 0, "0"));
  return r.text(text.substr(0, has_sign ? 1 : 0) + *digits.text());
}

constexpr NamedBuiltin methods[] = {
    {"strip", stripped<Side::both>},
    {"lstrip", stripped<Side::left>},
    {"rstrip", stripped<Side::right>},
    {"split", split<true>},
    {"rsplit", split<false>},
    {"splitlines", split_lines},
    {"startswith", has_affix<true>},
    {"endswith", has_affix<false>},
    {"removeprefix", without_affix<true>},
    {"removesuffix", without_affix<false>},
    {"find", place<true, false>},
    {"rfind", place<false, false>},
    {"index", place<true, true>},
    {"rindex", place<false, true>},
    {"count", count},
    {"replace", replace},
    {"partition", partition<true>},
    {"rpartition", partition<false>},
    {"join", join},
    {"lower", converted<lower_case>},
    {"upper", converted<upper_case>},
    {"title", converted<title_case>},
    {"capitalize", converted<capitalized>},
    {"ljust", justified<Align::left>},
    {"rjust", justified<Align::right>},
    {"center", justified<Align::center>},
    {"zfill", zero_filled},
    {"isalnum", all_are<is_letter_or_numeral>},
    {"isalpha", all_are<is_letter>},
    {"isdecimal", all_are<is_digit>},
    {"isdigit", all_are<is_numeral>},
    {"isspace", all_are<is_space>},
};

}  // namespace

Builtin find_text_method(std::string_view name) { return find_builtin(methods, name); }

}  // namespace pteron::jinja
