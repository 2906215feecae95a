// SPDX-License-Identifier: BSD-3-Clause
// Symbolic integers.
#include "differential/reference/interpreter.h"

#include <stdexcept>

namespace pteron::reference {
namespace {

void sym_size(Call& op) { op.give_integer(op.tensor(0).dim(op.integer(1))); }

// select_as_symint(x, axis, index, out): the first element along all other axes.
void select_as_symint(Call& op) {
  const Array& x = op.tensor(0);
  if (x.rank() == 0) return op.give_integer(i64(x.data.at(0)));
  const size_t axis = size_t(op.axis(1, x.rank()));
  i64 index = op.integer(2);
  if (index < 0) index += x.dims[axis];
  op.give_integer(i64(x.data.at(size_t(index * strides_of(x.dims)[axis]))));
}

void add(Call& op) { op.give_integer(op.integer(0) + op.integer(1)); }
void subtract(Call& op) { op.give_integer(op.integer(0) - op.integer(1)); }
void multiply(Call& op) { op.give_integer(op.integer(0) * op.integer(1)); }
void floor_divide(Call& op) {
  const i64 a = op.integer(0), b = op.integer(1);
  if (b == 0) throw std::runtime_error("a symbolic integer is divided by 0");
  const i64 q = a / b;
  op.give_integer(a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q);
}
void compare(Call& op) {
  const i64 a = op.integer(0), b = op.integer(1);
  const bool less = op.name()[0] == 'l', more = op.name()[0] == 'g', equal = op.name() != "lt" && op.name() != "gt";
  op.give_integer((less && a < b) || (more && a > b) || (equal && a == b));
}

constexpr OpRule rules[] = {
    {"sym_size.int", sym_size},
    {"et_vk.select_as_symint.default", select_as_symint},
    {"add", add},
    {"sub", subtract},
    {"mul", multiply},
    {"floordiv", floor_divide},
    {"lt", compare},
    {"le", compare},
    {"gt", compare},
    {"ge", compare},
    {"eq", compare},
};

}  // namespace

extern const OpRules symbol_rules = rules;

}  // namespace pteron::reference
