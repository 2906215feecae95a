// SPDX-License-Identifier: BSD-3-Clause
#include "server/http/parser.h"

#include "base/text.h"

#include <algorithm>
#include <charconv>

namespace pteron::server::http {
namespace {

constexpr size_t longest_line = 1024;  // between chunks

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").contains(c);
  });
}

bool has_control(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return (u8(c) < 0x20 && c != '\t') || c == 0x7f; });
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
  return out;
}

template <class T>
std::optional<T> number(std::string_view text, int base) {
  T out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

}  // namespace

RequestParser::State RequestParser::fail(int status, std::string problem) {
  status_ = status;
  problem_ = std::move(problem);
  return state_ = State::failed;
}

RequestParser::State RequestParser::feed(std::string& input) {
  if (state_ == State::head) {
    const size_t end = input.find("\r\n\r\n", searched_ > 3 ? searched_ - 3 : 0);
    if (std::min(end, input.size()) > limits_.header_bytes)
      return fail(431, str("the request's head is longer than ", limits_.header_bytes, " bytes"));
    if (end == std::string::npos) {
      searched_ = input.size();
      return state_;
    }
    const std::string head = input.substr(0, end);
    input.erase(0, end + 4);
    searched_ = 0;
    if (read_head(head) == State::failed) return state_;
  }
  return state_ == State::body ? read_body(input) : state_;
}

RequestParser::State RequestParser::read_head(std::string_view head) {
  bool first = true;
  while (!head.empty() || first) {
    const size_t end = std::min(head.find("\r\n"), head.size());
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(std::min(end + 2, head.size()));
    if (!(first ? read_request_line(line) : read_header(line))) return state_;
    first = false;
  }
  if (!read_framing()) return state_;
  return state_ = State::body;
}

bool RequestParser::read_request_line(std::string_view line) {
  const size_t a = line.find(' '), b = line.rfind(' ');
  if (a == std::string_view::npos || a == b) return fail(400, "the request line is malformed"), false;
  const std::string_view method = line.substr(0, a), version = line.substr(b + 1);
  std::string_view target = line.substr(a + 1, b - a - 1);
  if (!is_token(method) || !version.starts_with("HTTP/")) return fail(400, "the request line is malformed"), false;
  if (version != "HTTP/1.1" && version != "HTTP/1.0")
    return fail(505, "only HTTP/1.0 and HTTP/1.1 are understood"), false;
  if (target.size() > limits_.target_bytes)
    return fail(414, str("the path is longer than ", limits_.target_bytes, " bytes")), false;
  if (!target.starts_with('/') || target.contains(' ') || has_control(target))
    return fail(400, "the path is malformed"), false;
  target = target.substr(0, target.find('#'));
  const size_t query = std::min(target.find('?'), target.size());
  request_.method = method;
  request_.path = target.substr(0, query);
  request_.query = target.substr(std::min(query + 1, target.size()));
  request_.keep_alive = request_.chunked_answers = version == "HTTP/1.1";
  return true;
}

bool RequestParser::read_header(std::string_view line) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon)) || has_control(line.substr(colon)))
    return fail(400, "a header is malformed"), false;
  if (request_.headers.size() == limits_.header_count)
    return fail(431, str("there are more than ", limits_.header_count, " headers")), false;
  request_.headers.emplace_back(lower(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
  return true;
}

// How long the body is.
bool RequestParser::read_framing() {
  u32 hosts = 0;
  for (const auto& [name, value] : request_.headers) {
    if (name == "host") ++hosts;
    if (name == "expect" && lower(value) == "100-continue") expects_ = true;
    if (name == "connection" && lower(value).contains("close")) request_.keep_alive = false;
    if (name == "connection" && lower(value).contains("keep-alive")) request_.keep_alive = true;
    if (name == "transfer-encoding") {
      if (lower(value) != "chunked" || chunked_) return fail(501, "only one chunked encoding is understood"), false;
      chunked_ = true;
    }
    if (name == "content-length") {
      const auto length = number<size_t>(value, 10);
      if (!length || length_.value_or(*length) != *length) return fail(400, "Content-Length is malformed"), false;
      length_ = length;
    }
  }
  if (hosts != 1 && request_.chunked_answers) return fail(400, "there must be one Host header"), false;
  if (chunked_ && length_) return fail(400, "a body can't be chunked and have a length"), false;
  if (length_.value_or(0) > limits_.body_bytes)
    return fail(413, str("the body has ", *length_, " bytes; at most ", limits_.body_bytes, " are accepted")), false;
  return true;
}

RequestParser::State RequestParser::read_body(std::string& input) {
  if (chunked_) return read_chunks(input);
  const size_t missing = length_.value_or(0) - request_.body.size(), taken = std::min(missing, input.size());
  request_.body.append(input, 0, taken);
  input.erase(0, taken);
  if (taken == missing) state_ = State::complete;
  return state_;
}

// What was read is taken away at once: a body may come in chunks of a byte.
RequestParser::State RequestParser::read_chunks(std::string& input) {
  std::string_view rest = input;
  const State state = read_chunks(rest);
  input.erase(0, input.size() - rest.size());
  return state;
}

RequestParser::State RequestParser::read_chunks(std::string_view& rest) {
  for (;;) {
    if (chunk_ == Chunk::data) {
      const size_t taken = std::min(chunk_left_, rest.size());
      request_.body.append(rest, 0, taken);
      rest.remove_prefix(taken);
      chunk_left_ -= taken;
      if (chunk_left_ > 0) return state_;
      chunk_ = Chunk::data_end;
    }
    const size_t end = rest.substr(0, longest_line + 2).find("\r\n");
    if (end == std::string_view::npos && rest.size() >= longest_line + 2)
      return fail(400, "a chunk's header is too long");
    if (end == std::string_view::npos) return state_;
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 2);
    if (chunk_ == Chunk::data_end) {
      if (!line.empty()) return fail(400, "a chunk is longer than it says");
      chunk_ = Chunk::size;
    } else if (chunk_ == Chunk::size) {
      if (!read_chunk_size(line)) return state_;
    } else {
      if (line.empty()) return state_ = State::complete;
      if ((trailer_bytes_ += line.size()) > limits_.header_bytes) return fail(431, "the trailers are too long");
    }
  }
}

bool RequestParser::read_chunk_size(std::string_view line) {
  const auto size = number<u32>(trimmed(line.substr(0, line.find(';'))), 16);
  if (!size) return fail(400, "a chunk's size is malformed"), false;
  if (request_.body.size() + *size > limits_.body_bytes)
    return fail(413, str("the body has more than ", limits_.body_bytes, " bytes")), false;
  chunk_left_ = *size;
  chunk_ = *size == 0 ? Chunk::trailer : Chunk::data;
  return true;
}

bool RequestParser::take_expectation() { return state_ == State::body && std::exchange(expects_, false); }

Request RequestParser::take() {
  Request out = std::move(request_);
  request_ = {};
  length_.reset();
  chunked_ = expects_ = false;
  chunk_ = Chunk::size;
  chunk_left_ = trailer_bytes_ = searched_ = 0;
  state_ = State::head;
  return out;
}

}  // namespace pteron::server::http
