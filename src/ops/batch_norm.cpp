// SPDX-License-Identifier: BSD-3-Clause
#include "ops/bindings.h"

namespace pteron::ops {
namespace {

struct Params {
  u32 count, channels, stride;
  f32 eps;
};

// op(x, weight?, bias?, mean, variance, …, eps, [out, …]): channels are axis 1. The further results are for training;
// nobody reads them.
Status batch_norm(Plan& op, u32 eps, u32 results) {
  const TensorArg x = op.tensor(0), mean = op.tensor(3), variance = op.tensor(4), y = op.list_output(results, 0);
  const auto w = op.maybe_tensor(1), b = op.maybe_tensor(2);
  REQUIRE(op, x.rank() >= 2, "batch norm needs [batch, channels, ..], not ", x.shape());
  const std::pair<std::string_view, std::optional<TensorArg>> by_channel[] = {
      {"mean", mean}, {"variance", variance}, {"weight", w}, {"bias", b}};
  for (const auto& [name, t] : by_channel) {
    if (!t) continue;
    REQUIRE(op, is_float(t->dtype()), "only floating-point tensors can be normalised; the ", name, " is ", t->dtype());
    REQUIRE(op, t->numel() == x.dim(1), "the ", name, " has ", t->numel(), " elements, but ", x.shape(), " has ",
            x.dim(1), " channels");
  }
  for (const TensorArg& t : {x, y})
    REQUIRE(op, is_float(t.dtype()), "only floating-point tensors can be normalised, not ", t.dtype());
  TRY_DO(op.resize(y, x.shape()));
  for (u32 i = 1; i < op.list_size(results); ++i) {
    const TensorArg unused = op.list_output(results, i);
    TRY_DO(op.resize(unused, unused.max()));
  }
  if (y.numel() == 0) return {};
  Bindings bindings;
  bindings.input("input", x);
  bindings.input("mean", mean);
  bindings.input("variance", variance);
  bindings.optional_input("weight", w, 1);
  bindings.optional_input("bias", b, 0);
  bindings.output("y", y, y.dtype());
  const Params params{u32(y.numel()), x.dim(1), u32(x.shape().product(2, x.rank())), f32(op.number(eps))};
  return bindings.dispatch(op, kernels::batch_norm, params, one_thread_per(y.numel(), 64));
}

// _native_batch_norm_legit_no_training(x, weight?, bias?, mean, variance, momentum, eps, [out, …])
Status without_training(Plan& op) { return batch_norm(op, 6, 7); }

// _native_batch_norm_legit(x, weight?, bias?, mean, variance, training, momentum, eps, [out, …])
Status with_statistics(Plan& op) {
  REQUIRE_SUPPORTED(op, !op.flag(5), "batch norm that updates its statistics is not supported; export in eval mode");
  return batch_norm(op, 7, 8);
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"aten._native_batch_norm_legit_no_training.default", without_training,
     "x, weight?, bias?, mean, variance, momentum: any, eps: number -> [out, ...]"_sig, lanewise},
    {"aten._native_batch_norm_legit.default", with_statistics,
     "x, weight?, bias?, mean, variance, training: flag, momentum: any, eps: number -> [out, ...]"_sig, lanewise},
};
extern const OpList batch_norm_ops = entries;

}  // namespace pteron::ops
