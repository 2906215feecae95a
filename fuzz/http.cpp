// SPDX-License-Identifier: BSD-3-Clause
// What a client sends to a server with two small models and an encoder: requests one after another, in pieces.
// Or, with a slash in front, a path and in the next line a body, which can change without its length being wrong.
// A client can't make the server answer that it is broken.
#include "base/error.h"
#include "base/os.h"
#include "fuzz.h"
#include "runtime/device_inside.h"
#include "server/http/parser.h"
#include "server/service.h"
#include "support/stamping_device.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <future>

namespace pteron::fuzz {
namespace {

using namespace server;

const std::string data = PTERON_TEST_DATA "/", words = data + "tiny_tokenizer/tokenizer.json";
constexpr std::string_view knows_tools =
    "{% for t in tools %}<tool_call>{{ t.function.name }}{% endfor %}"
    "{% for m in messages %}{{ m.role }}: {{ m.content }}{{ m.tool_calls }}\n{% endfor %}";

LoadOptions without_gpu() {
  LoadOptions options;
  options.device = make_device(std::make_shared<graph::Context>(std::make_shared<test::StampingDevice>()));
  return options;
}

Result<LanguageModel> load_model(const std::string& path) {
  TRY(auto program, Program::load(path, without_gpu()));
  TRY(const auto file, os::read_file(words));
  TRY(auto tokenizer, Tokenizer::load(file));
  const bool simple = path.contains("full_logits");
  TRY(auto form, ChatTemplate::parse(simple ? "{{ messages[0].content }}" : knows_tools));
  return LanguageModel::create(std::move(program), std::move(tokenizer), std::move(form));
}

Result<std::optional<Encoder>> load_encoder(const std::string& path) {
  return Encoder::load(path, without_gpu(), words);
}

// A server without sockets.
class Server {
 public:
  Server() {
    for (const char* path :
         {"llama_tiny/rope_llama/model.pte", "llama_tiny/full_logits/model.pte", "encoder_tiny/static.pte"})
      if (!models_.add(data + path)) std::abort();
  }

  void answer(const http::Request& request) {
    const auto channel = std::make_shared<http::Channel>([] {});
    auto reply = std::make_shared<http::Reply>(channel, request, http::Limits());
    const auto status = std::make_shared<std::promise<int>>();
    reply->on_end = [status](const http::Reply& ended) { status->set_value(ended.status()); };
    service_.handle(request, std::move(reply));
    if (status->get_future().get() != 500) return;
    channel->drain([](const http::Channel::View& view) {
      std::fprintf(stderr, "%.*s\n", int(view.unsent.size()), view.unsent.data());
      return view.unsent.size();
    });
    std::abort();
  }

 private:
  ModelTable models_{load_model, load_encoder};
  Metrics metrics_;
  Scheduler scheduler_{models_, metrics_, {.kv_memory = 16u << 20}};
  Service service_{models_, scheduler_, metrics_, {.limits = {.max_tokens = 4, .max_choices = 3, .max_inputs = 8}}};
};

}  // namespace

void target(Bytes input) {
  using http::RequestParser;
  static Server server;
  const std::string_view text = text_of(input);
  if (text.starts_with('/')) {
    const size_t end = std::min(text.find('\n'), text.size());
    return server.answer({.method = "POST",
                          .path = std::string(text.substr(0, end)),
                          .body = std::string(text.substr(std::min(end + 1, text.size())))});
  }
  const http::Limits limits;
  RequestParser parser(limits);
  std::string pending;
  const size_t piece = input.empty() ? 1 : 1 + size_t(input[0]) % 61;
  for (size_t at = 0; at < text.size(); at += piece) {
    pending += text.substr(at, piece);
    RequestParser::State state;
    while ((state = parser.feed(pending)) == RequestParser::State::complete) server.answer(parser.take());
    if (state == RequestParser::State::failed) return;
  }
}

}  // namespace pteron::fuzz
