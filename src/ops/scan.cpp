// SPDX-License-Identifier: BSD-3-Clause
// Running sums and products along an axis.
#include "ops/scan.h"
#include "ops/results.h"

namespace pteron::ops {
namespace {

struct Params {
  u32 rows, length, stride, chunk;
};

constexpr u32 threads = 64, lanes = 256;  // of a workgroup with many rows, and with one
constexpr u32 short_row = 32, many_rows = 4096;

// Does a workgroup share a row? Otherwise each thread has one of its own. Depends on maximal shapes alone.
bool is_shared(const gpu::DeviceInfo& device, u64 rows, u64 length) {
  if (device.adapter.type == gpu::AdapterType::cpu) return length > max_rounds(device);
  return length > short_row && rows < many_rows;
}

// cumsum(x, axis, dtype, out), cumprod
template <bool product>
Status scan_axis(Plan& op) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  const u32 axis = op.axis(1, x.rank());
  REQUIRE(op, is_float(y.dtype()) || !is_float(x.dtype()), "the result is ", y.dtype(), ", but the input is ",
          x.dtype());
  TRY_DO(op.resize(y, x.shape()));
  if (y.numel() == 0) return {};
  const Results results(op, y);
  const auto rows_of = [&](const Shape& shape) {
    return ScanRows{shape.product(0, axis), shape.dim(i32(axis)), u32(shape.product(axis + 1, shape.rank()))};
  };
  TRY_DO(scan(op, x, results.operand(), results.dtype(), rows_of(x.shape()), rows_of(x.max()), product));
  return results.finish(op);
}

}  // namespace

Status scan(Plan& op, const TensorArg& x, const Operand& y, DType dtype, const ScanRows& live, const ScanRows& max,
            bool product) {
  const bool shared = is_shared(op.device(), max.outer * max.stride, max.length);
  const u64 longest = shared ? (max.length + lanes - 1) / lanes * 2 + lanes : max.length;
  REQUIRE_SUPPORTED(op, longest <= max_rounds(op.device()), "rows of ", max.length,
                    " elements are too long for a software adapter; use a GPU");
  const u32 rows = u32(live.outer * live.stride);
  const Params params{rows, live.length, live.stride, shared ? ceil_div(live.length, lanes) : live.length};
  const Spec spec = Spec()
                        .type("V", is_float(dtype) ? DType::f32 : DType::i32)
                        .flag("SHARED", shared)
                        .flag("PRODUCT", product)
                        .num("THREADS", shared ? lanes : threads)
                        .input("x", x.dtype())
                        .output("y", dtype);
  return op.dispatch({kernels::scan, spec}, {x, y}, params,
                     shared ? one_group_per(rows) : one_thread_per(rows, threads));
}

static constexpr OpEntry entries[] = {
    {"aten.cumsum.default", scan_axis<false>, "x, axis: int, dtype: any -> out"_sig},
    {"aten.cumprod.default", scan_axis<true>, "x, axis: int, dtype: any -> out"_sig},
};
extern const OpList scan_ops = entries;

}  // namespace pteron::ops
