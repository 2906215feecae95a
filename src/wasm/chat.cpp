// SPDX-License-Identifier: BSD-3-Clause
// Conversations with a language model, in a module of their own (pteron_language.wasm). An answer is start, then steps
// of begin, the browser works, finish, piece.
#include "llm/generation_options.h"
#include "wasm/abi.h"

#include <pteron/chat.h>

namespace pteron::wasm {

struct ChatHandle {
  Engine& engine;
  LanguageModel model;
  std::optional<Chat> chat;  // if there is a template
  std::optional<Generation> answer;
};

namespace {

Result<ChatHandle*> create(ProgramHandle& program, Bytes tokenizer, std::string_view chat_template) {
  TRY(Tokenizer words, within(Tokenizer::load(tokenizer), "tokenizer"));
  std::optional<ChatTemplate> form;
  if (!chat_template.empty()) {
    TRY(form, within(ChatTemplate::parse(chat_template), "chat template"));
  }
  TRY(Program shared, program.stream.share());
  TRY(LanguageModel model, LanguageModel::create(std::move(shared), std::move(words), std::move(form)));
  std::optional<Chat> chat;
  if (model.chat_template()) {
    TRY(chat, Chat::create(model));
  }
  return new ChatHandle{program.engine, std::move(model), std::move(chat), {}};
}

Result<GenerationOptions> read_options(const Json& json) {
  GenerationOptions out{.sampling = {.temperature = 0, .top_k = 40}, .max_tokens = 512};
  for (const auto& [name, value] : json.members())
    if (name != "slide" && name != "templateVariables" && !value.is_null()) TRY_DO(set_option(out, name, value));
  return out;
}

Result<std::vector<ChatMessage>> read_messages(const Json& json) {
  std::vector<ChatMessage> out;
  for (const Json& message : json.items()) {
    const Json &role = message["role"], &content = message["content"];
    if (!role.text() || !content.text()) return invalid("message ", out.size(), " has no text as its role or content");
    out.push_back({*role.text(), *content.text()});
  }
  return out;
}

Status start(ChatHandle& chat, std::string_view request) {
  TRY(const Json json, within(Json::parse(request), "reading the conversation"));
  if (!chat.chat) return not_found("the model has no chat template; load it with one, or use run() with tokens");
  chat.answer.reset();
  const Json& options = json["options"];
  TRY(GenerationOptions wanted, read_options(options));
  for (const Json& token : json["known"].items()) wanted.begun.push_back(token.index().value_or(0));
  const Json& variables = options["templateVariables"];
  chat.chat->configure({.system = {},
                        .template_variables = variables.is_null() ? "" : variables.dump(),
                        .slide = flag(options, "slide", false)});
  TRY(auto messages, read_messages(json["messages"]));
  TRY(chat.answer, chat.chat->answer(std::move(messages), std::move(wanted)));
  return {};
}

Error no_answer() { return {ErrorKind::invalid, "no answer is under way; call start first", {}}; }

}  // namespace

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
  if (!ready) out.add("problem", "the model has no chat template; load it with one");
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
  if (piece.token && chat->answer->reason() != StopReason::end_token) out.add("token", *piece.token);
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
                            {"promptTokens", stats.prompt_tokens},
                            {"reusedTokens", stats.reused_tokens},
                            {"droppedMessages", chat->chat->dropped()}});
}

PTERON_EXPORT(pteron_chat_reset) Answer reset_chat(ChatHandle* chat) {
  chat->answer.reset();
  if (!chat->chat) return ok;
  chat->chat->reset();
  return chat->engine.done(chat->chat->session().rewind(0));
}

PTERON_EXPORT(pteron_chat_profile) void profile_chat(ChatHandle* chat, bool on) {
  if (chat->chat) chat->chat->session().set_profiling(on);
}
PTERON_EXPORT(pteron_chat_times) Answer chat_times(ChatHandle* chat) {
  return chat->engine.tell(chat->chat ? describe(chat->chat->session().profile()) : Json(Json::Array()));
}

}  // namespace pteron::wasm
