// SPDX-License-Identifier: BSD-3-Clause
// A page that calls the WebAssembly module's functions in any order, with any records and numbers.
// Of the caller only this is taken for granted: objects are those that it was given and has not released, the engine
// goes last, and what it says is in memory is there.
#include "fuzz.h"
#include "runtime/device_inside.h"
#include "support/stamping_device.h"
#include "wasm/abi.h"

#include <algorithm>
#include <cstring>

// src/wasm has them for the page, which knows them by name.
namespace pteron::wasm {

struct ChatHandle;
ProgramHandle* begin_program(Engine*, const char*, u32);
void release_program(ProgramHandle*);
const NeedRecord* next(ProgramHandle*);
std::byte* program_buffer(ProgramHandle*, f64);
Answer supply(ProgramHandle*, u32);
Answer poll(ProgramHandle*);
Answer describe_program(ProgramHandle*);
Answer program_language(ProgramHandle*);
const NeedRecord* locate(ProgramHandle*, const char*, u32);
Answer report(ProgramHandle*, const char*, u32);
Answer begin_method(ProgramHandle*, const char*, u32);
void cancel_method(ProgramHandle*);
MethodHandle* finish_method(ProgramHandle*);
void release_method(MethodHandle*);
Answer describe_method(MethodHandle*);
std::byte* method_buffer(MethodHandle*, u32);
Answer begin_method(MethodHandle*, u32, u32);
Answer finish_method(MethodHandle*);
const TensorRecord* method_outputs(MethodHandle*);
Answer reset(MethodHandle*);
Answer rewind(MethodHandle*, u32);
MethodHandle* clone(MethodHandle*);
void profile(MethodHandle*, bool);
Answer times(MethodHandle*);
Answer stats(MethodHandle*);
ChatHandle* create_chat(ProgramHandle*, const std::byte*, u32, const char*, u32);
void release_chat(ChatHandle*);
Answer describe_chat(ChatHandle*);
Answer start_chat(ChatHandle*, const char*, u32);
Answer begin_chat(ChatHandle*);
Answer finish_chat(ChatHandle*);
Answer chat_piece(ChatHandle*);
Answer cancel_chat(ChatHandle*);
Answer chat_summary(ChatHandle*);
Answer reset_chat(ChatHandle*);
void profile_chat(ChatHandle*, bool);
Answer chat_times(ChatHandle*);
Answer open_engine(Engine*, const char*, u32);
Answer check_engine(Engine*);
Answer describe_engine(Engine*);
Answer engine_usage(Engine*);

}  // namespace pteron::wasm

namespace pteron::fuzz {
namespace {

using namespace wasm;

constexpr u64 device_bytes = 64u << 20;
constexpr u32 most_calls = 200, most_objects = 4;
constexpr std::string_view form = "{% for m in messages %}{{ m.content }}{% endfor %}";

// What the page does next, byte by byte; zeros when there are no more.
class Script {
 public:
  explicit Script(Bytes bytes) : left_(bytes) {}
  bool ended() const { return left_.empty(); }
  u8 byte() { return left_.empty() ? 0 : u8(take(1)[0]); }
  // A number that someone might get wrong.
  u32 number() {
    constexpr u32 likely[] = {0, 1, 2, 3, 4, 8, 64, 1000, 1u << 16, 1u << 31, UINT32_MAX, UINT32_MAX - 3};
    const u8 kind = byte();
    if (kind < std::size(likely)) return likely[kind];
    return u32(kind) | u32(byte()) << 8;
  }
  f64 real() {
    f64 out = number();
    if (const u8 kind = byte(); kind >= 250) std::memcpy(&out, padded(sizeof out).data(), sizeof out);
    return out;
  }
  std::string_view text() { return text_of(take(std::min<size_t>(byte(), left_.size()))); }
  Bytes bytes(size_t size) { return take(std::min(size, left_.size())); }

 private:
  Bytes take(size_t size) {
    const Bytes out = left_.first(size);
    left_ = left_.subspan(size);
    return out;
  }
  std::vector<std::byte> padded(size_t size) {
    const Bytes found = bytes(size);
    std::vector<std::byte> out(found.begin(), found.end());
    out.resize(size);
    return out;
  }
  Bytes left_;
};

// Numbers of bytes: of the script, and of the program behind it; the rest is a tokenizer.
struct Parts {
  Bytes script, program, tokenizer;
  static Parts of(Bytes input) {
    u32 sizes[2] = {};
    std::memcpy(sizes, input.data(), std::min(sizeof sizes, input.size()));
    Bytes rest = input.subspan(std::min(sizeof sizes, input.size()));
    const auto take = [&](size_t size) {
      const Bytes out = rest.first(std::min(size, rest.size()));
      rest = rest.subspan(out.size());
      return out;
    };
    const Bytes script = take(sizes[0]), program = take(sizes[1]);
    return {script, program, rest};
  }
};

class Page {
 public:
  Page(const Parts& parts, Engine& engine) : parts_(parts), script_(parts.script), engine_(engine) {}
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;
  ~Page() {
    for (ChatHandle* chat : chats_) release_chat(chat);
    for (MethodHandle* method : methods_) release_method(method);
    for (ProgramHandle* program : programs_) release_program(program);
  }

  void go() {
    for (u32 call = 0; call < most_calls && !script_.ended(); ++call) {
      switch (script_.byte() % 4) {
        case 0: use_engine(); break;
        case 1:
          if (ProgramHandle* program = chosen(programs_)) use(*program);
          break;
        case 2:
          if (MethodHandle* method = chosen(methods_)) use(*method);
          break;
        case 3:
          if (ChatHandle* chat = chosen(chats_)) use(*chat);
          break;
      }
    }
  }

 private:
  template <class T>
  T* chosen(const std::vector<T*>& objects) {
    const u8 index = script_.byte();
    return objects.empty() ? nullptr : objects[index % objects.size()];
  }
  template <class T>
  void keep(std::vector<T*>& objects, T* object, void (*release)(T*)) {
    if (!object) return;
    if (objects.size() < most_objects)
      objects.push_back(object);
    else
      release(object);
  }
  template <class T>
  void drop(std::vector<T*>& objects, T& object, void (*release)(T*)) {
    std::erase(objects, &object);
    release(&object);
  }

  void use_engine() {
    switch (script_.byte() % 5) {
      case 0: {
        const std::string right = str(R"({"files": [{"name": "model.pte", "size": )", parts_.program.size(), "}]}");
        const std::string_view text = script_.byte() < 200 ? std::string_view(right) : script_.text();
        keep(programs_, begin_program(&engine_, text.data(), u32(text.size())), release_program);
        break;
      }
      case 1: check_engine(&engine_); break;
      case 2: describe_engine(&engine_); break;
      case 3: engine_usage(&engine_); break;
      case 4: {
        Engine closed;
        check_engine(&closed), describe_engine(&closed), engine_usage(&closed);
        const std::string_view text = "{}";
        if (ProgramHandle* program = begin_program(&closed, text.data(), u32(text.size()))) release_program(program);
      }
    }
  }

  // Brings what is asked for, as a page does.
  void drive(ProgramHandle& program) {
    for (u32 round = 0; round < 64; ++round) {
      const NeedRecord need = *next(&program);
      if (need.kind == NeedRecord::nothing) return;
      if (need.kind == NeedRecord::pipelines) {
        if (poll(&program) == failed) return;
        continue;
      }
      const bool exists = need.source == 0 && need.offset + need.size <= f64(parts_.program.size());
      if (!exists) return;
      std::byte* to = program_buffer(&program, need.size);
      if (!to) return;
      std::ranges::copy(parts_.program.subspan(size_t(need.offset), size_t(need.size)), to);
      if (supply(&program, u32(need.size)) == failed) return;
    }
  }

  void use(ProgramHandle& program) {
    switch (script_.byte() % 12) {
      case 0:
      case 1: drive(program); break;
      case 2: {
        const f64 size = script_.real();
        if (size > f64(device_bytes) && size <= 0x1p30) break;  // possible, but it takes long
        if (std::byte* to = program_buffer(&program, size))
          std::ranges::copy(script_.bytes(std::min<size_t>(size_t(size), 16)), to);
        break;
      }
      case 3: supply(&program, script_.number()); break;
      case 4: poll(&program); break;
      case 5: describe_program(&program), program_language(&program); break;
      case 6: {
        const std::string_view key = script_.text();
        locate(&program, key.data(), u32(key.size()));
        report(&program, key.data(), u32(key.size()));
        report(&program, "forward", 7);
        break;
      }
      case 7: {
        const std::string_view text = script_.byte() < 160 ? R"({"name": "forward"})" : script_.text();
        begin_method(&program, text.data(), u32(text.size()));
        break;
      }
      case 8: cancel_method(&program); break;
      case 9: keep(methods_, finish_method(&program), release_method); break;
      case 10: {
        const Bytes words = parts_.tokenizer;
        keep(chats_, create_chat(&program, words.data(), u32(words.size()), form.data(), u32(form.size())),
             release_chat);
        break;
      }
      case 11: drop(programs_, program, release_program); break;
    }
  }

  // Records as the method wants them, one of which the script may have changed.
  void run(MethodHandle& method) {
    std::vector<TensorRecord> records;
    u64 bytes = 0;
    const auto& inputs = method.method.info().inputs;
    const u64 behind = inputs.size() * sizeof(TensorRecord);
    for (const ValueInfo& info : inputs) {
      TensorRecord& record =
          records.emplace_back(TensorRecord{u32(info.dtype), info.shape.rank(), {}, u32(behind + bytes), 0});
      std::ranges::copy(info.shape, record.shape);
      record.bytes = u32(std::min<u64>(info.shape.numel() * size_of(info.dtype), device_bytes));
      bytes += record.bytes;
    }
    if (behind + bytes > device_bytes) return;
    if (!records.empty() && script_.byte() >= 128) {
      auto* words = reinterpret_cast<u32*>(&records[script_.byte() % records.size()]);
      words[script_.byte() % (sizeof(TensorRecord) / 4)] = script_.number();
    }
    std::byte* to = method_buffer(&method, u32(behind + bytes));
    if (!to) return;
    std::memset(to, 0, behind + bytes);
    if (!records.empty()) std::memcpy(to, records.data(), behind);
    begin_method(&method, u32(records.size()), 0);
  }

  void use(MethodHandle& method) {
    switch (script_.byte() % 10) {
      case 0:
      case 1: run(method); break;
      case 2: {
        const u32 size = std::min(script_.number(), 1u << 20);
        if (std::byte* to = method_buffer(&method, size)) std::ranges::copy(script_.bytes(size), to);
        break;
      }
      case 3: {
        const u32 inputs = script_.number();
        begin_method(&method, inputs, script_.number());
        break;
      }
      case 4: finish_method(&method); break;
      case 5: method_outputs(&method); break;
      case 6: reset(&method); break;
      case 7: rewind(&method, script_.number()); break;
      case 8: keep(methods_, clone(&method), release_method); break;
      case 9:
        describe_method(&method), times(&method), stats(&method), profile(&method, script_.byte() & 1);
        if (script_.byte() < 64) drop(methods_, method, release_method);
        break;
    }
  }

  void use(ChatHandle& chat) {
    switch (script_.byte() % 8) {
      case 0: {
        constexpr std::string_view right =
            R"({"messages": [{"role": "user", "content": "ab"}], "options": {"maxTokens": 4}})";
        const std::string_view text = script_.byte() < 128 ? right : script_.text();
        start_chat(&chat, text.data(), u32(text.size()));
        break;
      }
      case 1:
      case 2: begin_chat(&chat); break;
      case 3: finish_chat(&chat); break;
      case 4: chat_piece(&chat), chat_summary(&chat); break;
      case 5: cancel_chat(&chat); break;
      case 6: reset_chat(&chat); break;
      case 7:
        describe_chat(&chat), chat_times(&chat), profile_chat(&chat, script_.byte() & 1);
        if (script_.byte() < 64) drop(chats_, chat, release_chat);
        break;
    }
  }

  const Parts& parts_;
  Script script_;
  Engine& engine_;
  std::vector<ProgramHandle*> programs_;
  std::vector<MethodHandle*> methods_;
  std::vector<ChatHandle*> chats_;
};

}  // namespace

void target(Bytes input) {
  Engine engine;
  engine.device = make_device(std::make_shared<graph::Context>(std::make_shared<test::StampingDevice>(device_bytes)));
  const Parts parts = Parts::of(input);
  Page(parts, engine).go();
}

}  // namespace pteron::fuzz
