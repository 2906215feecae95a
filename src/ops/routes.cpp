// SPDX-License-Identifier: BSD-3-Clause
#include "ops/routes.h"

#include <bit>

namespace pteron::ops {
namespace {

u64 tiles(const Work& w, u32 rows, u32 columns) {
  return u64(w.batches) * ceil_div(w.rows, rows) * ceil_div(w.columns, columns);
}

// Few of the rows that tiles of 32 make are thrown away.
bool in_tall_tiles(const Work& w) { return w.rows % 32 == 0 || w.rows > 256; }

// A software adapter is a processor: it wants few threads that keep much in registers, and no barriers. A GPU wants
// many threads that share what they load.
constexpr Route table[] = {
    // The matrix-product family (gemm.h). Software adapters don't say how wide subgroups are. SwiftShader, whose four
    // lanes gain little and whose compiler takes long for large kernels, is the one without half precision.
    {"gemm", "row", Route::cpu, false, [](const Work& w) { return w.rows <= 2; }},
    {"gemm", "tall8", Route::cpu, true,
     [](const Work& w) { return in_tall_tiles(w) && (w.columns > 192 || w.columns % 64 == 0); }, true},
    {"gemm", "tall4", Route::cpu, true, [](const Work& w) { return in_tall_tiles(w) && w.columns > 8; }, true},
    {"gemm", "lanes8", Route::cpu, true,
     [](const Work& w) { return w.rows > 8 && (w.columns > 192 || w.columns % 64 == 0); }},
    {"gemm", "lanes4", Route::cpu, true, [](const Work& w) { return w.rows > 8 && w.columns > 8; }},
    {"gemm", "tile8", Route::cpu, false,
     [](const Work& w) { return w.rows > 4 && w.columns > 4 && tiles(w, 8, 8) >= 8; }},
    {"gemm", "split", Route::gpu, false, [](const Work& w) { return w.rows == 1 || w.columns <= 4; }},
    {"gemm", "shared", Route::gpu, false, [](const Work& w) { return w.rows >= 32 && w.columns >= 32; }},
    {"gemm", "tile4", Route::any, false, nullptr},
    // What a convolution's columns are read from (conv.h); its depth are channels.
    {"conv", "unfolded", Route::any, false, [](const Work& w) { return w.rows > 8 && w.depth <= 2; }},
    {"conv", "positions", Route::cpu, false, [](const Work& w) { return w.rows > 4; }},
    {"conv", "image", Route::any, false, nullptr},
    // Convolutions whose filters look at one channel each (conv_columns.h); a row is a line of the result.
    {"depthwise", "strips", Route::cpu, false, [](const Work&) { return true; }},
    {"depthwise", "quads", Route::any, false, nullptr},
    // Linears with 4-bit weights in tiles (linear_q4.h).
    {"linear_q4", "lines", Route::gpu, false, [](const Work&) { return true; }},
    {"linear_q4", "subgroups", Route::cpu, true, [](const Work& w) { return w.rows > 1; }, true},
    {"linear_q4", "registers", Route::any, false, nullptr},
    // Attention (attention.h).
    {"attention", "group", Route::gpu, false, [](const Work& w) { return w.rows <= 128; }},
    {"attention", "tiled", Route::gpu, false, [](const Work& w) { return w.rows > 128; }},
    {"attention", "lanes", Route::cpu, true, [](const Work&) { return true; }, true},
    {"attention", "threads", Route::any, false, nullptr},
    // Norms of rows that a workgroup keeps (norm.cpp).
    {"rms_norm", "vectors", Route::gpu, false, [](const Work& w) { return w.columns >= 128; }},
    {"rms_norm", "rows", Route::any, false, nullptr},
    // The largest element of one row (row_best.cpp).
    {"arg_max", "parts", Route::gpu, false, [](const Work& w) { return w.columns > 1024; }},
    {"arg_max", "row", Route::any, false, nullptr},
};

// What varies is rounded up to a power of two: kernels are not told apart more finely.
graph::RouteShape shape_of(const Work& w) {
  const auto rounded = [](u64 size) { return std::bit_ceil(u32(std::min<u64>(size, 1u << 31))); };
  const u32 rows = rounded(u64(w.rows) * w.batches);
  return {rows, w.fixed ? w.depth : rounded(w.depth), w.fixed ? w.columns : rounded(w.columns)};
}

std::string names_of(std::string_view family) {
  std::string out;
  for (const Route& route : table)
    if (route.family == family) out += str(out.empty() ? "" : ", ", route.name);
  return out;
}

Result<std::string_view> find(const gpu::DeviceInfo& device, std::string_view family, std::string_view name) {
  for (const Route& route : table) {
    if (route.family != family || route.name != name) continue;
    if (route.subgroups && !device.features.subgroups)
      return unsupported("the route '", family, "=", name, "' needs subgroups, which this device does not have");
    return route.name;
  }
  return invalid("there is no route '", family, "=", name, "'; there are: ", names_of(family));
}

// What the user insists on, what was measured, or the first that suits.
Result<std::string_view> find(Plan& op, std::string_view family, const Work& work, const graph::RouteShape& shape) {
  const gpu::DeviceInfo& device = op.device();
  if (const std::string_view forced = op.forced_route(family); !forced.empty()) return find(device, family, forced);
  if (const std::string_view measured = op.measured_route(family, shape, work.fixed); !measured.empty())
    return find(device, family, measured);
  const auto adapter = device.adapter.type == gpu::AdapterType::cpu ? Route::cpu : Route::gpu;
  for (const Route& route : table) {
    if (route.family != family || (route.subgroups && !device.features.subgroups)) continue;
    if (route.adapter != Route::any && route.adapter != adapter) continue;
    if (route.f16 && !device.features.f16) continue;
    if (!route.suits || op.branch(route.suits(work))) return route.name;
  }
  return internal_error("the family '", family, "' has no route");
}

}  // namespace

std::span<const Route> routes() { return table; }

Result<std::string_view> choose_route(Plan& op, std::string_view family, const Work& work) {
  const graph::RouteShape shape = shape_of(work);
  TRY(const std::string_view route, find(op, family, work, shape));
  op.note_route(family, shape, route);
  return route;
}

}  // namespace pteron::ops
