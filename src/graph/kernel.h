// SPDX-License-Identifier: BSD-3-Clause
// A kernel is a plain .wgsl file. A specialisation puts declarations in front of it: constants, type aliases, accessors
// of tensors by dtype, generated functions. No template language.
#pragma once

#include "gpu/device.h"

#include <pteron/dtype.h>

#include <array>
#include <string>
#include <string_view>

namespace pteron::graph {

// One embedded file; the build parses the bindings and the `//! use` lines out of it.
struct KernelSource {
  std::string_view name;  // "rms_norm"
  std::string_view source;
  std::span<const gpu::BindingKind> bindings;
  std::span<const std::string_view> snippets;  // names of the shared files it uses, in order
  bool subgroups = false;                      // `//! enable subgroups`
  bool f16 = false;                            // `//! enable f16`
  bool variadic = false;                       // `//! variadic`: tensors are bound by the specialisation
  bool ends = false;                           // `//! ends`: all loops end, whatever the parameters
};

// How an input is read for four neighbours of an output that it broadcasts to.
enum class Access : u32 {
  flat,       // the shapes agree
  single,     // always its one element
  rows,       // by a walk through rows of whole quads
  scattered,  // by a walk
};

// The declarations in front of a kernel. A small value: building and comparing one allocates nothing. Names and code
// must outlive it (string literals, or text that the op owns).
class Spec {
 public:
  Spec& flag(std::string_view name, bool value) { return add(Entry::flag, name, value); }
  Spec& num(std::string_view name, u32 value) { return add(Entry::num, name, value); }
  Spec& type(std::string_view name, DType value) { return add(Entry::type, name, u32(value)); }
  // For a binding `var<storage, …> NAME: array<NAME_store>`: NAME_get(i), NAME_val and, for outputs, NAME_unit,
  // NAME_units (an array of that many) and NAME_put(unit, values). Bytes are packed four to a word, so a thread writes
  // NAME_unit elements at once.
  Spec& input(std::string_view name, DType value) { return add(Entry::input, name, u32(value)); }
  Spec& output(std::string_view name, DType value) { return add(Entry::output, name, u32(value)); }
  // The same for a variadic kernel, with the declaration of the binding; they are numbered in order, from 1.
  Spec& bind_input(std::string_view name, DType value) { return add(Entry::bound_input, name, u32(value)); }
  Spec& bind_output(std::string_view name, DType value) { return add(Entry::bound_output, name, u32(value)); }
  // In quads, four elements at a time whatever the type: NAME_get(i), NAME_val, NAME_quad(q) -> vec4<NAME_val> and, for
  // outputs, NAME_put(q, values). Memory is padded to 16 bytes, so the last quad is read and written whole.
  Spec& input_quads(std::string_view name, DType value) { return add(Entry::input_quads, name, u32(value)); }
  Spec& output_quads(std::string_view name, DType value) { return add(Entry::output_quads, name, u32(value)); }
  Spec& bind_input_quads(std::string_view name, DType value) { return add(Entry::bound_input_quads, name, u32(value)); }
  Spec& bind_output_quads(std::string_view name, DType value) {
    return add(Entry::bound_output_quads, name, u32(value));
  }
  // The same for what the kernel reads as well.
  Spec& bind_updated_quads(std::string_view name, DType value) {
    return add(Entry::bound_updated_quads, name, u32(value));
  }
  // For a variadic kernel, what is not there: an input whose elements all are `value`, an output that takes nothing.
  Spec& absent_input(std::string_view name, u32 value) { return add(Entry::absent_input, name, value); }
  Spec& absent_input_quads(std::string_view name, DType value) { return add(Entry::absent_quads, name, u32(value)); }
  Spec& absent_output(std::string_view name, DType value) { return add(Entry::absent_output, name, u32(value)); }
  Spec& absent_output_quads(std::string_view name) { return add(Entry::absent_output_quads, name, 0); }
  // For a variadic kernel, floats that are kept as halves, on devices without half precision too: NAME_get(i) -> f32
  // and NAME_quad(q) -> vec4f.
  Spec& bind_halves(std::string_view name) { return add(Entry::halves, name, 0); }
  // For a variadic kernel, an array of a WGSL type under its own name: "vec4f", "vec4u", …
  Spec& bind_array(std::string_view name, std::string_view type, gpu::BindingKind kind = gpu::BindingKind::read) {
    return add(kind == gpu::BindingKind::read ? Entry::array : Entry::writable_array, name, 0, type);
  }
  // One that every thread reads at the same place: constant memory, up to 64 KiB. Binds `count` elements of 16 bytes.
  Spec& bind_uniform(std::string_view name, std::string_view type, u32 count) {
    return add(Entry::uniform_array, name, count, type);
  }
  // A shared snippet that only some specialisations use.
  Spec& use(std::string_view snippet) { return add(Entry::snippet, snippet, 0); }
  // Whole declarations.
  Spec& code(std::string_view wgsl) { return add(Entry::code, wgsl, 0); }
  // fn NAME_at(q) -> vec4<V>: what an input in quads, the `list`-th that is walked through, has for quad q of the
  // output.
  Spec& load(std::string_view name, Access access, u32 list) { return add(Entry::load, name, u32(access) + 4 * list); }
  // fn elements(q) -> vec4<y_val>: a WGSL expression for each element of quad q. It is over a, b, … of type V, which
  // are loaded by a_at(q) … (without any: over the element's index i), and over the parameters s0, s1 and s2.
  Spec& expression(std::string_view wgsl, u32 arity) { return add(Entry::expression, wgsl, arity); }

  friend bool operator==(const Spec& a, const Spec& b) {
    if (a.count_ != b.count_) return false;
    for (u32 i = 0; i < a.count_; ++i)
      if (!(a.entries_[i] == b.entries_[i])) return false;
    return true;
  }

  // True if there were more declarations than it holds; it can't be used then.
  bool overflows() const { return overflows_; }
  bool uses_f16() const;
  struct Bindings {
    u32 count = 0;
    u32 updated = 0;  // a bit for each that is read and written
  };
  // The bindings that bind_input and bind_output make, behind the parameters.
  Bindings bindings(std::span<gpu::BindingKind> out) const;
  std::string declarations() const;
  template <class Fn>
  void each_snippet(Fn fn) const {
    for (u32 i = 0; i < count_; ++i)
      if (entries_[i].kind == Entry::snippet) fn(entries_[i].name);
  }

 private:
  struct Entry {
    enum Kind : u8 {
      flag,
      num,
      type,
      input,
      output,
      bound_input,
      bound_output,
      input_quads,
      output_quads,
      bound_input_quads,
      bound_output_quads,
      bound_updated_quads,
      absent_quads,
      absent_output,
      absent_input,
      absent_output_quads,
      halves,
      array,
      writable_array,
      uniform_array,
      snippet,
      code,
      load,
      expression
    } kind = flag;
    std::string_view name;
    std::string_view wgsl_type;
    u32 value = 0;
    friend bool operator==(const Entry& a, const Entry& b) {
      return a.kind == b.kind && a.value == b.value && a.name == b.name && a.wgsl_type == b.wgsl_type;
    }
  };
  Spec& add(Entry::Kind kind, std::string_view name, u32 value, std::string_view type = {});

  u32 count_ = 0;
  bool overflows_ = false;
  std::array<Entry, 32> entries_{};
};

// A kernel with its specialisation.
class Kernel {
 public:
  Kernel(const KernelSource& source, const Spec& spec = {});

  const KernelSource& source() const { return *source_; }
  const Spec& spec() const { return spec_; }
  std::span<const gpu::BindingKind> bindings() const { return std::span(kinds_).first(count_); }
  // Whether a binding is read, as far as its declaration says: one that is read and written may be for writing only.
  bool reads(u32 binding) const { return kinds_[binding] != gpu::BindingKind::read_write || updated_ >> binding & 1; }
  friend bool operator==(const Kernel& a, const Kernel& b) { return a.source_ == b.source_ && a.spec_ == b.spec_; }

 private:
  const KernelSource* source_;
  Spec spec_;
  std::array<gpu::BindingKind, 16> kinds_{};
  u32 count_ = 0, updated_ = 0;
};

// Of a workgroup, as the text says; 0 if it can't be told.
u32 threads_of(const Kernel& kernel);

// The whole WGSL text of a specialisation, ready for the port.
gpu::PipelineSpec assemble(const Kernel& kernel);

// A shared file by name.
std::string_view find_snippet(std::string_view name);
std::span<const KernelSource* const> all_kernels();

constexpr u32 elements_per_unit(DType t) { return size_of(t) == 1 ? 4 : 1; }

}  // namespace pteron::graph
