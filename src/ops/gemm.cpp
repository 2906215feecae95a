// SPDX-License-Identifier: BSD-3-Clause
#include "ops/gemm.h"

#include "ops/routes.h"

#include <algorithm>
#include <cmath>

namespace pteron::ops {
namespace {

struct OptionalInput {
  std::string_view name;
  u32 absent;  // what it counts as if it is
};
constexpr OptionalInput optional_inputs[] = {{"scale", 1}, {"row_scale", 1}, {"bias", 0}, {"addend", 0}};

u64 tiles(const GemmParams& g, u32 rows, u32 columns) {
  return u64(g.batches) * ceil_div(g.rows, rows) * ceil_div(g.columns, columns);
}

u64 strips(const GemmParams& g, u32 width) {
  return u64(g.batches) * g.rows * (g.columns / g.out_width) * ceil_div(g.out_width, width);
}

}  // namespace

// How a kernel divides the results.
struct Gemm::Tiling {
  std::string_view route;
  const graph::KernelSource& kernel;
  u32 row_blocks, column_blocks;  // of four, per thread
  u32 workgroup;                  // threads, where a thread has a tile of its own
  bool same_rows = false;         // the threads of a workgroup have neighbouring tiles of the same rows
  bool in_lines = false;          // no tile reaches over the end of a line of an image

  u32 tile_rows() const { return std::max(1u, 4 * row_blocks); }
  u32 tile_columns() const { return 4 * column_blocks; }
};

const Gemm::Tiling Gemm::tilings[] = {
    {"row", kernels::gemm_registers, 0, 2, 16},         {"tile8", kernels::gemm_registers, 2, 2, 16},
    {"tile4", kernels::gemm_registers, 1, 1, 16},       {"split", kernels::gemm_split, 0, 1, 0},
    {"shared", kernels::gemm_shared, 16, 16, 0},        {"lanes8", kernels::gemm_subgroups, 4, 2, 8, true},
    {"lanes4", kernels::gemm_subgroups, 4, 1, 8, true}, {"tall8", kernels::gemm_subgroups, 8, 2, 8, true},
    {"tall4", kernels::gemm_subgroups, 8, 1, 8, true},
};

Result<i32> zero_point(Plan& op, u32 arg) {
  const i64 zero = op.integer(arg);
  REQUIRE_LIVE(op, zero >= INT32_MIN && zero <= INT32_MAX, "the zero point ", zero, " does not fit in 32 bits");
  return i32(zero);
}

bool in_fours(Plan& op, u32 size, bool fixed) { return fixed ? size % 4 == 0 : op.branch(size % 4 == 0); }

void Gemm::bind(std::string_view name, const Operand& operand, DType dtype) {
  overflows_ |= count_ == operands_.size();
  if (!overflows_) operands_[count_++] = operand;
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
  width_is_fixed_ = op_.shape_is_fixed(weight);
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
  const std::string_view name = op_.text(activation);
  REQUIRE(op_, step > 0, "the result's scale is ", step, "; it must be positive");
  REQUIRE_SUPPORTED(op_, name == "none" || name == "relu", "the activation '", name, "' is not supported");
  quantized_ = true;
  params.inverse_scale = f32(1.0 / step);
  params.zero = f32(op_.integer(zero));
  if (name == "relu") clamp(0, INFINITY);
  return {};
}

Result<const Gemm::Tiling*> Gemm::choose() const {
  const u32 depth = params.depth * params.sections_y * params.sections_x;
  TRY(const std::string_view route,
      choose_route(op_, "gemm", {params.rows, depth, params.columns, params.batches, width_is_fixed_}));
  const auto found = std::ranges::find(tilings, route, &Tiling::route);
  if (found == std::end(tilings)) return internal_error("the route 'gemm=", route, "' has no kernel");
  return found;
}

Status Gemm::run(const TensorArg& y, Depthwise depthwise) {
  REQUIRE_SUPPORTED(op_, y.max().numel() <= UINT32_MAX, "a result of shape ", y.max(),
                    " has more elements than 32 bits can count");
  params.steps = ceil_div(params.depth, 4);
  if (params.width == 0) params.width = params.columns;
  spec_.type("V", sums_ == integers ? DType::i32 : DType::f32)
      .flag("CHANNEL_ROWS", channel_rows_)
      .flag("CLAMPED", clamped_)
      .flag("QUANTIZED", quantized_)
      .use("finish");
  for (u32 i = 0; i < std::size(optional_inputs); ++i)
    if ((bound_ >> i & 1) == 0) spec_.absent_input(optional_inputs[i].name, optional_inputs[i].absent);
  static constexpr Tiling quads{"", kernels::gemm_depthwise, 0, 1, 64};
  static constexpr Tiling lines{"", kernels::gemm_strips, 0, 2, 64, false, true};
  if (depthwise != none_of_it) return dispatch(y, depthwise == by_quads ? quads : lines);
  TRY(const Tiling* tiling, choose());
  return dispatch(y, *tiling);
}

// Bytes are written a word at a time. Where rows are no whole words, they pass through scratch memory.
Status Gemm::dispatch(const TensorArg& y, const Tiling& tiling) {
  const std::string_view put = exact_ ? "put_integers" : "put_elements";
  if (size_of(y.dtype()) > 1) {
    spec_.use(put);
    return dispatch_parts(tiling, y, y.dtype());
  }
  if (!exact_ && in_fours(op_, params.width, width_is_fixed_)) {
    spec_.use("put_words");
    return dispatch_parts(tiling, y, y.dtype());
  }
  const Operand wide = op_.scratch(y.max().numel() * sizeof(i32));
  spec_.use(put);
  TRY_DO(dispatch_parts(tiling, wide, DType::i32));
  return narrow(op_, wide, y);
}

Status Gemm::dispatch_parts(const Tiling& tiling, const Operand& y, DType dtype) {
  spec_.bind_output("y", dtype);
  if (overflows_ || count_ == operands_.size())
    return internal_error("a matrix product has more than ", operands_.size(), " operands");
  operands_[count_++] = y;
  if (tiling.workgroup > 0)
    spec_.num("ROW_BLOCKS", tiling.row_blocks)
        .num("COLUMN_BLOCKS", tiling.column_blocks)
        .num("TILE_ROWS", tiling.tile_rows())
        .num("TILE_COLUMNS", tiling.tile_columns())
        .num("SIZE", tiling.workgroup);
  const u64 row_bytes = weight_row_bytes_;
  const u64 step = row_bytes == 0 ? params.width : std::max<u64>(op_.rows_per_binding(row_bytes) / 4 * 4, 4);
  const Operand whole = operands_[weight_at_];
  const u64 depth = u64(params.depth) * params.sections_y * params.sections_x;
  for (u64 first = 0; first < params.width; first += step) {
    const u64 part = std::min<u64>(step, params.width - first);
    params.first_column = u32(first);
    params.columns = u32(part);
    if (part < params.width)
      operands_[weight_at_] = {whole.kind, whole.index, first * row_bytes, (part * row_bytes + 15) / 16 * 16};
    const bool in_groups = tiling.workgroup == 0 || tiling.same_rows;
    const u32 width = tiling.tile_columns() * (tiling.same_rows ? tiling.workgroup : 1);
    const u64 count = tiling.in_lines ? strips(params, width) : tiles(params, tiling.tile_rows(), width);
    op_.note_operations(2 * part * params.rows * params.batches * depth);
    TRY_DO(op_.dispatch({tiling.kernel, spec_}, std::span(operands_).first(count_),
                        std::as_bytes(std::span(&params, 1)),
                        in_groups ? one_group_per(count) : one_thread_per(count, tiling.workgroup)));
  }
  return {};
}

}  // namespace pteron::ops
