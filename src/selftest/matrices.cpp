// SPDX-License-Identifier: BSD-3-Clause
// Products of matrices, on every route whatever this device would choose.
#include "base/text.h"
#include "selftest/trial.h"

#include <cmath>

namespace pteron::selftest {
namespace {

void mm(Trials& trials, std::string_view route, u32 rows, u32 depth, u32 columns, DType dtype) {
  Trial& t = trials.emplace_back(str("mm ", route, " ", dtype, " of ", depth), dtype == DType::f16 ? 5e-3 : 1e-4);
  t.options.routes = {"gemm=" + std::string(route)};
  const Array a = random({rows, depth}, -1, 1), b = random({depth, columns}, -1, 1);
  t.op("aten.mm.default", {t.give(a, dtype), t.give(b, dtype), t.expect(product(a, b), dtype)});
}

void linear(Trials& trials, std::string_view route, u32 rows, u32 depth, u32 columns) {
  Trial& t = trials.emplace_back(str("linear ", route, " of ", depth));
  t.options.routes = {"gemm=" + std::string(route)};
  const Array x = random({rows, depth}, -1, 1), w = random({columns, depth}, -1, 1), b = random({columns});
  Array y = product(x, transpose(w));
  for (size_t i = 0; i < y.size(); ++i) y.v[i] += b.v[i % columns];
  t.op("aten.linear.default", {t.give(x), t.keep(w), t.keep(b), t.expect(y)});
}

void distances(Trials& trials) {
  Trial& t = trials.emplace_back("cdist");
  const Array a = random({3, 5}), b = random({4, 5});
  Array y({3, 4});
  for (u32 i = 0; i < 3; ++i)
    for (u32 j = 0; j < 4; ++j)
      for (u32 k = 0; k < 5; ++k) y.at({i, j}) += std::abs(a.at({i, k}) - b.at({j, k}));
  const u32 first = t.give(a), second = t.give(b);
  t.op("aten._cdist_forward.default", {first, second, t.number(1), t.null(), t.expect(y)});
}

}  // namespace

void add_matrices(Trials& trials, bool f16, bool subgroups) {
  distances(trials);
  for (std::string_view route : routes_of("gemm", subgroups)) {
    const u32 rows = route == "row" ? 1 : 37;
    mm(trials, route, rows, 35, 41, DType::f32);
    mm(trials, route, rows, 36, 40, DType::f32);
    if (f16) mm(trials, route, rows, 36, 40, DType::f16);
    linear(trials, route, rows, 29, 35);
    linear(trials, route, rows, 32, 36);
  }
}

}  // namespace pteron::selftest
