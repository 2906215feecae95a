// SPDX-License-Identifier: BSD-3-Clause
// The C interface of the WebAssembly module; web/src/module.ts calls it. Objects are pointers that the caller
// releases, the engine last. A call that can fail answers `failed` (or no object) and leaves the error in the engine's
// text, as {"kind", "message"}; calls that describe something leave that text, as JSON.
#pragma once

#include "base/error.h"
#include "llm/json/json.h"
#include "runtime/streamed_program.h"

#ifdef __wasm__
#define PTERON_EXPORT(name) __attribute__((export_name(#name)))
#else
#define PTERON_EXPORT(name)  // for fuzz/wasm_interface.cpp
#endif

namespace pteron::wasm {

enum Answer : i32 { failed = -1, no = 0, ok = 1 };

// One per module: the page gave it one GPU.
struct Engine {
  std::optional<Device> device;
  std::string text;

  Answer tell(const Json& json);
  Answer fail(const Error& error);
  Answer done(const Status& status) { return status ? ok : fail(status.error()); }
  Status check_open() const;  // whether it has its GPU
};

// What a program waits for and how far it is.
struct NeedRecord {
  enum Kind : u32 { nothing, data, pipelines } kind;
  enum Phase : u32 { program, weights, compiling } phase;
  f64 source, offset, size;  // for data: bytes of which file
  f64 done, total;           // progress in its phase
};

struct ProgramHandle {
  Engine& engine;
  StreamedProgram stream;
  std::vector<std::byte> buffer;  // the caller writes here what supply takes
  NeedRecord need;
};

struct TensorRecord {
  u32 dtype;
  u32 rank;
  u32 shape[Shape::max_rank];
  u32 data;  // inputs: an offset in the buffer; outputs: a pointer
  u32 bytes;
};

struct MethodHandle {
  Engine& engine;
  Method method;
  // The caller writes here: a record for each input, the numbers of wanted outputs, the inputs' bytes.
  std::vector<std::byte> buffer{};
  std::vector<TensorView> inputs{};
  OutputSet wanted{};
  std::vector<TensorRecord> outputs{};
  bool under_way = false;  // a step, from begin until finish has an answer
};

// A number of a JSON object, or `otherwise` if it has none of that name.
f64 number(const Json& json, const char* name, f64 otherwise);
bool flag(const Json& json, const char* name, bool otherwise);
std::string text(const Json& json, const char* name, std::string otherwise);

Json describe(const MethodInfo& info);
Json describe(const MethodOptions& options);
Json describe(const std::vector<OpTiming>& times);

}  // namespace pteron::wasm
