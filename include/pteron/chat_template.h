// SPDX-License-Identifier: BSD-3-Clause
// A model's chat template: turns a conversation into the text that the model was trained on.
//
// Templates are written in Jinja and rendered as the Python package `transformers` does. What is missing is an error
// that names the line, never a different text: template inheritance and imports, recursive loops, the filters and
// methods that deal with HTML, encodings or random numbers, and integers beyond 64 bits. `safe` and `escape` give plain
// text.
//
//   auto form = pteron::ChatTemplate::parse("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}");
//   auto text = form->render({.messages = R"([{"role": "user", "content": "Hi"}])"});   // "<user>Hi"
#pragma once

#include <pteron/result.h>
#include <pteron/types.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace pteron {

// What rendering may use up. A template that needs more ends with an error.
struct TemplateLimits {
  u64 steps = 20'000'000;       // seconds at most
  u64 memory = u64(256) << 20;  // bytes, of values and output
};

struct ChatInputs {
  std::string_view messages;              // JSON: a list of {"role": …, "content": …, …}
  std::string_view tools;                 // JSON: a list of tool schemas; empty: none
  std::string_view variables;             // JSON: an object of further variables such as {"enable_thinking": false}
  std::string_view bos_token, eos_token;  // empty: not defined
  bool add_generation_prompt = true;
  std::optional<i64> local_time;  // what strftime_now prints: seconds since 1970, local; absent: the clock, in UTC
};

// Immutable; may be used by several threads at once.
class ChatTemplate {
 public:
  static Result<ChatTemplate> parse(std::string_view text, const TemplateLimits& limits = {});
  ChatTemplate(ChatTemplate&&) noexcept;
  ChatTemplate& operator=(ChatTemplate&&) noexcept;
  ~ChatTemplate();

  Result<std::string> render(const ChatInputs& inputs) const;

 private:
  struct Impl;
  explicit ChatTemplate(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pteron
