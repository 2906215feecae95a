// SPDX-License-Identifier: BSD-3-Clause
#include "ops/gemm.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace pteron::ops {
namespace {

struct OptionalInput {
  std::string_view name, absent;
};
constexpr OptionalInput optional_inputs[] = {
    {"scale", "fn scale_get(i: u32) -> f32 { return 1.0; }"},
    {"row_scale", "fn row_scale_get(i: u32) -> f32 { return 1.0; }"},
    {"bias", "fn bias_get(i: u32) -> f32 { return 0.0; }"},
    {"addend", "fn addend_get(i: u32) -> f32 { return 0.0; }"},
};

constexpr std::string_view float_sums = "alias V = f32; alias V4 = vec4f;";
constexpr std::string_view integer_sums = "alias V = i32; alias V4 = vec4i;";

u64 tiles(const GemmParams& g, u32 rows, u32 columns) {
  return u64(g.batches) * ceil_div(g.rows, rows) * ceil_div(g.columns, columns);
}

}  // namespace

// Kernels in the order in which they are asked whether they suit; the last one always does. All of them compute the
// same for every shape, so the choice is one of speed alone.
struct Gemm::Route {
  std::string_view name;
  const graph::KernelSource& kernel;
  enum Adapter { cpu, gpu, any } adapter;
  u32 row_blocks, column_blocks;  // of four, per thread
  u32 workgroup;                  // threads, where a thread has a tile of its own
  bool (*suits)(const GemmParams& g);

  u32 tile_rows() const { return std::max(1u, 4 * row_blocks); }
  u32 tile_columns() const { return 4 * column_blocks; }
};

const Gemm::Route Gemm::routes[] = {
    {"row", kernels::gemm_registers, Route::cpu, 0, 2, 16, [](const GemmParams& g) { return g.rows == 1; }},
    {"tile8", kernels::gemm_registers, Route::cpu, 2, 2, 16,
     [](const GemmParams& g) { return g.rows > 4 && g.columns > 4 && tiles(g, 8, 8) >= 8; }},
    {"split", kernels::gemm_split, Route::gpu, 0, 1, 0,
     [](const GemmParams& g) { return g.rows == 1 || g.columns <= 4; }},
    {"shared", kernels::gemm_shared, Route::gpu, 16, 16, 0,
     [](const GemmParams& g) { return g.rows >= 32 && g.columns >= 32; }},
    {"tile4", kernels::gemm_registers, Route::any, 1, 1, 16, nullptr},
};

std::vector<std::string> Gemm::route_names() {
  std::vector<std::string> names;
  for (const Route& route : routes) names.emplace_back(route.name);
  return names;
}

bool in_fours(Plan& op, u32 size, bool fixed) { return fixed ? size % 4 == 0 : op.branch(size % 4 == 0); }

void Gemm::bind(std::string_view name, const Operand& operand, DType dtype) {
  if (count_ < operands_.size()) operands_[count_++] = operand;
  spec_.bind_input_quads(name, dtype);
  for (u32 i = 0; i < std::size(optional_inputs); ++i)
    if (optional_inputs[i].name == name) bound_ |= 1u << i;
}

void Gemm::bind_if(std::string_view name, const std::optional<TensorArg>& tensor) {
  if (tensor) bind(name, *tensor);
}

void Gemm::bind_weight(const TensorArg& weight, u64 row_bytes) {
  weight_at_ = count_;
  weight_row_bytes_ = row_bytes;
  width_is_fixed_ = op_.is_constant(weight);
  bind("b", weight);
}

void Gemm::dense_a(Quads quads, bool centered) {
  spec_.flag("A_QUADS", quads == along_depth).flag("A_CENTERED", centered).use("a_dense");
}

void Gemm::dense_b(Quads quads) {
  spec_.flag("B_DEPTH_QUADS", quads == along_depth).flag("B_COLUMN_QUADS", quads == along_columns).use("b_dense");
}

void Gemm::clamp(f32 low, f32 high) {
  clamped_ = true;
  params.low = low;
  params.high = high;
}

Status Gemm::quantize(u32 scale, u32 zero, u32 activation) {
  const f64 step = op_.number(scale);
  const std::string_view name = op_.text_or(activation, "none");
  REQUIRE(op_, step > 0, "the result's scale is ", step, "; it must be positive");
  REQUIRE_SUPPORTED(op_, name == "none" || name == "relu", "the activation '", name, "' is not supported");
  quantized_ = true;
  params.inverse_scale = f32(1.0 / step);
  params.zero = f32(op_.integer(zero));
  if (name == "relu") clamp(0, INFINITY);
  return {};
}

Result<const Gemm::Route*> Gemm::choose() const {
  const u32 rows = std::bit_ceil(u32(std::min<u64>(u64(params.rows) * params.batches, 1u << 31)));
  const u32 depth = params.depth * params.sections_x * params.sections_y;
  const std::string_view measured = op_.measured_route("gemm", {rows, depth, params.columns}, width_is_fixed_);
  const std::string_view forced = op_.forced_route("gemm");
  if (const std::string_view name = forced.empty() ? measured : forced; !name.empty()) {
    const auto found =
        std::find_if(std::begin(routes), std::end(routes), [&](const Route& r) { return r.name == name; });
    if (found != std::end(routes)) return found;
    return invalid("there is no route 'gemm=", name, "'; there are row, tile8, split, shared and tile4");
  }
  const auto adapter = op_.device().adapter.type == gpu::AdapterType::cpu ? Route::cpu : Route::gpu;
  const Route* const last = std::end(routes) - 1;
  for (const Route* route = routes; route != last; ++route)
    if (route->adapter == adapter && op_.branch(route->suits(params))) return route;
  return last;
}

Status Gemm::run(const TensorArg& y, bool depthwise) {
  REQUIRE_SUPPORTED(op_, y.max().numel() <= UINT32_MAX, "a result of shape ", y.max(),
                    " has more elements than 32 bits can count");
  params.steps = ceil_div(params.depth, 4);
  if (params.width == 0) params.width = params.columns;
  spec_.code(sums_ == integers ? integer_sums : float_sums)
      .flag("CHANNEL_ROWS", channel_rows_)
      .flag("CLAMPED", clamped_)
      .flag("QUANTIZED", quantized_)
      .use("finish");
  for (u32 i = 0; i < std::size(optional_inputs); ++i)
    if ((bound_ >> i & 1) == 0) spec_.code(optional_inputs[i].absent);
  static constexpr Route by_channel{"depthwise", kernels::gemm_depthwise, Route::any, 0, 1, 64, nullptr};
  if (depthwise) return dispatch(y, by_channel);
  TRY(const Route* route, choose());
  return dispatch(y, *route);
}

// Bytes are written a word at a time. Where rows are no whole words, they pass through scratch memory.
Status Gemm::dispatch(const TensorArg& y, const Route& route) {
  if (size_of(y.dtype()) > 1) {
    spec_.use("put_elements");
    return dispatch_parts(route, y, y.dtype());
  }
  if (in_fours(op_, params.width, width_is_fixed_)) {
    spec_.use("put_words");
    return dispatch_parts(route, y, y.dtype());
  }
  const Operand wide = op_.scratch(y.max().numel() * sizeof(i32));
  spec_.use("put_elements");
  TRY_DO(dispatch_parts(route, wide, DType::i32));
  const u32 words = u32((y.numel() + 3) / 4);
  return op_.dispatch({kernels::pack_bytes, Spec().output("y", y.dtype())}, {wide, y}, words,
                      one_thread_per(words, 64));
}

Status Gemm::dispatch_parts(const Route& route, const Operand& y, DType dtype) {
  spec_.bind_output("y", dtype);
  if (count_ == operands_.size()) return internal_error("a matrix product has more than 8 operands");
  operands_[count_++] = y;
  if (route.workgroup > 0)
    spec_.num("ROW_BLOCKS", route.row_blocks)
        .num("COLUMN_BLOCKS", route.column_blocks)
        .num("TILE_ROWS", route.tile_rows())
        .num("TILE_COLUMNS", route.tile_columns())
        .num("SIZE", route.workgroup);
  const u64 row_bytes = weight_row_bytes_;
  const u64 step = row_bytes == 0 ? params.width : std::max<u64>(op_.rows_per_binding(row_bytes) / 4 * 4, 4);
  const Operand whole = operands_[weight_at_];
  for (u64 first = 0; first < params.width; first += step) {
    const u64 part = std::min<u64>(step, params.width - first);
    params.first_column = u32(first);
    params.columns = u32(part);
    if (part < params.width)
      operands_[weight_at_] = {whole.kind, whole.index, first * row_bytes, (part * row_bytes + 15) / 16 * 16};
    const u64 count = tiles(params, route.tile_rows(), route.tile_columns());
    TRY_DO(op_.dispatch({route.kernel, spec_}, std::span(operands_).first(count_), std::as_bytes(std::span(&params, 1)),
                        route.workgroup > 0 ? one_thread_per(count, route.workgroup) : one_group_per(count)));
  }
  return {};
}

}  // namespace pteron::ops
