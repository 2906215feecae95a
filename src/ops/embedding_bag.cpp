// SPDX-License-Identifier: BSD-3-Clause
#include "ops/bindings.h"

namespace pteron::ops {
namespace {

struct Params {
  u32 count, width, bags, indices, size;
  i32 skipped;
  u32 fault;
};

// _embedding_bag(table[V, D], indices[L], offsets[B], scale_grad_by_freq, mode, sparse, weights[L]?,
// include_last_offset, padding_idx, [out[B, D], …]). The further results are for training; nobody reads them.
Status embedding_bag(Plan& op) {
  const TensorArg table = op.tensor(0), index = op.tensor(1), offsets = op.tensor(2), y = op.list_output(9, 0);
  const auto weights = op.maybe_tensor(6);
  const i64 mode = op.integer(4), padding = op.integer(8);
  REQUIRE(op, table.rank() == 2 && index.rank() == 1 && offsets.rank() == 1,
          "a table of rows, and indices and offsets in lines are needed, not ", table.shape(), ", ", index.shape(),
          " and ", offsets.shape());
  REQUIRE(op, is_float(table.dtype()) && table.dtype() == y.dtype(), "rows of ", table.dtype(), " can't make bags of ",
          y.dtype());
  REQUIRE(op, index.dtype() == DType::i32 && offsets.dtype() == DType::i32, "indices must be int32 or int64, not ",
          index.dtype(), " and ", offsets.dtype());
  REQUIRE(op, mode >= 0 && mode <= 2, "the mode is ", mode, "; 0 (sum), 1 (mean) and 2 (max) exist");
  REQUIRE(op, !weights || (mode == 0 && is_float(weights->dtype())), "only sums of rows can have weights");
  REQUIRE_LIVE(op, !weights || weights->numel() == index.numel(), "there are ", weights ? weights->numel() : 0,
               " weights for ", index.numel(), " indices");
  REQUIRE_SUPPORTED(op, index.max().numel() <= max_rounds(op.device()), "bags of up to ", index.max().numel(),
                    " rows are too long for a software adapter; use a GPU");
  const u32 last = op.flag(7) ? 1 : 0, width = table.dim(1), bags = offsets.dim(0);
  REQUIRE_LIVE(op, bags >= last, "the offset of the end is missing");
  TRY_DO(op.resize(y, {std::max(bags, last) - last, width}));
  for (u32 i = 1; i < op.list_size(9); ++i) {
    const TensorArg unused = op.list_output(9, i);
    TRY_DO(op.resize(unused, unused.max()));
  }
  op.check_indices(index, table.dim(0), "token", false);
  if (y.numel() == 0) return {};
  Bindings bindings;
  bindings.spec.num("MODE", u32(mode));
  bindings.input("table", table);
  bindings.input("index", index);
  bindings.input("offsets", offsets);
  bindings.optional_input("weights", weights, 1);
  bindings.output("y", y, y.dtype());
  bindings.spec.bind_array("faults", "u32", gpu::BindingKind::read_write);
  bindings.add(op.fault());
  const Params params{.count = u32(y.numel()),
                      .width = width,
                      .bags = bags,
                      .indices = index.dim(0),
                      .size = table.dim(0),
                      .skipped = i32(std::clamp<i64>(padding, -1, INT32_MAX)),
                      .fault = op.fault_slot("token", table.dim(0))};
  return bindings.dispatch(op, kernels::embedding_bag, params, one_thread_per(y.numel(), 64));
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"aten._embedding_bag.default", embedding_bag,
     "table, indices, offsets, scale_grad: flag = false, mode: int = 0, sparse: flag = false, weights?, "
     "include_last: flag = false, padding: int = -1 -> [out, ...]"_sig},
};
extern const OpList embedding_bag_ops = entries;

}  // namespace pteron::ops
