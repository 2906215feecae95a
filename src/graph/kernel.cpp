// SPDX-License-Identifier: BSD-3-Clause
#include "graph/kernel.h"

#include <algorithm>
#include <charconv>

namespace pteron::graph {
namespace {

std::string_view store_type(DType t) {
  switch (t) {
    case DType::f32: return "f32";
    case DType::f16: return "f16";
    case DType::i32: return "i32";
    default: return "u32";  // four bytes to a word
  }
}
std::string_view value_type(DType t) { return is_float(t) ? "f32" : "i32"; }

std::string element(std::string_view name, DType t) {
  switch (t) {
    case DType::f16: return str("f32(", name, "[i])");
    case DType::u8: return str("i32((", name, "[i >> 2u] >> ((i & 3u) * 8u)) & 255u)");
    case DType::i8: return str("(bitcast<i32>(", name, "[i >> 2u] << (24u - (i & 3u) * 8u)) >> 24u)");
    case DType::boolean: return str("select(0, 1, ((", name, "[i >> 2u] >> ((i & 3u) * 8u)) & 255u) != 0u)");
    default: return str(name, "[i]");
  }
}

// How the elements are written, up to the body of NAME_put.
std::string unit_types(std::string_view name, DType t) {
  const u32 unit = elements_per_unit(t);
  return str("const ", name, "_unit = ", unit, "u;\nalias ", name, "_units = array<", value_type(t), ", ", unit,
             ">;\nfn ", name, "_put(unit: u32, v: ", name, "_units) { ");
}

std::string accessors(std::string_view name, DType t, bool output) {
  std::string out = str("alias ", name, "_store = ", store_type(t), ";\nalias ", name, "_val = ", value_type(t), ";\n");
  out += str("fn ", name, "_get(i: u32) -> ", value_type(t), " { return ", element(name, t), "; }\n");
  if (!output) return out;
  const u32 unit = elements_per_unit(t);
  out += str(unit_types(name, t), name, "[unit] = ");
  if (unit == 1)
    out += t == DType::f16 ? "f16(v[0])" : "v[0]";
  else if (t == DType::boolean)
    out +=
        "select(0u, 1u, v[0] != 0) | select(0u, 1u << 8u, v[1] != 0) | select(0u, 1u << 16u, v[2] != 0) | select(0u, "
        "1u << 24u, v[3] != 0)";
  else
    out +=
        "(u32(v[0]) & 255u) | ((u32(v[1]) & 255u) << 8u) | ((u32(v[2]) & 255u) << 16u) | ((u32(v[3]) & 255u) << 24u)";
  return out + "; }\n";
}

// Four elements to a vector, or four bytes to a word.
std::string quad_accessors(std::string_view name, DType t, bool output) {
  const bool bytes = size_of(t) == 1;
  const std::string value = str("vec4<", value_type(t), ">");
  const std::string store = bytes ? "u32" : str("vec4<", store_type(t), ">");
  std::string out = str("alias ", name, "_store = ", store, ";\nalias ", name, "_val = ", value_type(t), ";\n");
  out += str("fn ", name, "_get(i: u32) -> ", value_type(t), " { return ");
  out += bytes ? element(name, t) : str(value_type(t), "(", name, "[i >> 2u][i & 3u])");
  out += str("; }\nfn ", name, "_quad(i: u32) -> ", value, " { return ", value, "(");
  switch (t) {
    case DType::u8: out += str("(vec4u(", name, "[i]) >> vec4u(0u, 8u, 16u, 24u)) & vec4u(255u)"); break;
    case DType::i8: out += str("bitcast<vec4i>(vec4u(", name, "[i]) << vec4u(24u, 16u, 8u, 0u)) >> vec4u(24u)"); break;
    case DType::boolean:
      out += str("(vec4u(", name, "[i]) & vec4u(255u, 255u << 8u, 255u << 16u, 255u << 24u)) != vec4u(0u)");
      break;
    default: out += str(name, "[i]");
  }
  out += "); }\n";
  if (!output) return out;
  out += str("fn ", name, "_put(i: u32, four: ", value, ") { ");
  if (t == DType::boolean)
    out += "let w = select(vec4u(0u), vec4u(1u, 1u << 8u, 1u << 16u, 1u << 24u), four != vec4i(0)); ";
  else if (bytes)
    out += "let w = (bitcast<vec4u>(four) & vec4u(255u)) << vec4u(0u, 8u, 16u, 24u); ";
  out += str(name, "[i] = ", bytes ? "w.x | w.y | w.z | w.w" : str(store, "(four)"), "; }\n");
  return out;
}

std::string half_accessors(std::string_view name, u32 binding) {
  return str("@group(0) @binding(", binding, ") var<storage, read> ", name, ": array<vec2u>;\nfn ", name,
             "_get(i: u32) -> f32 { return unpack2x16float(", name, "[i >> 2u][(i >> 1u) & 1u])[i & 1u]; }\nfn ", name,
             "_quad(q: u32) -> vec4f { let two = ", name,
             "[q]; return vec4f(unpack2x16float(two.x), unpack2x16float(two.y)); }\n");
}

std::string load_function(std::string_view x, Access access, u32 list) {
  const std::string head = str("fn ", x, "_at(q: u32) -> vec4<V> { ");
  switch (access) {
    case Access::flat: return str(head, "return vec4<V>(", x, "_quad(q)); }\n");
    case Access::single: return str(head, "return vec4<V>(V(", x, "_get(0u))); }\n");
    case Access::rows:
      return str(head, "let at = walk(", list, "u, q * 4u); let v = vec4<V>(", x,
                 "_quad(at / 4u)); return select(vec4<V>(v[at % 4u]), v, walk_step(", list, "u) == 1u); }\n");
    case Access::scattered: break;
  }
  std::string values;
  for (const char lane : {'x', 'y', 'z', 'w'})
    values += str(values.empty() ? "" : ", ", "V(", x, "_get(at.", lane, "))");
  return str(head, "let at = walk4(", list, "u, q * 4u); return vec4<V>(", values, "); }\n");
}

std::string elements_function(std::string_view expression, u32 arity) {
  std::string params, loads, calls;
  for (const char lane : {'x', 'y', 'z', 'w'}) {
    std::string arguments;
    for (u32 i = 0; i < arity; ++i) arguments += str(i == 0 ? "" : ", ", char('a' + i), ".", lane);
    if (arity == 0) arguments = str("i.", lane);
    calls += str(calls.empty() ? "" : ", ", "element(", arguments, ")");
  }
  for (u32 i = 0; i < arity; ++i) {
    const char name = char('a' + i);
    params += str(i == 0 ? "" : ", ", name, ": V");
    loads += str("let ", name, " = ", name, "_at(q); ");
  }
  if (arity == 0) params = "i: u32", loads = "let i = vec4u(q * 4u) + vec4u(0u, 1u, 2u, 3u); ";
  return str("fn element(", params, ") -> y_val { let s0 = p.s0; let s1 = p.s1; let s2 = p.s2; return y_val(",
             expression, "); }\n", "fn elements(q: u32) -> vec4<y_val> { ", loads, "return vec4<y_val>(", calls,
             "); }\n");
}

struct Segment {
  u32 first_line;
  std::string file;
};

// Compilers say "…:LINE:COLUMN…" of the assembled text; adds which file and line that is.
std::string explain_lines(const std::vector<Segment>& segments, std::string message) {
  for (size_t at = message.find(':'); at != std::string::npos; at = message.find(':', at + 1)) {
    u32 line = 0, column = 0;
    const char* end = message.data() + message.size();
    const auto first = std::from_chars(message.data() + at + 1, end, line);
    if (first.ec != std::errc() || first.ptr == end || *first.ptr != ':') continue;
    const auto second = std::from_chars(first.ptr + 1, end, column);
    if (second.ec != std::errc()) continue;
    const auto after =
        std::find_if(segments.rbegin(), segments.rend(), [&](const Segment& s) { return s.first_line <= line; });
    if (after == segments.rend()) return message;
    return str(message, " (", after->file, " line ", line - after->first_line + 1, ")");
  }
  return message;
}

u32 lines_in(std::string_view text) { return u32(std::count(text.begin(), text.end(), '\n')); }

}  // namespace

Spec& Spec::add(Entry::Kind kind, std::string_view name, u32 value, std::string_view type) {
  if (count_ < entries_.size())
    entries_[count_++] = {kind, name, type, value};
  else
    overflows_ = true;
  return *this;
}

bool Spec::uses_f16() const {
  return std::any_of(entries_.begin(), entries_.begin() + count_, [](const Entry& e) {
    const bool typed = e.kind >= Entry::type && e.kind <= Entry::bound_output_quads;
    return (typed && DType(e.value) == DType::f16) || e.wgsl_type.ends_with("f16>") || e.wgsl_type.ends_with('h');
  });
}

u32 Spec::bindings(std::span<gpu::BindingKind> out) const {
  u32 count = 0;
  for (u32 i = 0; i < count_ && count < out.size(); ++i) {
    switch (entries_[i].kind) {
      case Entry::bound_input:
      case Entry::bound_input_quads:
      case Entry::halves:
      case Entry::array: out[count++] = gpu::BindingKind::read; break;
      case Entry::bound_output:
      case Entry::bound_output_quads:
      case Entry::writable_array: out[count++] = gpu::BindingKind::read_write; break;
      case Entry::uniform_array: out[count++] = gpu::BindingKind::uniform; break;
      default: break;
    }
  }
  return count;
}

Kernel::Kernel(const KernelSource& source, const Spec& spec) : source_(&source), spec_(spec) {
  count_ = u32(std::min(source.bindings.size(), kinds_.size()));
  std::copy_n(source.bindings.begin(), count_, kinds_.begin());
  if (source.variadic) count_ += spec.bindings(std::span(kinds_).subspan(count_));
}

std::string Spec::declarations() const {
  std::string out;
  u32 binding = 1;
  for (u32 i = 0; i < count_; ++i) {
    const Entry& e = entries_[i];
    switch (e.kind) {
      case Entry::flag: out += str("const ", e.name, " = ", e.value != 0, ";\n"); break;
      case Entry::num: out += str("const ", e.name, " = ", e.value, "u;\n"); break;
      case Entry::type: out += str("alias ", e.name, " = ", store_type(DType(e.value)), ";\n"); break;
      case Entry::input: out += accessors(e.name, DType(e.value), false); break;
      case Entry::output: out += accessors(e.name, DType(e.value), true); break;
      case Entry::input_quads: out += quad_accessors(e.name, DType(e.value), false); break;
      case Entry::output_quads: out += quad_accessors(e.name, DType(e.value), true); break;
      case Entry::bound_input:
      case Entry::bound_output:
      case Entry::bound_input_quads:
      case Entry::bound_output_quads: {
        const bool output = e.kind == Entry::bound_output || e.kind == Entry::bound_output_quads;
        const bool quads = e.kind == Entry::bound_input_quads || e.kind == Entry::bound_output_quads;
        out += str("@group(0) @binding(", binding++, ") var<storage, ", output ? "read_write" : "read", "> ", e.name,
                   ": array<", e.name, "_store>;\n");
        out += quads ? quad_accessors(e.name, DType(e.value), output) : accessors(e.name, DType(e.value), output);
        break;
      }
      case Entry::absent_input: out += str("fn ", e.name, "_get(i: u32) -> f32 { return ", e.value, ".0; }\n"); break;
      case Entry::absent_quads: {
        const std::string_view value = value_type(DType(e.value));
        out += str("fn ", e.name, "_get(i: u32) -> ", value, " { return ", value, "(); }\n");
        out += str("fn ", e.name, "_quad(i: u32) -> vec4<", value, "> { return vec4<", value, ">(); }\n");
        break;
      }
      case Entry::absent_output: out += unit_types(e.name, DType(e.value)) + "}\n"; break;
      case Entry::absent_output_quads: out += str("fn ", e.name, "_put(q: u32, four: vec4f) {}\n"); break;
      case Entry::halves: out += half_accessors(e.name, binding++); break;
      case Entry::array:
      case Entry::writable_array:
        out +=
            str("@group(0) @binding(", binding++, ") var<storage, ",
                e.kind == Entry::writable_array ? "read_write" : "read", "> ", e.name, ": array<", e.wgsl_type, ">;\n");
        break;
      case Entry::uniform_array:
        out += str("@group(0) @binding(", binding++, ") var<uniform> ", e.name, ": array<", e.wgsl_type, ", ", e.value,
                   ">;\n");
        break;
      case Entry::snippet: break;  // goes behind the declarations
      case Entry::code: out += str(e.name, "\n"); break;
      case Entry::load: out += load_function(e.name, Access(e.value % 4), e.value / 4); break;
      case Entry::expression: out += elements_function(e.name, e.value); break;
    }
  }
  return out;
}

u32 threads_of(const Kernel& kernel) {
  const std::string text = assemble(kernel).source;
  const auto behind = [&text](const std::string& mark, char end) -> std::string {
    const size_t at = text.find(mark);
    if (at == std::string::npos) return {};
    const size_t begin = at + mark.size();
    return text.substr(begin, text.find(end, begin) - begin);
  };
  std::string size = behind("@workgroup_size(", ')');
  for (u32 names = 0; names < 4 && !size.empty() && (size[0] < '0' || size[0] > '9'); ++names)
    size = behind(str("const ", size, " = "), ';');
  u32 out = 0;
  std::from_chars(size.data(), size.data() + size.size(), out);
  return out;
}

gpu::PipelineSpec assemble(const Kernel& specialised) {
  const KernelSource& kernel = specialised.source();
  const Spec& spec = specialised.spec();
  gpu::PipelineSpec out;
  out.label = std::string(kernel.name);
  out.bindings.assign(specialised.bindings().begin(), specialised.bindings().end());
  out.subgroups = kernel.subgroups;
  out.loops_end = kernel.ends;
  std::vector<Segment> segments;
  const auto add = [&](std::string_view file, std::string_view text) {
    segments.push_back({lines_in(out.source) + 1, std::string(file)});
    out.source += text;
    if (!out.source.empty() && out.source.back() != '\n') out.source += '\n';
  };
  if (kernel.f16 || spec.uses_f16()) add("directives", "enable f16;\n");
  add(str(kernel.name, "'s specialisation"), spec.declarations());
  const auto add_snippet = [&](std::string_view name) { add(str(name, ".wgsl"), find_snippet(name)); };
  for (std::string_view name : kernel.snippets) add_snippet(name);
  spec.each_snippet(add_snippet);
  add(str(kernel.name, ".wgsl"), kernel.source);
  out.explain = [segments = std::move(segments)](std::string message) {
    return explain_lines(segments, std::move(message));
  };
  return out;
}

}  // namespace pteron::graph
