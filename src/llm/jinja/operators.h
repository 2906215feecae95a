// SPDX-License-Identifier: BSD-3-Clause
// Python's operators on values.
#pragma once

#include "llm/jinja/ast.h"

#include <compare>

namespace pteron::jinja {

Result<Value> negate(const Value& operand);
Result<Value> plus(const Value& operand);
Result<Value> arithmetic(Heap& heap, Binary::Op op, const Value& a, const Value& b);
Result<bool> compare(Heap& heap, Comparison op, const Value& a, const Value& b);
// Numbers, texts and sequences of these have an order.
Result<std::partial_ordering> order(Heap& heap, const Value& a, const Value& b);
Result<bool> contains(Heap& heap, const Value& container, const Value& item);

// Each bound may be none.
Result<Value> slice(Heap& heap, const Value& object, const Value& start, const Value& stop, const Value& step);

// An error that says why an undefined value can't be used, if it is one.
Status must_be_defined(const Value& value);

}  // namespace pteron::jinja
