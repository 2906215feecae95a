// SPDX-License-Identifier: BSD-3-Clause
#include "selftest/trial.h"

#include <cmath>

namespace pteron::selftest {
namespace {

void loss(Trials& trials) {
  Trial& t = trials.emplace_back("fused_ce", 1e-5);
  const Array x = random({5, 11}), labels({5}, {3, -1, 0, 10, 7});
  Array value{Shape()}, gradient(x.shape);
  for (u32 i = 0; i < 5; ++i) {
    if (labels.v[i] < 0) continue;
    f64 total = 0;
    for (u32 j = 0; j < 11; ++j) total += std::exp(x.at({i, j}));
    for (u32 j = 0; j < 11; ++j) gradient.at({i, j}) = (std::exp(x.at({i, j})) / total - (j == labels.v[i])) / 4;
    value.v[0] += (std::log(total) - x.at({i, u32(labels.v[i])})) / 4;
  }
  t.run("et_vk.fused_ce.default", {x, Operand(labels, DType::i32), 4}, {value, gradient});
}

void step(Trials& trials) {
  constexpr f64 rate = 0.01, beta1 = 0.9, beta2 = 0.99, eps = 1e-8, decay = 0.1;
  Trial& t = trials.emplace_back("adamw_step", 1e-5);
  const Array p = random({3, 7}), m = random({3, 7}, -1, 1), v = random({3, 7}, 0, 1), g = random({3, 7}, -3, 3);
  Array p1(p.shape), m1(p.shape), v1(p.shape);
  for (u32 i = 0; i < p.size(); ++i) {
    m1.v[i] = beta1 * m.v[i] + (1 - beta1) * g.v[i];
    v1.v[i] = beta2 * v.v[i] + (1 - beta2) * g.v[i] * g.v[i];
    p1.v[i] = p.v[i] * (1 - rate * decay) - rate * (m1.v[i] / 0.1) / (std::sqrt(v1.v[i] / 0.01) + eps);
  }
  t.run("et_vk.adamw_step.default", {p, m, v, g, rate, beta1, beta2, eps, decay, 0.1, 0.01}, {p1, m1, v1});
}

}  // namespace

void add_training(Trials& trials) {
  loss(trials);
  step(trials);
}

}  // namespace pteron::selftest
