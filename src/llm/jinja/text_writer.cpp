// SPDX-License-Identifier: BSD-3-Clause
#include "llm/jinja/text_writer.h"

#include "base/utf8.h"
#include "llm/json/json.h"
#include "llm/text/characters.h"
#include "llm/text/python_float.h"

#include <algorithm>
#include <cmath>

namespace pteron::jinja {
namespace {

void append_hex(std::string& out, u32 value, u32 digits) {
  for (u32 i = digits; i-- > 0;) out += "0123456789abcdef"[value >> 4 * i & 15];
}

std::string quoted(std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos,
             has_double = text.find('"') != std::string_view::npos;
  const char quote = has_single && !has_double ? '"' : '\'';
  std::string out(1, quote);
  for (size_t at = 0; at < text.size();) {
    const u32 c = utf8::next(text, at);
    if (c == u32(quote) || c == '\\') {
      (out += '\\') += char(c);
    } else if (c == '\n' || c == '\r' || c == '\t') {
      (out += '\\') += c == '\n' ? 'n' : c == '\r' ? 'r' : 't';
    } else if (is_printable(c)) {
      utf8::append(out, c);
    } else {
      const u32 digits = c < 0x100 ? 2 : c < 0x1'0000 ? 4 : 8;
      out += digits == 2 ? "\\x" : digits == 4 ? "\\u" : "\\U";
      append_hex(out, c, digits);
    }
  }
  return out += quote;
}

Status write_list(TextWriter& out, const List& list) {
  if (list.kind != List::list && list.kind != List::tuple)
    return unsupported("a generator, range or view can't be printed; put '|list' behind it");
  TRY_DO(out.write(list.kind == List::list ? "[" : "("));
  for (size_t i = 0; i < list.items.size(); ++i) {
    if (i > 0) TRY_DO(out.write(", "));
    TRY_DO(write_repr(out, list.items[i]));
  }
  return out.write(list.kind == List::list ? "]" : list.items.size() == 1 ? ",)" : ")");
}

Status write_dict(TextWriter& out, const Dict& dict) {
  TRY_DO(out.write("{"));
  bool first = true;
  for (const auto& [key, value] : dict.entries()) {
    if (!first) TRY_DO(out.write(", "));
    first = false;
    TRY_DO(write_repr(out, key));
    TRY_DO(out.write(": "));
    TRY_DO(write_repr(out, value));
  }
  return out.write("}");
}

class JsonWriter {
 public:
  JsonWriter(Heap& heap, const JsonStyle& style) : out_(heap), style_(style) {}

  Status write(const Value& value, u32 level = 0) {
    if (const List* list = value.list(); list && (list->kind == List::list || list->kind == List::tuple))
      return write_all('[', ']', list->items, level, [&](const Value& item) { return write(item, level + 1); });
    if (const Dict* dict = value.dict()) {
      std::vector<Dict::Entry> entries = dict->entries();
      if (style_.sort_keys) TRY_DO(sort(entries));
      return write_all('{', '}', entries, level, [&](const Dict::Entry& e) -> Status {
        TRY(const std::string key, key_text(e.key));
        TRY_DO(out_.write(json_quoted(key, style_.ascii)));
        TRY_DO(out_.write(style_.key_separator));
        return write(e.value, level + 1);
      });
    }
    TRY(const std::string scalar, scalar_text(value));
    return out_.write(scalar);
  }
  std::string take() { return out_.take(); }

 private:
  template <class Items, class Write>
  Status write_all(char open, char close, const Items& items, u32 level, const Write& write_item) {
    TRY_DO(out_.write({&open, 1}));
    bool first = true;
    for (const auto& item : items) {
      if (!first) TRY_DO(out_.write(style_.item_separator));
      first = false;
      TRY_DO(new_line(level + 1));
      TRY_DO(write_item(item));
    }
    if (!first) TRY_DO(new_line(level));
    return out_.write({&close, 1});
  }
  Status new_line(u32 level) {
    if (!style_.indent) return {};
    TRY_DO(out_.write("\n"));
    for (u32 i = 0; i < level; ++i) TRY_DO(out_.write(*style_.indent));
    return {};
  }
  static Status sort(std::vector<Dict::Entry>& entries) {
    for (const auto& e : entries)
      if (!e.key.text()) return unsupported("a dictionary whose keys are not all text can't be sorted");
    std::ranges::sort(entries, {}, [](const Dict::Entry& e) -> const std::string& { return *e.key.text(); });
    return {};
  }
  Result<std::string> key_text(const Value& key) const {
    if (key.text()) return *key.text();
    return scalar_text(key);
  }
  Result<std::string> scalar_text(const Value& value) const {
    if (value.is_none()) return "null";
    if (const bool* b = value.as<bool>()) return *b ? "true" : "false";
    if (const i64* i = value.as<i64>()) return std::to_string(*i);
    if (const f64* f = value.as<f64>())
      return std::isnan(*f) ? "NaN" : std::isinf(*f) ? (*f < 0 ? "-Infinity" : "Infinity") : python_float(*f);
    if (const std::string* text = value.text()) return json_quoted(*text, style_.ascii);
    return invalid(kind_of(value), " can't be written as JSON");
  }

  TextWriter out_;
  const JsonStyle& style_;
};

}  // namespace

Status write_repr(TextWriter& out, const Value& value) {
  if (const std::string* text = value.text()) return out.write(quoted(*text));
  if (const List* list = value.list()) return write_list(out, *list);
  if (const Dict* dict = value.dict()) return write_dict(out, *dict);
  if (value.is_undefined()) return out.write("Undefined");
  if (value.is_none()) return out.write("None");
  if (const bool* b = value.as<bool>()) return out.write(*b ? "True" : "False");
  if (const i64* i = value.as<i64>()) return out.write(std::to_string(*i));
  if (const f64* f = value.as<f64>()) return out.write(python_float(*f));
  return unsupported(kind_of(value), " can't be printed");
}

Result<std::string> to_text(Heap& heap, const Value& value) {
  if (const std::string* text = value.text()) return *text;
  if (value.is_undefined()) return std::string();
  TextWriter out(heap);
  TRY_DO(write_repr(out, value));
  return out.take();
}

Result<std::string> to_json(Heap& heap, const Value& value, const JsonStyle& style) {
  JsonWriter out(heap, style);
  TRY_DO(out.write(value));
  return out.take();
}

}  // namespace pteron::jinja
