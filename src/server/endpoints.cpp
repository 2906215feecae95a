// SPDX-License-Identifier: BSD-3-Clause
#include "server/api/chat_writer.h"
#include "server/api/completion_request.h"
#include "server/api/responses.h"
#include "server/service.h"

namespace pteron::server {
namespace {

// One job per choice, which share the prompt.
std::vector<Job> jobs_of(const ChatRequest& request, PreparedChat prepared, std::unique_ptr<AnswerWriter> writer) {
  const auto answer = std::make_shared<Answer>(std::move(writer), request.choices);
  const Answer::Form form{prepared.calls, prepared.thinking, request.options.sampling.logprobs.has_value()};
  std::vector<Job> jobs;
  for (u32 i = 0; i < request.choices; ++i) {
    Job job{.model = request.model, .prompt = prepared.prompt, .options = prepared.options};
    job.options.sampling.seed += i;
    job.listener = Answer::choice(answer, i, request.model, form, i == 0);
    jobs.push_back(std::move(job));
  }
  return jobs;
}

Json describe(const std::string& id, i64 created, u32 context) {
  return {{"id", id}, {"object", "model"}, {"created", created}, {"owned_by", "pteron"}, {"context_length", context}};
}
Json describe(const ServedModel& model) { return describe(model.id, model.created, model.model.info().context); }
Json describe(const ServedEncoder& model) {
  Json out = describe(model.id, model.created, model.encoder.context());
  out["dimensions"] = model.encoder.width();
  return out;
}

// A copy, which is the same tokenizer.
Tokenizer read_tokenizer(const Fields& fields, const ModelTable& models) {
  const std::string id = fields.text("model").value_or("");
  const EncoderPtr encoder = id.empty() ? nullptr : models.find_encoder(id);
  const ModelPtr model = encoder ? nullptr : read_model(fields, models);
  const Tokenizer* found = encoder ? encoder->encoder.tokenizer() : model->model.tokenizer();
  if (!found) refuse("model", "the model '", encoder ? encoder->id : model->id, "' has no tokenizer");
  return *found;
}

}  // namespace

void Service::list_models(const http::Request& request, const std::shared_ptr<http::Reply>& reply) {
  if (request.path != "/v1/models") {
    const std::string id = request.path.substr(std::string_view("/v1/models/").size());
    if (const EncoderPtr encoder = models_.find_encoder(id); encoder && !id.empty())
      return reply->send({.body = to_text(describe(*encoder))});
    const Json wanted{{"model", id}};
    return reply->send({.body = to_text(describe(*read_model(Fields(wanted), models_)))});
  }
  Json out{{"object", "list"}, {"data", Json::array()}};
  for (const ModelPtr& model : models_.all()) out["data"].push_back(describe(*model));
  for (const EncoderPtr& encoder : models_.encoders()) out["data"].push_back(describe(*encoder));
  reply->send({.body = to_text(out)});
}

void Service::tokenize(const http::Request& request, const std::shared_ptr<http::Reply>& reply) {
  const Json body = parse_body(request.body);
  const Fields fields(body);
  const Tokenizer tokenizer = read_tokenizer(fields, models_);
  const auto content = fields.text("content");
  if (!content) refuse("content", "'content' is missing");
  const EncodeOptions options{.add_special = fields.boolean("add_special").value_or(false),
                              .parse_special = fields.boolean("parse_special").value_or(true)};
  const auto tokens = value_or_refuse(tokenizer.encode(*content, options), "content");
  reply->send({.body = to_text({{"tokens", tokens}})});
}

void Service::detokenize(const http::Request& request, const std::shared_ptr<http::Reply>& reply) {
  const Json body = parse_body(request.body);
  const Fields fields(body);
  const Tokenizer tokenizer = read_tokenizer(fields, models_);
  fields.require("tokens");
  const auto tokens = read_tokens(*fields.list("tokens"), "tokens", tokenizer.vocab_size());
  const std::string text = value_or_refuse(tokenizer.decode(tokens, false), "tokens");
  reply->send({.body = to_text({{"content", text}})});
}

void Service::chat(const http::Request& request, const std::shared_ptr<http::Reply>& reply) {
  const ChatRequest chat = read_chat(parse_body(request.body), models_, options_.limits);
  PreparedChat prepared = prepare(chat, options_.limits);
  const bool logprobs = chat.options.sampling.logprobs.has_value();
  const ObjectHead head{make_id("chatcmpl-"), "chat.completion.chunk", unix_time(), chat.model->id};
  submit(jobs_of(chat, std::move(prepared),
                 chat.stream ? chat_chunks(reply, chat.choices, head, logprobs, chat.include_usage)
                             : chat_object(reply, chat.choices, head, logprobs)));
}

void Service::responses(const http::Request& request, const std::shared_ptr<http::Reply>& reply) {
  const ResponsesRequest wanted = read_responses(parse_body(request.body), models_);
  PreparedChat prepared = prepare(wanted.chat, options_.limits);
  submit(jobs_of(wanted.chat, std::move(prepared),
                 wanted.chat.stream ? response_events(reply, wanted) : response_object(reply, wanted)));
}

void Service::completions(const http::Request& request, const std::shared_ptr<http::Reply>& reply) {
  const CompletionRequest wanted = read_completion(parse_body(request.body), models_, options_.limits);
  const bool logprobs = wanted.options.sampling.logprobs.has_value();
  const ObjectHead head{make_id("cmpl-"), "text_completion", unix_time(), wanted.model->id};
  std::vector<std::string> echoes;
  for (const auto& prompt : wanted.prompts) echoes.insert(echoes.end(), wanted.choices, prompt.echo);
  const u32 count = u32(echoes.size());
  const auto answer = std::make_shared<Answer>(
      wanted.stream ? completion_chunks(reply, head, logprobs, wanted.include_usage, std::move(echoes))
                    : completion_object(reply, head, logprobs, std::move(echoes)),
      count);
  std::vector<Job> jobs;
  for (u32 i = 0; i < count; ++i) {
    const auto& prompt = wanted.prompts[i / wanted.choices];
    Job job{.model = wanted.model, .prompt = prompt.tokens, .options = wanted.options};
    job.options.max_tokens =
        answer_length(wanted.max_tokens, prompt.tokens.size(), *wanted.model, options_.limits, "prompt");
    job.options.sampling.seed += i % wanted.choices;
    job.listener = Answer::choice(answer, i, wanted.model, {.logprobs = logprobs}, i % wanted.choices == 0);
    jobs.push_back(std::move(job));
  }
  submit(std::move(jobs));
}

}  // namespace pteron::server
