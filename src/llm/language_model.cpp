// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.h"

#include <pteron/llm.h>

#include <algorithm>
#include <mutex>

namespace pteron {

struct LanguageModel::Impl {
  Program program;
  std::shared_ptr<const ModelInfo> info;
  std::optional<Tokenizer> tokenizer;
  std::optional<ChatTemplate> chat_template;
  std::mutex mutex;  // what follows
  std::optional<TokenTrie> trie;
};

Result<LanguageModel> LanguageModel::create(Program program, std::optional<Tokenizer> tokenizer,
                                            std::optional<ChatTemplate> chat_template) {
  const auto& methods = program.methods();
  const auto forward = std::ranges::find(methods, "forward", &MethodInfo::name);
  if (forward == methods.end()) return unsupported("the program has no method 'forward', so it is no language model");
  TRY(ModelInfo info, ModelInfo::read(*forward, [&](std::string_view name) { return program.constant(name); }));
  if (tokenizer) {
    TRY_DO(tokenizer->check_model_vocabulary(info.vocab_size));
    for (u32 id : tokenizer->end_tokens())
      if (std::ranges::find(info.end_tokens, id) == info.end_tokens.end()) info.end_tokens.push_back(id);
  }
  auto impl = std::make_shared<Impl>(std::move(program), std::make_shared<const ModelInfo>(std::move(info)),
                                     std::move(tokenizer), std::move(chat_template));
  return LanguageModel(std::move(impl));
}

const ModelInfo& LanguageModel::info() const { return *impl_->info; }
const Tokenizer* LanguageModel::tokenizer() const { return impl_->tokenizer ? &*impl_->tokenizer : nullptr; }
const ChatTemplate* LanguageModel::chat_template() const {
  return impl_->chat_template ? &*impl_->chat_template : nullptr;
}
Result<Device> LanguageModel::device() const { return impl_->program.device(); }

Result<std::vector<u32>> LanguageModel::encode(std::string_view text, const EncodeOptions& options) const {
  if (!impl_->tokenizer) return not_found("the model has no tokenizer; name its file");
  return impl_->tokenizer->encode(text, options);
}

Result<TokenTrie> LanguageModel::token_trie() const {
  if (!impl_->tokenizer) return not_found("the model has no tokenizer, which a grammar needs; name its file");
  std::scoped_lock lock(impl_->mutex);
  if (!impl_->trie) {
    std::vector<std::string> tokens(info().vocab_size);
    for (u32 id = 0; id < tokens.size(); ++id) tokens[id] = impl_->tokenizer->bytes(id);
    TRY(impl_->trie, TokenTrie::build(tokens, info().end_tokens));
  }
  return *impl_->trie;
}

bool LanguageModel::is_end(u32 token) const {
  return std::ranges::find(info().end_tokens, token) != info().end_tokens.end();
}

Result<Session> LanguageModel::session() const {
  TRY(Method method, impl_->program.method("forward", impl_->info->method_options()));
  return Session(std::move(method), impl_->info);
}

Result<SessionBatch> LanguageModel::batch() const {
  TRY(Batch batch, impl_->program.batch("forward", impl_->info->method_options()));
  return SessionBatch(std::move(batch));
}

}  // namespace pteron
