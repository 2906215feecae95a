// SPDX-License-Identifier: BSD-3-Clause
#include "differential/random/sample.h"

#include "base/text.h"
#include "differential/reference/program.h"

#include <cmath>
#include <cstdio>

namespace pteron::differential {
namespace {

constexpr const char* dtypes[] = {"boolean", "u8", "i8", "i32", "f16", "f32", "f64", "i64"};
constexpr const char* elements[] = {"u8", "u8", "i8", "i32", "u16", "f32", "f64", "i64"};

std::string dtype_of(DType t) { return str("DType::", dtypes[size_t(t)]); }

std::string shape_of(const Shape& shape) {
  std::string out;
  for (u32 d : shape) out += str(out.empty() ? "" : ", ", d);
  return "{" + out + "}";
}

std::string number(f64 v) {
  if (std::isnan(v)) return "NAN";
  if (std::isinf(v)) return v < 0 ? "-INFINITY" : "INFINITY";
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", v);
  return text;
}

// Halves as bits.
std::string values_of(const TensorView& t) {
  std::string out;
  if (t.dtype == DType::f16) {
    for (u64 i = 0; i < t.shape.numel(); ++i) {
      u16 bits;
      std::memcpy(&bits, t.bytes.data() + 2 * i, 2);
      out += str(i ? ", " : "", bits);
    }
  } else {
    for (f64 v : reference::from_tensor(t).data) out += str(out.empty() ? "" : ", ", number(v));
  }
  return "{" + out + "}";
}

std::string tensor_code(const TensorView& t) {
  return str("tensor_of<", elements[size_t(t.dtype)], ">(", dtype_of(t.dtype), ", ", shape_of(t.shape), ", ",
             values_of(t), ")");
}

struct ValueCode {
  const reference::Graph& graph;

  std::string operator()(std::monostate) const { return "b.null()"; }
  std::string operator()(i64 v) const { return v == INT64_MAX ? "b.integer(INT64_MAX)" : str("b.integer(", v, ")"); }
  std::string operator()(f64 v) const { return str("b.number(", number(v), ")"); }
  std::string operator()(bool v) const { return str("b.boolean(", v ? "true" : "false", ")"); }
  std::string operator()(const std::string& v) const { return str("b.text(\"", v, "\")"); }
  std::string operator()(const std::vector<i64>& v) const { return str("b.ints({", join(v), "})"); }
  std::string operator()(const std::vector<f64>&) const { return "b.value(std::vector<f64>{})"; }
  std::string operator()(const std::vector<bool>&) const { return "b.value(std::vector<bool>{})"; }
  std::string operator()(const format::GraphSymInt&) const { return "b.symint()"; }
  std::string operator()(const format::GraphValueList& v) const {
    std::string out;
    for (u32 id : v.items) out += str(out.empty() ? "v" : ", v", id);
    return str("b.list({", out, "})");
  }
  std::string operator()(const format::GraphTensor& t) const {
    if (t.constant < 0) return str("b.tensor(", dtype_of(t.dtype), ", ", shape_of(t.shape), ")");
    const TensorView view{t.dtype, t.shape, graph.constants[size_t(t.constant)]};
    return str("b.constant<", elements[size_t(t.dtype)], ">(", dtype_of(t.dtype), ", ", shape_of(t.shape), ", ",
               values_of(view), ")");
  }
};

std::string arguments(const std::vector<u32>& ids) {
  std::string out;
  for (u32 id : ids) out += str(out.empty() ? "v" : ", v", id);
  return "{" + out + "}";
}

}  // namespace

std::string as_code(const Sample& sample, const std::string& name) {
  const reference::Graph graph = reference::read_graph(sample.graph.blob());
  const auto method = sample.graph.method("forward");
  const auto is_dynamic = [&](u32 value) {
    const auto* tensor = std::get_if<format::TensorSpec>(&method.spec.values[value]);
    return tensor && tensor->dynamic ? ", true" : "";
  };
  std::string out = str("TEST(Differential, ", name, ") {\n  GraphBuilder b;\n");
  for (u32 id = 0; id < graph.file.values.size(); ++id)
    out += str("  const u32 v", id, " = ", std::visit(ValueCode{graph}, graph.file.values[id]), ";\n");
  for (size_t i = 0; i < graph.file.inputs.size(); ++i)
    out += str("  b.input(v", graph.file.inputs[i], is_dynamic(method.spec.inputs[i]), ");\n");
  for (const format::GraphCall& call : graph.file.calls)
    out += str("  b.op(\"", call.name, "\", ", arguments(call.args), ");\n");
  for (size_t i = 0; i < graph.file.outputs.size(); ++i)
    out += str("  b.output(v", graph.file.outputs[i], is_dynamic(method.spec.outputs[i]), ");\n");
  out += "  expect_agreement(b, {\n";
  for (const Step& step : sample.steps) {
    out += "    {{";
    for (const Tensor& t : step.inputs) out += str(&t == step.inputs.data() ? "" : ", ", tensor_code(t));
    out += str("}", step.reset ? ", true" : "", "},\n");
  }
  return out + "  });\n}\n";
}

}  // namespace pteron::differential
