// SPDX-License-Identifier: BSD-3-Clause
#include "server/api/completion_request.h"

namespace pteron::server {
namespace {

CompletionRequest::Prompt read_prompt(const Json& prompt, const ServedModel& model, bool echo) {
  CompletionRequest::Prompt out;
  if (prompt.is_string()) {
    const auto& text = prompt.get_ref<const std::string&>();
    out.tokens = encode_prompt(model, text, {}, "prompt");
    if (echo) out.echo = text;
  } else if (prompt.is_array()) {
    out.tokens = read_tokens(prompt, "prompt", model.model.info().vocab_size);
    if (echo && model.model.tokenizer())
      out.echo = value_or_refuse(model.model.tokenizer()->decode(out.tokens), "prompt");
  } else {
    refuse("prompt", "'prompt' must be a string, tokens, or an array of one of them");
  }
  const auto bos = model.model.info().bos;
  if (out.tokens.empty() && bos) out.tokens.push_back(*bos);
  if (out.tokens.empty()) refuse("prompt", "'prompt' is empty, and the model has no token that begins a text");
  return out;
}

}  // namespace

std::vector<u32> read_tokens(const Json& list, const std::string& path, u32 vocabulary) {
  std::vector<u32> out;
  for (const Json& token : list) {
    if (!token.is_number_unsigned() || token.get<u64>() >= vocabulary)
      refuse(path, "'", path, "' holds something that is no token from 0 to ", vocabulary - 1);
    out.push_back(token.get<u32>());
  }
  return out;
}

CompletionRequest read_completion(const Json& body, const ModelTable& models, const RequestLimits& limits) {
  const Fields fields(body);
  CompletionRequest out;
  out.model = read_model(fields, models);
  out.options = read_sampling(fields, *out.model);
  out.options.grammar = read_format(fields.find("response_format"), "response_format");
  if (const auto logprobs = fields.integer("logprobs", 0, 5)) out.options.sampling.logprobs = u32(*logprobs);
  out.max_tokens = fields.integer("max_tokens", 1, INT32_MAX).value_or(16);
  out.choices = u32(fields.integer("n", 1, limits.max_choices).value_or(1));
  if (fields.integer("best_of", 1, 1000).value_or(1) > 1 && fields.integer("best_of", 1, 1000) != out.choices)
    refuse("best_of", "'best_of' must be the same as 'n'");
  out.stream = fields.boolean("stream").value_or(false);
  if (const Json* stream = fields.object("stream_options"))
    out.include_usage = Fields(*stream, "stream_options").boolean("include_usage").value_or(false);
  fields.unsupported("suffix");
  const bool echo = fields.boolean("echo").value_or(false);
  if (echo && out.options.sampling.logprobs) refuse("echo", "'echo' can't be kept together with 'logprobs'");
  const Json& prompt = fields.require("prompt");
  const bool several = prompt.is_array() && !prompt.empty() && !prompt[0].is_number();
  if (!several) {
    out.prompts.push_back(read_prompt(prompt, *out.model, echo));
    return out;
  }
  if (prompt.size() * out.choices > limits.max_choices)
    refuse("prompt", "the request asks for ", prompt.size() * out.choices, " answers; at most ", limits.max_choices,
           " are given at a time");
  for (const Json& one : prompt) out.prompts.push_back(read_prompt(one, *out.model, echo));
  return out;
}

}  // namespace pteron::server
