// SPDX-License-Identifier: BSD-3-Clause
// Language models of the C interface.
#include "c/options.h"
#include "llm/generation_options.h"

#include <pteron/encoder.h>
#include <pteron/generation.h>

#include <algorithm>
#include <cstring>
#include <mutex>

// One of the two.
struct pteron_llm {
  std::optional<pteron::LanguageModel> model;
  std::optional<pteron::Encoder> encoder;
  std::mutex mutex;  // an encoder is for one thread at a time

  const pteron::Tokenizer* tokenizer() const { return model ? model->tokenizer() : encoder->tokenizer(); }
};
// Generation points at the other two, so they stay where they are.
struct pteron_session {
  pteron::LanguageModel model;
  pteron::Session session;
  std::optional<pteron::Generation> answer;
  std::string text;
};

namespace {

using namespace pteron;
using c::call, c::require;

template <class T>
void copy_out(std::span<const T> from, T* to, size_t capacity, size_t* size) {
  *size = from.size();
  std::copy_n(from.begin(), std::min(from.size(), capacity), to);
}

Result<const LanguageModel*> writer(const pteron_llm& llm) {
  if (!llm.model) return unsupported("the program turns texts into vectors, but writes none; ask it to embed");
  return &*llm.model;
}

Result<const Tokenizer*> tokenizer_of(const pteron_llm& llm) {
  if (!llm.tokenizer()) return not_found("the model has no tokenizer; name its file");
  return llm.tokenizer();
}

Result<std::string> render(const LanguageModel& model, const char* messages) {
  if (!model.tokenizer() || !model.chat_template())
    return not_found("the model has no chat template; name a file with one, or generate from a prompt instead");
  const Tokenizer& tokenizer = *model.tokenizer();
  const auto spelled = [&](std::optional<u32> id) { return id ? tokenizer.token(*id).value_or("") : ""; };
  return model.chat_template()->render(
      {.messages = messages, .bos_token = spelled(tokenizer.bos()), .eos_token = spelled(tokenizer.eos())});
}

Result<GenerationOptions> read_generation(const char* json) {
  GenerationOptions out;
  if (!json) return out;
  TRY(const Json root, within(Json::parse(json), "the options"));
  if (!root.object()) return invalid("the options must be a JSON object");
  for (const auto& [name, value] : root.members()) TRY_DO(set_option(out, name, value));
  return out;
}

Status next(pteron_session& session, pteron_piece& out) {
  if (!session.answer || session.answer->done()) return invalid("there is no answer under way; start one");
  TRY(GeneratedPiece piece, session.answer->next());
  // A token that ends the answer is not part of it.
  const bool shown = piece.token && session.answer->reason() != StopReason::end_token;
  session.text = std::move(piece.text);
  out = {.text = session.text.c_str(),
         .length = session.text.size(),
         .has_token = shown,
         .token = shown ? *piece.token : 0,
         .logprob = piece.logprob,
         .is_last = session.answer->done(),
         .reason = session.answer->done() ? name_of(session.answer->reason()).data() : nullptr};
  return {};
}

Status read_logits(pteron_session& session, std::span<const u32> tokens, std::span<f32> out) {
  session.answer.reset();
  TRY_DO(session.session.replace(tokens));
  do {
    TRY_DO(session.session.begin(Readback::logits));
    TRY_DO(session.session.finish());
  } while (session.session.answer() == Readback::none);
  std::ranges::copy(session.session.logits(), out.begin());
  return {};
}

}  // namespace

pteron_status pteron_llm_load(const char* path, const pteron_options* options, const char* tokenizer,
                              const char* chat_template, pteron_llm** llm, pteron_error** error) {
  return call(error, [&]() -> Status {
    TRY_DO(require(path, "path"));
    TRY_DO(require(llm, "llm"));
    TRY(LoadOptions load, c::read_options(options));
    auto made = std::make_unique<pteron_llm>();
    TRY(made->encoder, Encoder::load(path, load, tokenizer ? tokenizer : ""));
    if (!made->encoder) {
      TRY(made->model, LanguageModel::load(path, {.load = std::move(load),
                                                  .tokenizer = tokenizer ? tokenizer : "",
                                                  .chat_template = chat_template ? chat_template : ""}));
    }
    *llm = made.release();
    return {};
  });
}

void pteron_llm_release(pteron_llm* llm) { delete llm; }
uint32_t pteron_llm_vocabulary(const pteron_llm* llm) {
  if (llm && llm->model) return llm->model->info().vocab_size;
  return llm && llm->tokenizer() ? llm->tokenizer()->vocab_size() : 0;
}
uint32_t pteron_llm_context(const pteron_llm* llm) {
  if (llm && llm->model) return llm->model->info().context;
  return llm ? llm->encoder->context() : 0;
}
uint32_t pteron_llm_width(const pteron_llm* llm) { return llm && llm->encoder ? llm->encoder->width() : 0; }

pteron_status pteron_llm_encode(const pteron_llm* llm, const char* text, size_t length, int32_t add_special,
                                uint32_t* tokens, size_t capacity, size_t* size, pteron_error** error) {
  return call(error, [&]() -> Status {
    TRY_DO(require(llm && text && size && (tokens || capacity == 0), "an argument"));
    TRY(const Tokenizer* tokenizer, tokenizer_of(*llm));
    TRY(const auto ids, tokenizer->encode({text, length}, {.add_special = add_special != 0}));
    copy_out(std::span<const u32>(ids), tokens, capacity, size);
    return {};
  });
}

pteron_status pteron_llm_decode(const pteron_llm* llm, const uint32_t* tokens, size_t count, char* text,
                                size_t capacity, size_t* size, pteron_error** error) {
  return call(error, [&]() -> Status {
    TRY_DO(require(llm && (tokens || count == 0) && size && (text || capacity == 0), "an argument"));
    TRY(const Tokenizer* tokenizer, tokenizer_of(*llm));
    TRY(const std::string out, tokenizer->decode({tokens, count}));
    copy_out(std::span<const char>(out), text, capacity, size);
    return {};
  });
}

pteron_status pteron_llm_render(const pteron_llm* llm, const char* messages, char* text, size_t capacity, size_t* size,
                                pteron_error** error) {
  return call(error, [&]() -> Status {
    TRY_DO(require(llm && messages && size && (text || capacity == 0), "an argument"));
    TRY(const LanguageModel* model, writer(*llm));
    TRY(const std::string out, render(*model, messages));
    copy_out(std::span<const char>(out), text, capacity, size);
    return {};
  });
}

pteron_status pteron_llm_embed(pteron_llm* llm, const uint32_t* tokens, size_t count, float* vector, size_t capacity,
                               pteron_error** error) {
  return call(error, [&]() -> Status {
    TRY_DO(require(llm && (tokens || count == 0) && vector, "an argument"));
    if (!llm->encoder) return unsupported("the model writes texts and has no vectors for them; load an encoder");
    if (capacity != llm->encoder->width())
      return invalid("there is room for ", capacity, " numbers, but a vector has ", llm->encoder->width());
    const std::scoped_lock lock(llm->mutex);
    TRY(const auto out, llm->encoder->embed({tokens, count}));
    std::ranges::copy(out, vector);
    return {};
  });
}

pteron_status pteron_session_create(pteron_llm* llm, pteron_session** session, pteron_error** error) {
  return call(error, [&]() -> Status {
    TRY_DO(require(llm, "llm"));
    TRY_DO(require(session, "session"));
    TRY(const LanguageModel* model, writer(*llm));
    TRY(Session state, model->session());
    *session = new pteron_session{*model, std::move(state), std::nullopt, {}};
    return {};
  });
}

void pteron_session_release(pteron_session* session) { delete session; }

pteron_status pteron_session_start(pteron_session* session, const uint32_t* prompt, size_t count, const char* options,
                                   pteron_error** error) {
  return call(error, [&]() -> Status {
    TRY_DO(require(session && (prompt || count == 0), "an argument"));
    TRY(GenerationOptions generation, read_generation(options));
    session->answer.reset();
    TRY(Generation answer,
        Generation::start(session->model, session->session, {prompt, prompt + count}, std::move(generation)));
    session->answer.emplace(std::move(answer));
    return {};
  });
}

pteron_status pteron_session_next(pteron_session* session, pteron_piece* piece, pteron_error** error) {
  return call(error, [&]() -> Status {
    TRY_DO(require(session && piece, "an argument"));
    return next(*session, *piece);
  });
}

pteron_status pteron_session_logits(pteron_session* session, const uint32_t* tokens, size_t count, float* logits,
                                    size_t capacity, pteron_error** error) {
  return call(error, [&]() -> Status {
    TRY_DO(require(session && (tokens || count == 0) && logits, "an argument"));
    const u32 vocabulary = session->model.info().vocab_size;
    if (capacity != vocabulary)
      return invalid("there is room for ", capacity, " logits, but the model has ", vocabulary);
    return read_logits(*session, {tokens, count}, {logits, capacity});
  });
}
