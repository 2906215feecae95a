// SPDX-License-Identifier: BSD-3-Clause
// The engine of a module: errors, its GPU, what it can do.
#include "base/os.h"
#include "graph/op.h"
#include "runtime/device_inside.h"
#include "wasm/abi.h"

#include <pteron/version.h>

#include <cstdlib>

namespace pteron::wasm {

Answer Engine::tell(const Json& json) {
  text = json.dump();
  return ok;
}

Answer Engine::fail(const Error& error) {
  tell({{"kind", name_of(error.kind)}, {"message", error.to_string()}});
  return failed;
}

Status Engine::check_open() const {
  if (!device) return invalid("the engine has no GPU yet; call pteron_engine_open first");
  return {};
}

f64 number(const Json& json, const char* name, f64 otherwise) {
  return json[name].is_number() ? json[name].number() : otherwise;
}

bool flag(const Json& json, const char* name, bool otherwise) { return json[name].flag(otherwise); }

std::string text(const Json& json, const char* name, std::string otherwise) {
  if (const std::string* given = json[name].text()) return *given;
  return otherwise;
}

PTERON_EXPORT(pteron_allocate) void* allocate(u32 bytes) { return std::malloc(bytes); }
PTERON_EXPORT(pteron_free) void release_bytes(void* bytes) { std::free(bytes); }

PTERON_EXPORT(pteron_engine_create) Engine* create_engine() { return new Engine; }
PTERON_EXPORT(pteron_engine_release) void release_engine(Engine* engine) { delete engine; }
PTERON_EXPORT(pteron_engine_text) const char* engine_text(const Engine* engine) { return engine->text.data(); }
PTERON_EXPORT(pteron_engine_text_size) u32 engine_text_size(const Engine* engine) { return u32(engine->text.size()); }

// Options: f16, subgroups, requireGpu.
PTERON_EXPORT(pteron_engine_open) Answer open_engine(Engine* engine, const char* options, u32 length) {
  const auto json = Json::parse({options, length});
  if (!json || !json->object())
    return engine->fail({ErrorKind::invalid, "the engine's options are no JSON object", {}});
  DeviceOptions device;
  device.f16 = flag(*json, "f16", true);
  device.subgroups = flag(*json, "subgroups", true);
  device.require_gpu = flag(*json, "requireGpu", false);
  auto opened = Device::open(device);
  if (!opened) return engine->fail(opened.error());
  engine->device = *std::move(opened);
  return ok;
}

// Whether the GPU still works.
PTERON_EXPORT(pteron_engine_check) Answer check_engine(Engine* engine) {
  if (const Status open = engine->check_open(); !open) return engine->fail(open.error());
  return engine->done(context_of(*engine->device)->device().health());
}

PTERON_EXPORT(pteron_engine_describe) Answer describe_engine(Engine* engine) {
  if (const Status open = engine->check_open(); !open) return engine->fail(open.error());
  Json ops = Json::Array();
  for (const graph::OpList& list : graph::all_ops())
    for (const graph::OpEntry& entry : list) ops.push_back(entry.name);
  const AdapterDescription& a = engine->device->adapter();
  return engine->tell({{"version", version()},
                       {"ops", std::move(ops)},
                       {"adapter",
                        {{"name", a.name},
                         {"driver", a.driver},
                         {"software", a.software},
                         {"f16", a.f16},
                         {"subgroups", a.subgroups},
                         {"maxBufferBytes", a.max_buffer_bytes},
                         {"maxBindingBytes", a.max_binding_bytes}}}});
}

PTERON_EXPORT(pteron_engine_usage) Answer engine_usage(Engine* engine) {
  if (const Status open = engine->check_open(); !open) return engine->fail(open.error());
  const GpuUsage u = engine->device->usage();
  return engine->tell({{"buffers", u.buffers},
                       {"bufferBytes", u.buffer_bytes},
                       {"peakBufferBytes", u.peak_buffer_bytes},
                       {"pipelines", u.pipelines},
                       {"bindGroups", u.bind_groups},
                       {"creates", u.creates},
                       {"writes", u.writes},
                       {"writtenBytes", u.written_bytes},
                       {"submits", u.submits},
                       {"dispatches", u.dispatches},
                       {"heapBytes", os::resident_bytes()}});
}

}  // namespace pteron::wasm
