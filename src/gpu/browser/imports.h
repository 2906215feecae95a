// SPDX-License-Identifier: BSD-3-Clause
// What the page gives to the module: its side is web/src/gpu.ts, which owns the GPUDevice and knows every object by a
// number (0 is none). Sizes and offsets pass as doubles, since 64-bit integers would be BigInts there. Lists are passed
// as pointers to the port's own structs, so a whole submission crosses the border in one call.
#pragma once

#include "gpu/device.h"

#define PTERON_IMPORT(name) __attribute__((import_module("pteron_gpu"), import_name(name)))

namespace pteron::gpu::browser::imports {

enum class Number : u32 {
  adapter_is_software,
  max_buffer_bytes,
  max_storage_binding_bytes,
  max_uniform_binding_bytes,
  max_storage_buffers,
  max_workgroup_bytes,
  max_invocations,
  max_workgroups,
  has_f16,
  has_subgroups,
  subgroup_min,
  subgroup_max,
  has_timestamps,
};

enum class Text : u32 {
  adapter_name,
  adapter_driver,
  failure,         // why health is not healthy
  pipeline_error,  // of the pipeline `id`
};

enum class Object : u32 { buffer, pipeline, bind_group };
enum class Progress : u32 { pending, done, failed };
enum class Health : u32 { healthy, out_of_memory, device_lost, internal };

extern "C" {
PTERON_IMPORT("number") f64 pteron_gpu_number(Number what);
// Copies at most `capacity` bytes; answers how long the text is.
PTERON_IMPORT("text") u32 pteron_gpu_text(Text what, Id id, char* into, u32 capacity);
PTERON_IMPORT("health") Health pteron_gpu_health();

PTERON_IMPORT("create_buffer") Id pteron_gpu_create_buffer(f64 size, BufferUse use, const char* label, u32 length);
PTERON_IMPORT("buffer_size") f64 pteron_gpu_buffer_size(Id buffer);
PTERON_IMPORT("create_bind_group")
Id pteron_gpu_create_bind_group(Id pipeline, const BindingRange* bindings, u32 count, const char* label, u32 length);
// Starts compiling; with `now` the pipeline can be used at once and an error shows in health.
PTERON_IMPORT("create_pipeline")
Id pteron_gpu_create_pipeline(const char* label, u32 label_length, const char* source, u32 source_length,
                              const BindingKind* bindings, u32 count, bool now);
PTERON_IMPORT("poll_pipeline") Progress pteron_gpu_poll_pipeline(Id pipeline);
PTERON_IMPORT("destroy") void pteron_gpu_destroy(Object kind, Id id);

PTERON_IMPORT("write") void pteron_gpu_write(Id buffer, f64 offset, const std::byte* bytes, u32 size);
PTERON_IMPORT("submit")
void pteron_gpu_submit(const Fill* fills, u32 fill_count, const Copy* copies_before, u32 copies_before_count,
                       const Dispatch* dispatches, u32 dispatch_count, const Copy* copies_after, u32 copies_after_count,
                       bool timed);
// How long each dispatch of the last timed submission took, in nanoseconds, once a read behind it is done.
PTERON_IMPORT("durations") void pteron_gpu_durations(u64* into, u32 count);
PTERON_IMPORT("begin_read") void pteron_gpu_begin_read(Id buffer, u32 size);
// Copies the bytes when they are there.
PTERON_IMPORT("poll_read") Progress pteron_gpu_poll_read(Id buffer, std::byte* into, u32 size);
}

// The layouts that gpu.ts reads.
static_assert(sizeof(BindingRange) == 24 && offsetof(BindingRange, offset) == 8 && offsetof(BindingRange, size) == 16);
static_assert(sizeof(Fill) == 24 && offsetof(Fill, offset) == 8 && offsetof(Fill, size) == 16);
static_assert(sizeof(Copy) == 40 && offsetof(Copy, source_offset) == 8 && offsetof(Copy, target) == 16 &&
              offsetof(Copy, target_offset) == 24 && offsetof(Copy, size) == 32);
static_assert(sizeof(Dispatch) == 24 && offsetof(Dispatch, params_offset) == 8 && offsetof(Dispatch, z) == 20);
static_assert(sizeof(BindingKind) == 1 && u32(BindingKind::read_write) == 2 && u32(BufferUse::readback) == 1);

}  // namespace pteron::gpu::browser::imports

#undef PTERON_IMPORT
