// SPDX-License-Identifier: BSD-3-Clause
// Values as text: as Python prints them, and as JSON.
#pragma once

#include "llm/jinja/value.h"

namespace pteron::jinja {

// A growing text that stays within the heap's limits.
class TextWriter {
 public:
  explicit TextWriter(Heap& heap) : heap_(heap) {}
  Status write(std::string_view text) {
    heap_.work(1);
    heap_.work_on_bytes(text.size());
    TRY_DO(heap_.check_room(2 * (out_.size() + text.size())));
    out_ += text;
    return {};
  }
  std::string take() { return std::move(out_); }

 private:
  Heap& heap_;
  std::string out_;
};

// Python's str().
Result<std::string> to_text(Heap& heap, const Value& value);
// What stands inside of a printed list.
Status write_repr(TextWriter& out, const Value& value);

// Python's json.dumps.
struct JsonStyle {
  bool ascii = false, sort_keys = false;
  std::optional<std::string> indent;
  std::string item_separator = ", ", key_separator = ": ";
};
Result<std::string> to_json(Heap& heap, const Value& value, const JsonStyle& style);

}  // namespace pteron::jinja
