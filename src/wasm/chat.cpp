// SPDX-License-Identifier: BSD-3-Clause
// Conversations with a language model. An answer is start, then steps of begin, the browser works, finish, piece.
#include "wasm/abi.h"

#include <pteron/generation.h>

namespace pteron::wasm {

struct ChatHandle {
  Engine& engine;
  LanguageModel model;
  Session session;
  std::optional<Generation> answer;
  u32 known = 0;  // tokens of the answer that were part of the prompt
};

namespace {

Result<ModelInfo> language_of(Program& program) {
  for (const MethodInfo& method : program.methods())
    if (method.name == "forward")
      return ModelInfo::read(method, [&](std::string_view name) { return program.constant(name); });
  return unsupported("the program has no method 'forward', so it is no language model");
}

Json describe(const ModelInfo& info) {
  return {{"vocabulary", info.vocab_size},
          {"contextTokens", info.context},
          {"methodOptions", wasm::describe(info.method_options())}};
}

Result<ChatHandle*> create(ProgramHandle& program, Bytes tokenizer, std::string_view chat_template) {
  TRY(Tokenizer words, within(Tokenizer::load(tokenizer), "tokenizer"));
  std::optional<ChatTemplate> form;
  if (!chat_template.empty()) {
    TRY(form, within(ChatTemplate::parse(chat_template), "chat template"));
  }
  TRY(Program shared, program.stream.share());
  TRY(LanguageModel model, LanguageModel::create(std::move(shared), std::move(words), std::move(form)));
  TRY(Session session, model.session());
  return new ChatHandle{program.engine, std::move(model), std::move(session), {}, 0};
}

Result<GenerationOptions> read_options(const Json& json, u64 known) {
  GenerationOptions out;
  out.max_tokens = u64(std::max(0.0, number(json, "maxTokens", 512)));
  out.max_tokens -= std::min(out.max_tokens, known);
  out.sampling.temperature = f32(number(json, "temperature", 0));
  out.sampling.top_k = u32(std::max(0.0, number(json, "topK", 40)));
  out.sampling.top_p = f32(number(json, "topP", 1));
  out.sampling.min_p = f32(number(json, "minP", 0));
  out.sampling.repetition_penalty = f32(number(json, "repetitionPenalty", 1));
  // An answer that is taken up again does not repeat its random numbers.
  out.sampling.seed = u64(std::max(0.0, number(json, "seed", 0))) + known;
  if (const auto stops = json.find("stop"); stops != json.end())
    for (const Json& stop : *stops)
      if (stop.is_string()) out.stops.push_back(stop.get<std::string>());
  return out;
}

Result<std::vector<u32>> render(const LanguageModel& model, const std::string& messages) {
  if (!model.chat_template())
    return not_found("the model has no chat template; load it with one, or use run() with tokens");
  const Tokenizer& tokenizer = *model.tokenizer();
  const auto spelled = [&](std::optional<u32> id) { return id ? tokenizer.token(*id).value_or("") : ""; };
  TRY(const std::string text,
      model.chat_template()->render(
          {.messages = messages, .bos_token = spelled(tokenizer.bos()), .eos_token = spelled(tokenizer.eos())}));
  return tokenizer.encode(text, {.add_special = false});  // the template writes them
}

Status start(ChatHandle& chat, std::string_view request) {
  const Json json = Json::parse(request.begin(), request.end(), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("messages")) return invalid("the conversation is no list of messages");
  chat.answer.reset();
  std::vector<u32> known;
  if (const auto list = json.find("known"); list != json.end())
    for (const Json& token : *list)
      if (token.is_number_unsigned()) known.push_back(token.get<u32>());
  const auto options = json.find("options");
  TRY(GenerationOptions wanted, read_options(options == json.end() ? Json::object() : *options, known.size()));
  TRY(std::vector<u32> prompt, render(chat.model, json["messages"].dump()));
  prompt.insert(prompt.end(), known.begin(), known.end());
  chat.known = u32(known.size());
  TRY(chat.answer, Generation::start(chat.model, chat.session, std::move(prompt), std::move(wanted)));
  return {};
}

Error no_answer() { return {ErrorKind::invalid, "no answer is under way; call start first", {}}; }

}  // namespace

PTERON_EXPORT(pteron_program_language) Answer program_language(ProgramHandle* program) {
  Program* opened = program->stream.program();
  if (!opened) return program->engine.fail({ErrorKind::invalid, "the program is not open yet", {}});
  const auto info = language_of(*opened);
  return info ? program->engine.tell(describe(*info)) : program->engine.fail(info.error());
}

PTERON_EXPORT(pteron_chat_create)
ChatHandle* create_chat(ProgramHandle* program, const std::byte* tokenizer, u32 bytes, const char* chat_template,
                        u32 length) {
  auto chat = create(*program, {tokenizer, bytes}, {chat_template, length});
  if (chat) return *chat;
  program->engine.fail(chat.error());
  return nullptr;
}

PTERON_EXPORT(pteron_chat_release) void release_chat(ChatHandle* chat) { delete chat; }

PTERON_EXPORT(pteron_chat_describe) Answer describe_chat(ChatHandle* chat) {
  const bool ready = chat->model.chat_template() != nullptr;
  Json out{
      {"vocabulary", chat->model.info().vocab_size}, {"contextTokens", chat->model.info().context}, {"chat", ready}};
  if (!ready) out["problem"] = "the model has no chat template; load it with one";
  return chat->engine.tell(out);
}

// Request: messages [{role, content}], options, known [token]: of the answer, from before.
PTERON_EXPORT(pteron_chat_start) Answer start_chat(ChatHandle* chat, const char* request, u32 length) {
  return chat->engine.done(start(*chat, {request, length}));
}

// ok: the answer is complete. no: a run is under way.
PTERON_EXPORT(pteron_chat_begin) Answer begin_chat(ChatHandle* chat) {
  if (!chat->answer) return chat->engine.fail(no_answer());
  if (chat->answer->done()) return ok;
  const Status begun = chat->answer->begin();
  return begun ? no : chat->engine.fail(begun.error());
}

PTERON_EXPORT(pteron_chat_finish) Answer finish_chat(ChatHandle* chat) {
  if (!chat->answer) return chat->engine.fail(no_answer());
  const auto finished = chat->answer->finish(/*wait=*/false);
  if (!finished) return chat->engine.fail(finished.error());
  return *finished ? ok : no;
}

PTERON_EXPORT(pteron_chat_piece) Answer chat_piece(ChatHandle* chat) {
  if (!chat->answer) return chat->engine.fail(no_answer());
  const GeneratedPiece& piece = chat->answer->piece();
  Json out{{"text", piece.text}, {"done", chat->answer->done()}};
  if (piece.token && chat->answer->reason() != StopReason::end_token) out["token"] = *piece.token;
  return chat->engine.tell(out);
}

PTERON_EXPORT(pteron_chat_cancel) Answer cancel_chat(ChatHandle* chat) {
  if (chat->answer) chat->answer->cancel();
  return ok;
}

PTERON_EXPORT(pteron_chat_summary) Answer chat_summary(ChatHandle* chat) {
  if (!chat->answer) return chat->engine.fail(no_answer());
  const GenerationStats& stats = chat->answer->stats();
  return chat->engine.tell({{"reason", name_of(chat->answer->reason())},
                            {"promptTokens", stats.prompt_tokens - chat->known},
                            {"reusedTokens", stats.reused_tokens}});
}

PTERON_EXPORT(pteron_chat_reset) Answer reset_chat(ChatHandle* chat) {
  chat->answer.reset();
  return chat->engine.done(chat->session.rewind(0));
}

PTERON_EXPORT(pteron_chat_profile) void profile_chat(ChatHandle* chat, bool on) { chat->session.set_profiling(on); }
PTERON_EXPORT(pteron_chat_times) Answer chat_times(ChatHandle* chat) {
  return chat->engine.tell(describe(chat->session.profile()));
}

}  // namespace pteron::wasm
