// SPDX-License-Identifier: BSD-3-Clause
// Symbolic numbers.
#include "differential/reference/interpreter.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace pteron::reference {
namespace {

void sym_size(Call& op) { op.give_number(f64(op.tensor(0).dim(op.integer(1)))); }

// select_as_symint(x, axis, index, out): the first element along all other axes.
void select_as_symint(Call& op) {
  const Array& x = op.tensor(0);
  if (x.rank() == 0) return op.give_number(x.data.at(0));
  const size_t axis = size_t(op.axis(1, x.rank()));
  i64 index = op.integer(2);
  if (index < 0) index += x.dims[axis];
  op.give_number(x.data.at(size_t(index * strides_of(x.dims)[axis])));
}

void sym_numel(Call& op) { op.give_number(f64(op.tensor(0).size())); }
void sym_stride(Call& op) {
  const Array& x = op.tensor(0);
  op.give_number(x.rank() == 0 ? 1 : f64(strides_of(x.dims)[size_t(op.axis(1, x.rank()))]));
}

// Numbers are exact: sizes, and what few steps of arithmetic make of them.
template <f64 (*compute)(f64, f64)>
void of_two(Call& op) {
  op.give_number(compute(op.number(0), op.number(1)));
}
template <f64 (*compute)(f64)>
void of_one(Call& op) {
  op.give_number(compute(op.number(0)));
}

f64 floor_divide(f64 a, f64 b) {
  if (b == 0) throw std::runtime_error("a symbolic number is divided by 0");
  return std::floor(a / b);
}

void sum(Call& op) {
  f64 total = 0;
  for (i64 term : op.ints(0)) total += f64(term);
  op.give_number(total);
}
void choose(Call& op) { op.give_number(op.number(op.number(0) != 0 ? 1 : 2)); }

constexpr OpRule rules[] = {
    {"sym_size.int", sym_size},
    {"sym_numel.default", sym_numel},
    {"sym_stride.int", sym_stride},
    {"et_vk.select_as_symint.default", select_as_symint},
    {"add", of_two<[](f64 a, f64 b) { return a + b; }>},
    {"sub", of_two<[](f64 a, f64 b) { return a - b; }>},
    {"mul", of_two<[](f64 a, f64 b) { return a * b; }>},
    {"floordiv", of_two<floor_divide>},
    {"mod", of_two<[](f64 a, f64 b) { return a - b * floor_divide(a, b); }>},
    {"truediv", of_two<[](f64 a, f64 b) { return a / b; }>},
    {"pow", of_two<[](f64 a, f64 b) { return std::pow(a, b); }>},
    {"sym_min", of_two<[](f64 a, f64 b) { return std::min(a, b); }>},
    {"sym_max", of_two<[](f64 a, f64 b) { return std::max(a, b); }>},
    {"neg", of_one<[](f64 a) { return -a; }>},
    {"ceil", of_one<[](f64 a) { return std::ceil(a); }>},
    {"floor", of_one<[](f64 a) { return std::floor(a); }>},
    {"trunc", of_one<[](f64 a) { return std::trunc(a); }>},
    {"round", of_one<[](f64 a) { return std::nearbyint(a); }>},
    {"sym_int", of_one<[](f64 a) { return std::trunc(a); }>},
    {"sym_float", of_one<[](f64 a) { return a; }>},
    {"sym_not", of_one<[](f64 a) { return f64(a == 0); }>},
    {"sym_sum", sum},
    {"sym_ite", choose},
    {"lt", of_two<[](f64 a, f64 b) { return f64(a < b); }>},
    {"le", of_two<[](f64 a, f64 b) { return f64(a <= b); }>},
    {"gt", of_two<[](f64 a, f64 b) { return f64(a > b); }>},
    {"ge", of_two<[](f64 a, f64 b) { return f64(a >= b); }>},
    {"eq", of_two<[](f64 a, f64 b) { return f64(a == b); }>},
    {"ne", of_two<[](f64 a, f64 b) { return f64(a != b); }>},
};

}  // namespace

extern const OpRules symbol_rules = rules;

}  // namespace pteron::reference
