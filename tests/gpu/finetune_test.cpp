// SPDX-License-Identifier: BSD-3-Clause
// Training on the GPU: a head learns as torch's does. The data and torch's losses come from python/cases/finetune.py.
#include "gpu/one_op.h"
#include "support/fixture.h"

#include <cmath>

namespace pteron::test {
namespace {

constexpr f64 rate = 0.05, beta1 = 0.9, beta2 = 0.99, eps = 1e-8, decay = 0.01;

struct Head {
  Tensor weight, m, v;
};

// One step as a program: scores, the loss with its gradient, the weights' gradient, AdamW. The optimiser's corrections
// are constants of the step.
GraphBuilder step_program(const Tensor& features, const Tensor& labels, const Shape& weight, u32 number, f64 count) {
  GraphBuilder b;
  const Shape scores{features.shape()[0], weight[0]};
  const u32 x = b.input(b.tensor(DType::f32, features.shape()));
  const u32 y = b.input(b.tensor(DType::i32, labels.shape()));
  std::vector<u32> state, updated;
  for (u32 i = 0; i < 3; ++i) state.push_back(b.input(b.tensor(DType::f32, weight)));
  const u32 logits = b.tensor(DType::f32, scores), loss = b.tensor(DType::f32, {}),
            d_logits = b.tensor(DType::f32, scores);
  const u32 gradient = b.tensor(DType::f32, weight);
  for (u32 i = 0; i < 3; ++i) updated.push_back(b.tensor(DType::f32, weight));
  b.op("aten.linear.default", {x, state[0], b.null(), logits});
  b.op("et_vk.fused_ce.default", {logits, y, b.number(count), b.list({loss, d_logits})});
  b.op("et_vk.linear_dW.default", {d_logits, x, gradient});
  std::vector<u32> args{state[0], state[1], state[2], gradient};
  for (f64 value : {rate, beta1, beta2, eps, decay, 1 - std::pow(beta1, number), 1 - std::pow(beta2, number)})
    args.push_back(b.number(value));
  args.push_back(b.list(updated));
  b.op("et_vk.adamw_step.default", args);
  b.output(loss);
  for (u32 id : updated) b.output(id);
  return b;
}

TEST(Finetune, LossFallsAsTorchsDoes) {
  const Fixture torch = read_fixture(data_folder() / "training" / "head");
  const Tensor &features = torch.sets[0].inputs[0], &labels = torch.sets[0].inputs[1], &start = torch.sets[0].inputs[2];
  const auto losses = values<f32>(torch.sets[0].outputs[0]);
  f64 count = 0;
  for (i32 label : labels.as<i32>()) count += label >= 0;
  Head head{start, Tensor(DType::f32, start.shape()), Tensor(DType::f32, start.shape())};
  for (u32 i = 0; i < losses.size(); ++i) {
    const auto out = run(step_program(features, labels, start.shape(), i + 1, count),
                         {features, labels, head.weight, head.m, head.v});
    ASSERT_EQ(out.size(), 4u);
    ASSERT_NEAR(out[0].as<f32>()[0], losses[i], 1e-4 * losses[i]) << "step " << i + 1;
    head = {out[1], out[2], out[3]};
  }
  EXPECT_LT(losses.back(), 0.2 * losses.front());
  const Difference weights = compare(head.weight, torch.sets[0].outputs[1], {1e-4, 1e-4});
  EXPECT_EQ(weights.problem, "");
}

}  // namespace
}  // namespace pteron::test
