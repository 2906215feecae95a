// SPDX-License-Identifier: BSD-3-Clause
// Products of dense matrices.
#include "differential/reference/interpreter.h"

#include <stdexcept>

namespace pteron::reference {
namespace {

// A sum of products, with what rounding may do to it.
struct Dot {
  f64 total = 0, scale = 0;
  i64 terms = 0;
  void add(f64 a, f64 b) { total += a * b, scale += std::abs(a * b), ++terms; }
  f64 value(Call& op, f64 factor = 1, f64 addend = 0) const {
    return op.noisy(total * factor + addend, scale * std::abs(factor) + std::abs(addend), f64(terms) + 4);
  }
};

void multiply(Call& op) {
  const Array &a = op.tensor(0), &b = op.tensor(1);
  const i64 rows = a.dim(-2), depth = a.dim(-1), columns = b.dim(-1);
  if (b.dim(-2) != depth) throw std::runtime_error("matrices can't be multiplied");
  Dims dims = a.dims;
  dims.back() = columns;
  Array y = op.make(dims);
  for (i64 i = 0; i < y.size(); ++i) {
    const i64 batch = i / (rows * columns), row = i / columns % rows, column = i % columns;
    Dot dot;
    for (i64 k = 0; k < depth; ++k)
      dot.add(a.data[size_t((batch * rows + row) * depth + k)], b.data[size_t((batch * depth + k) * columns + column)]);
    y.data[size_t(i)] = dot.value(op);
  }
  op.give(std::move(y));
}

void addmm(Call& op) {
  const Array &self = op.tensor(0), &a = op.tensor(1), &b = op.tensor(2);
  const f64 beta = f32(op.number_or(3, 1)), alpha = f32(op.number_or(4, 1));
  Array y = op.make({a.dim(0), b.dim(1)});
  each(y.dims, [&](const Dims& index, i64 i) {
    Dot dot;
    for (i64 k = 0; k < a.dim(1); ++k) dot.add(at(a, {index[0], k}), at(b, {k, index[1]}));
    y.data[size_t(i)] = dot.value(op, alpha, beta == 0 ? 0 : beta * at(self, index));
  });
  op.give(std::move(y));
}

void linear(Call& op) {
  const Array &x = op.tensor(0), &w = op.tensor(1);
  const i64 depth = w.dim(1), columns = w.dim(0);
  if (x.dim(-1) != depth) throw std::runtime_error("rows don't fit the weights");
  Dims dims = x.dims;
  dims.back() = columns;
  Array y = op.make(dims);
  for (i64 i = 0; i < y.size(); ++i) {
    Dot dot;
    const i64 row = i / columns, column = i % columns;
    for (i64 k = 0; k < depth; ++k) dot.add(x.data[size_t(row * depth + k)], w.data[size_t(column * depth + k)]);
    y.data[size_t(i)] = dot.value(op, 1, op.is_null(2) ? 0 : op.tensor(2).data[size_t(column)]);
  }
  op.give(std::move(y));
}

// dyᵀ · x
void weight_gradient(Call& op) {
  const Array &dy = op.tensor(0), &x = op.tensor(1);
  const i64 rows = dy.dim(-1), columns = x.dim(-1), depth = dy.size() / std::max<i64>(rows, 1);
  Array y = op.make({rows, columns});
  each(y.dims, [&](const Dims& index, i64 i) {
    Dot dot;
    for (i64 k = 0; k < depth; ++k)
      dot.add(dy.data[size_t(k * rows + index[0])], x.data[size_t(k * columns + index[1])]);
    y.data[size_t(i)] = dot.value(op);
  });
  op.give(std::move(y));
}

constexpr OpRule rules[] = {
    {"aten.mm.default", multiply},
    {"aten.bmm.default", multiply},
    {"aten.addmm.default", addmm},
    {"aten.linear.default", linear},
    {"et_vk.linear_dW.default", weight_gradient},
};

}  // namespace

extern const OpRules matrix_rules = rules;

}  // namespace pteron::reference
