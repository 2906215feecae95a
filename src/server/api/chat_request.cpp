// SPDX-License-Identifier: BSD-3-Clause
#include "server/api/chat_request.h"

#include "server/api/messages.h"

namespace pteron::server {
namespace {

std::string render(const ChatRequest& request, const Json& messages, const std::string& tools) {
  const LanguageModel& model = request.model->model;
  if (!model.tokenizer() || !model.chat_template())
    refuse("model", "the model '", request.model->id, "' has no chat template; use /v1/completions");
  const Tokenizer& tokenizer = *model.tokenizer();
  const auto spelled = [&](std::optional<u32> id) { return id ? tokenizer.token(*id).value_or("") : ""; };
  return value_or_refuse(model.chat_template()->render({.messages = to_text(messages),
                                                        .tools = tools,
                                                        .variables = to_text(request.variables),
                                                        .bos_token = spelled(tokenizer.bos()),
                                                        .eos_token = spelled(tokenizer.eos())}),
                         "messages");
}

void read_logprobs(const Fields& fields, GenerationOptions& options) {
  const auto top = fields.integer("top_logprobs", 0, 20);
  const bool wanted = fields.boolean("logprobs").value_or(false);
  if (top && !wanted) refuse("top_logprobs", "'top_logprobs' needs 'logprobs' to be true");
  if (wanted) options.sampling.logprobs = u32(top.value_or(0));
}

bool ends_thinking(std::string_view prompt) {
  while (prompt.ends_with('\n') || prompt.ends_with(' ')) prompt.remove_suffix(1);
  return prompt.ends_with("<think>");
}

}  // namespace

ChatRequest read_chat(const Json& body, const ModelTable& models, const RequestLimits& limits) {
  const Fields fields(body);
  ChatRequest out;
  out.model = read_model(fields, models);
  out.messages = read_messages(fields);
  out.tools = read_tools(fields, false);
  out.options = read_sampling(fields, *out.model);
  read_logprobs(fields, out.options);
  out.options.grammar = read_format(fields.find("response_format"), "response_format");
  if (out.options.grammar && out.tools.forced())
    refuse("response_format", "'response_format' can't be kept together with a 'tool_choice' that asks for a call");
  out.max_tokens = fields.integer("max_completion_tokens", 1, INT32_MAX);
  if (!out.max_tokens) out.max_tokens = fields.integer("max_tokens", 1, INT32_MAX);
  out.choices = u32(fields.integer("n", 1, limits.max_choices).value_or(1));
  out.stream = fields.boolean("stream").value_or(false);
  if (const Json* stream = fields.object("stream_options"))
    out.include_usage = Fields(*stream, "stream_options").boolean("include_usage").value_or(false);
  if (const Json* variables = fields.object("chat_template_kwargs")) out.variables = *variables;
  for (const char* name : {"functions", "function_call", "audio", "web_search_options"}) fields.unsupported(name);
  if (const Json* kinds = fields.list("modalities"))
    for (const Json& kind : *kinds)
      if (kind != "text") refuse("modalities", "'modalities' can only be text");
  return out;
}

PreparedChat prepare(const ChatRequest& request, const RequestLimits& limits) {
  PreparedChat out;
  out.options = request.options;
  const ToolStyle& style = request.model->tools;
  const bool with_tools = request.tools.choice != ToolUse::none;
  Json messages = style.in_template ? request.messages : without_tool_messages(request.messages);
  if (with_tools && !style.in_template) add_system_text(messages, tools_as_text(request.tools));
  std::string text =
      render(request, messages, with_tools && style.in_template ? tools_for_template(request.tools) : "");
  out.thinking = ends_thinking(text);
  if (out.thinking && (request.tools.forced() || out.options.grammar)) {
    text += "\n</think>\n\n";  // a grammar holds from the first token on
    out.thinking = false;
  }
  if (request.tools.forced()) {
    if (style.tagged) text += "<tool_call>\n";
    out.calls = CallForm::forced;
    out.options.grammar = call_grammar(request.tools, style);
  } else if (with_tools) {
    out.calls = style.tagged ? CallForm::tagged : CallForm::bare;
  }
  out.prompt = encode_prompt(*request.model, text, {.add_special = false}, "messages");
  if (out.prompt.empty()) refuse("messages", "the conversation is empty");
  out.options.max_tokens = answer_length(request.max_tokens, out.prompt.size(), *request.model, limits, "messages");
  return out;
}

}  // namespace pteron::server
