// SPDX-License-Identifier: BSD-3-Clause
// A chat template and, each behind a zero byte, messages, tools and variables for it.
#include "fuzz.h"

#include <pteron/chat_template.h>

namespace pteron::fuzz {

void target(Bytes input) {
  const auto [source, rest] = split(text_of(input));
  const auto [messages, more] = split(rest);
  const auto [tools, variables] = split(more);
  const auto parsed = ChatTemplate::parse(source, {.steps = 100'000, .memory = 16u << 20});
  if (!parsed) return;
  ChatInputs inputs;
  inputs.messages =
      messages.empty() ? R"([{"role": "user", "content": "hi"}, {"role": "assistant", "content": [1]}])" : messages;
  inputs.tools = tools;
  inputs.variables = variables;
  inputs.bos_token = "<s>";
  inputs.local_time = 0;
  (void)parsed->render(inputs);
}

}  // namespace pteron::fuzz
