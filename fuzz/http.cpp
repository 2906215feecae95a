// SPDX-License-Identifier: BSD-3-Clause
// What a client sends: requests one after another, in pieces, with bodies of JSON.
#include "fuzz.h"
#include "server/api/json.h"
#include "server/http/parser.h"

namespace pteron::fuzz {

void target(Bytes input) {
  using server::http::RequestParser;
  const server::http::Limits limits;
  RequestParser parser(limits);
  std::string pending;
  const std::string_view text = text_of(input);
  const size_t piece = input.empty() ? 1 : 1 + size_t(input[0]) % 61;
  for (size_t at = 0; at < text.size(); at += piece) {
    pending += text.substr(at, piece);
    RequestParser::State state;
    while ((state = parser.feed(pending)) == RequestParser::State::complete) {
      try {
        (void)server::to_text(server::parse_body(parser.take().body));
      } catch (const server::ApiError&) {  // refused
      }
    }
    if (state == RequestParser::State::failed) return;
  }
}

}  // namespace pteron::fuzz
