// SPDX-License-Identifier: BSD-3-Clause
#include "differential/hostile/opinion.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

namespace pteron::differential {
namespace {

constexpr u32 most_seconds = 20;
constexpr u64 most_bytes = u64(2) << 30;

void send_all(int to, const void* data, size_t size) {
  for (const char* at = static_cast<const char*>(data); size > 0;) {
    const ssize_t sent = write(to, at, size);
    if (sent <= 0) _exit(1);
    at += sent;
    size -= size_t(sent);
  }
}

bool receive_all(int from, void* data, size_t size) {
  for (char* at = static_cast<char*>(data); size > 0;) {
    const ssize_t got = read(from, at, size);
    if (got <= 0) return false;
    at += got;
    size -= size_t(got);
  }
  return true;
}

// Numbers and bytes behind each other, in front of them how many there are.
class Letter {
 public:
  void add(u64 v) { add(&v, sizeof v); }
  void add(const void* data, size_t size) {
    const auto* first = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), first, first + size);
  }
  void send(int to) const {
    const u64 size = bytes_.size();
    send_all(to, &size, sizeof size);
    send_all(to, bytes_.data(), bytes_.size());
  }

  bool receive(int from) {
    u64 size = 0;
    if (!receive_all(from, &size, sizeof size)) return false;
    bytes_.resize(size);
    return receive_all(from, bytes_.data(), size);
  }
  bool empty() const { return bytes_.empty(); }
  u64 take() {
    u64 v = 0;
    take(&v, sizeof v);
    return v;
  }
  void take(void* to, size_t size) {
    if (size > bytes_.size() - at_) throw std::runtime_error("the letter ends early");
    std::memcpy(to, bytes_.data() + at_, size);
    at_ += size;
  }

 private:
  std::vector<std::byte> bytes_;
  size_t at_ = 0;
};

void add(Letter& letter, const Outputs& outputs) {
  letter.add(outputs.size());
  for (const auto& step : outputs) {
    letter.add(step.size());
    for (const reference::Array& a : step) {
      for (const u64 v : {u64(a.dtype), u64(a.dims.size()), u64(a.data.size())}) letter.add(v);
      letter.add(a.dims.data(), a.dims.size() * 8);
      letter.add(a.data.data(), a.data.size() * 8);
    }
  }
}

Outputs take_outputs(Letter& letter) {
  Outputs out(letter.take());
  for (auto& step : out) {
    step.resize(letter.take());
    for (reference::Array& a : step) {
      a.dtype = DType(letter.take());
      a.dims.resize(letter.take());
      a.data.resize(letter.take());
      letter.take(a.dims.data(), a.dims.size() * 8);
      letter.take(a.data.data(), a.data.size() * 8);
    }
  }
  return out;
}

Letter question(const std::vector<std::byte>& program, const std::vector<Step>& steps, u32 runs) {
  Letter out;
  out.add(runs);
  out.add(program.size());
  out.add(program.data(), program.size());
  out.add(steps.size());
  for (const Step& step : steps) {
    out.add(step.reset);
    out.add(step.inputs.size());
    for (const Tensor& t : step.inputs) {
      out.add(u64(t.dtype()));
      out.add(t.shape().rank());
      for (u32 d : t.shape()) out.add(d);
      out.add(t.bytes().data(), t.bytes().size());
    }
  }
  return out;
}

Letter answer(Letter asked) {
  const u32 runs = u32(asked.take());
  std::vector<std::byte> program(asked.take());
  asked.take(program.data(), program.size());
  Sample sample;
  sample.steps.resize(asked.take());
  for (Step& step : sample.steps) {
    step.reset = asked.take() != 0;
    const u64 inputs = asked.take();
    for (u64 i = 0; i < inputs; ++i) {
      const DType dtype = DType(asked.take());
      Shape shape;
      for (u64 left = asked.take(); left > 0; --left) shape.push_back(u32(asked.take()));
      Tensor t(dtype, shape);
      asked.take(t.bytes().data(), t.bytes().size());
      step.inputs.push_back(std::move(t));
    }
  }
  const Expected expected = expect(program, sample, runs);
  Letter out;
  add(out, expected.values);
  add(out, expected.slack);
  return out;
}

// One question in a child that may come to any end but says all or nothing.
void answer_in_child(int to, const Letter& asked) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit memory{most_bytes, most_bytes}, core{0, 0};
    setrlimit(RLIMIT_DATA, &memory);
    setrlimit(RLIMIT_CORE, &core);
    alarm(most_seconds);
    try {
      const Letter out = answer(asked);
      alarm(0);
      out.send(to);
    } catch (const std::exception&) {
      _exit(1);
    }
    _exit(0);
  }
  int status = 1;
  if (child > 0) waitpid(child, &status, 0);
  if (status != 0) Letter().send(to);
}

int connection = -1;

}  // namespace

void start_reference() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return;
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    for (Letter asked; asked.receive(ends[1]); asked = Letter()) answer_in_child(ends[1], asked);
    _exit(0);
  }
  close(ends[1]);
  connection = ends[0];
}

std::optional<Expected> ask_reference(const std::vector<std::byte>& program, const std::vector<Step>& steps, u32 runs) {
  question(program, steps, runs).send(connection);
  Letter answered;
  if (!answered.receive(connection) || answered.empty()) return std::nullopt;
  Expected out{take_outputs(answered), {}};
  out.slack = take_outputs(answered);
  return out;
}

}  // namespace pteron::differential
