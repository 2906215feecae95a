// SPDX-License-Identifier: BSD-3-Clause
#include "server/api/chat_writer.h"
#include "server/api/chunk_stream.h"

namespace pteron::server {
namespace {

// Four lists that run beside each other; `offset` is where the first token begins, in characters.
Json logprobs_of(const std::vector<TokenReport>& tokens, size_t& offset) {
  Json texts = Json::array(), own = Json::array(), top = Json::array(), offsets = Json::array();
  for (const TokenReport& token : tokens) {
    texts.push_back(token.bytes);
    own.push_back(token.logprob);
    Json best = Json::object();
    for (const TokenReport& other : token.top) best[other.bytes] = other.logprob;
    top.push_back(std::move(best));
    offsets.push_back(offset);
    for (const char c : token.bytes) offset += (u8(c) & 0xc0) != 0x80;
  }
  return {{"tokens", texts}, {"token_logprobs", own}, {"top_logprobs", top}, {"text_offset", offsets}};
}

class CompletionObject : public AnswerWriter {
 public:
  CompletionObject(std::shared_ptr<http::Reply> reply, ObjectHead head, bool logprobs, std::vector<std::string> echoes)
      : AnswerWriter(std::move(reply), u32(echoes.size())),
        head_(std::move(head)),
        logprobs_(logprobs),
        echoes_(std::move(echoes)) {}

  void complete(const Usage& usage) override {
    Json out{{"id", head_.id}, {"object", head_.object}, {"created", head_.created}, {"model", head_.model}};
    out["choices"] = Json::array();
    for (u32 i = 0; i < choices_.size(); ++i) {
      size_t offset = echoes_[i].size();
      out["choices"].push_back({{"index", i},
                                {"text", echoes_[i] + choices_[i].content},
                                {"logprobs", logprobs_ ? logprobs_of(choices_[i].tokens, offset) : Json()},
                                {"finish_reason", choices_[i].finish}});
    }
    out["usage"] = to_json(usage);
    reply_->send({.body = to_text(out)});
  }

 private:
  ObjectHead head_;
  bool logprobs_;
  std::vector<std::string> echoes_;
};

class CompletionChunks : public AnswerWriter {
 public:
  CompletionChunks(std::shared_ptr<http::Reply> reply, ObjectHead head, bool logprobs, bool include_usage,
                   std::vector<std::string> echoes)
      : AnswerWriter(std::move(reply), u32(echoes.size())),
        stream_(*reply_, std::move(head), include_usage),
        logprobs_(logprobs),
        echoes_(std::move(echoes)),
        offsets_(echoes_.size()) {}

  void content(u32 choice, std::string_view text, std::vector<TokenReport> tokens) override {
    Json logprobs = logprobs_ ? logprobs_of(tokens, offsets_[choice]) : Json();
    send(choice, std::exchange(echoes_[choice], {}) + std::string(text), std::move(logprobs), nullptr);
  }
  void finish(u32 choice, const std::string& reason) override {
    send(choice, std::exchange(echoes_[choice], {}), nullptr, reason);
  }
  void complete(const Usage& usage) override { stream_.end(usage); }
  void fail(const ApiError& error) override { stream_.fail(error); }
  void ping() override { stream_.ping(); }

 private:
  void send(u32 choice, std::string text, Json logprobs, Json reason) {
    stream_.send(Json::array({{{"index", choice},
                               {"text", std::move(text)},
                               {"logprobs", std::move(logprobs)},
                               {"finish_reason", std::move(reason)}}}));
  }

  ChunkStream stream_;
  bool logprobs_;
  std::vector<std::string> echoes_;
  std::vector<size_t> offsets_;
};

}  // namespace

std::unique_ptr<AnswerWriter> completion_object(std::shared_ptr<http::Reply> reply, ObjectHead head, bool logprobs,
                                                std::vector<std::string> echoes) {
  return std::make_unique<CompletionObject>(std::move(reply), std::move(head), logprobs, std::move(echoes));
}

std::unique_ptr<AnswerWriter> completion_chunks(std::shared_ptr<http::Reply> reply, ObjectHead head, bool logprobs,
                                                bool include_usage, std::vector<std::string> echoes) {
  return std::make_unique<CompletionChunks>(std::move(reply), std::move(head), logprobs, include_usage,
                                            std::move(echoes));
}

}  // namespace pteron::server
