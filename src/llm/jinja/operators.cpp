// SPDX-License-Identifier: BSD-3-Clause
#include "llm/jinja/operators.h"

#include "base/error.h"
#include "llm/text/search.h"

#include <algorithm>
#include <cmath>

namespace pteron::jinja {
namespace {

constexpr std::string_view symbols[] = {"+", "-", "*", "/", "//", "%", "**"};

Failure overflow(Binary::Op op, i64 a, i64 b) {
  return unsupported(a, " ", symbols[op], " ", b, " has more than 63 bits");
}

Result<Value> integer_power(i64 base, i64 exponent) {
  if (exponent < 0) return Value(std::pow(f64(base), f64(exponent)));
  i64 out = 1;
  if (base == 0 || base == 1) return Value(exponent == 0 ? i64(1) : base);
  if (base == -1) return Value(exponent % 2 == 0 ? i64(1) : i64(-1));
  for (i64 i = 0; i < exponent; ++i)  // 62 rounds at most
    if (__builtin_mul_overflow(out, base, &out)) return overflow(Binary::power, base, exponent);
  return Value(out);
}

Result<Value> on_integers(Binary::Op op, i64 a, i64 b) {
  i64 out = 0;
  if (b == 0 && (op == Binary::divide || op == Binary::floor_divide || op == Binary::modulo))
    return invalid(a, " is divided by zero");
  switch (op) {
    case Binary::add:
      if (__builtin_add_overflow(a, b, &out)) return overflow(op, a, b);
      return Value(out);
    case Binary::subtract:
      if (__builtin_sub_overflow(a, b, &out)) return overflow(op, a, b);
      return Value(out);
    case Binary::multiply:
      if (__builtin_mul_overflow(a, b, &out)) return overflow(op, a, b);
      return Value(out);
    case Binary::divide: return Value(f64(a) / f64(b));
    case Binary::floor_divide:
      if (b == -1) return on_integers(Binary::subtract, 0, a);
      return Value(a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0));
    case Binary::modulo:
      if (b == -1) return Value(i64(0));
      out = a % b;
      return Value(out != 0 && (out < 0) != (b < 0) ? out + b : out);
    case Binary::power: return integer_power(a, b);
  }
  return internal_error("an unknown operator");
}

Result<Value> on_reals(Binary::Op op, f64 a, f64 b) {
  if (b == 0 && (op == Binary::divide || op == Binary::floor_divide || op == Binary::modulo))
    return invalid(a, " is divided by zero");
  switch (op) {
    case Binary::add: return Value(a + b);
    case Binary::subtract: return Value(a - b);
    case Binary::multiply: return Value(a * b);
    case Binary::divide: return Value(a / b);
    case Binary::floor_divide: return Value(std::floor(a / b));
    case Binary::modulo: {
      const f64 rest = std::fmod(a, b);
      return Value(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
    }
    case Binary::power:
      if (a < 0 && b != std::floor(b)) return unsupported("a negative number has no real power of ", b);
      return Value(std::pow(a, b));
  }
  return internal_error("an unknown operator");
}

Result<Value> repeat(Heap& heap, const Value& sequence, i64 times) {
  const u64 count = u64(std::max<i64>(times, 0));
  const u64 size = sequence.text() ? sequence.text()->size() : sequence.list()->items.size() * sizeof(Value);
  if (size > 0) TRY_DO(heap.check_room(count > heap.limits().memory / size ? ~u64(0) : count * size));
  if (const std::string* text = sequence.text()) {
    std::string out;
    out.reserve(size * count);
    for (u64 i = 0; i < count && !text->empty(); ++i) out += *text;
    return text_value(heap, std::move(out));
  }
  std::vector<Value> items;
  const auto& once = sequence.list()->items;
  for (u64 i = 0; i < count && !once.empty(); ++i) items.insert(items.end(), once.begin(), once.end());
  return list_value(heap, std::move(items), sequence.list()->kind);
}

bool repeatable(const Value& value) {
  return value.text() || (value.list() && (value.list()->kind == List::list || value.list()->kind == List::tuple));
}

Result<Value> join_sequences(Heap& heap, const Value& a, const Value& b) {
  if (a.text()) {
    TRY_DO(heap.check_room(a.text()->size() + b.text()->size()));
    return text_value(heap, *a.text() + *b.text());
  }
  std::vector<Value> items = a.list()->items;
  items.insert(items.end(), b.list()->items.begin(), b.list()->items.end());
  return list_value(heap, std::move(items), a.list()->kind);
}

}  // namespace

Status must_be_defined(const Value& value) {
  if (const auto* u = value.as<Undefined>()) return invalid(u->what ? u->what->text : "a value is undefined");
  return {};
}

Result<Value> negate(const Value& operand) {
  TRY_DO(must_be_defined(operand));
  if (operand.is_integral()) return on_integers(Binary::subtract, 0, operand.integer());
  if (operand.is_number()) return Value(-operand.real());
  return invalid("'-' needs a number, not ", kind_of(operand));
}

Result<Value> plus(const Value& operand) {
  TRY_DO(must_be_defined(operand));
  if (operand.is_integral()) return Value(operand.integer());
  if (operand.is_number()) return operand;
  return invalid("'+' needs a number, not ", kind_of(operand));
}

Result<Value> arithmetic(Heap& heap, Binary::Op op, const Value& a, const Value& b) {
  TRY_DO(must_be_defined(a));
  if (op == Binary::modulo && a.text()) return unsupported("formatting text with '%' is not supported; use '~'");
  TRY_DO(must_be_defined(b));
  if (a.is_integral() && b.is_integral()) return on_integers(op, a.integer(), b.integer());
  if (a.is_number() && b.is_number()) return on_reals(op, a.real(), b.real());
  const bool same = (a.text() && b.text()) || (a.list() && b.list() && a.list()->kind == b.list()->kind);
  if (op == Binary::add && same && repeatable(a)) return join_sequences(heap, a, b);
  if (op == Binary::multiply && repeatable(a) && b.is_integral()) return repeat(heap, a, b.integer());
  if (op == Binary::multiply && repeatable(b) && a.is_integral()) return repeat(heap, b, a.integer());
  return invalid("'", symbols[op], "' can't be used between ", kind_of(a), " and ", kind_of(b));
}

Result<std::partial_ordering> order(Heap& heap, const Value& a, const Value& b) {
  TRY_DO(must_be_defined(a));
  TRY_DO(must_be_defined(b));
  if (a.is_integral() && b.is_integral()) return std::partial_ordering(a.integer() <=> b.integer());
  if (a.is_number() && b.is_number()) return a.real() <=> b.real();
  // Bytes of UTF-8 are in the order of their code points.
  if (a.text() && b.text()) return std::partial_ordering(a.text()->compare(*b.text()) <=> 0);
  if (a.list() && b.list() && repeatable(a) && a.list()->kind == b.list()->kind) {
    const auto &x = a.list()->items, &y = b.list()->items;
    for (size_t i = 0; i < std::min(x.size(), y.size()); ++i)
      if (!equal(heap, x[i], y[i])) return order(heap, x[i], y[i]);
    return std::partial_ordering(x.size() <=> y.size());
  }
  return invalid("there is no order between ", kind_of(a), " and ", kind_of(b));
}

Result<bool> contains(Heap& heap, const Value& container, const Value& item) {
  if (container.is_undefined()) return false;
  if (const std::string* text = container.text()) {
    if (!item.text()) return invalid("'in' a text needs a text, not ", kind_of(item));
    heap.work_on_bytes(text->size());
    return find_text(*text, *item.text()) != std::string::npos;
  }
  if (const Dict* dict = container.dict()) {
    if (item.dict() || (item.list() && item.list()->kind == List::list))
      return invalid(kind_of(item), " can't be a dictionary's key");
    return Dict::can_be_key(item) && dict->find(item);
  }
  if (const List* list = container.list()) {
    heap.work(list->items.size());
    if (list->kind == List::generator && std::exchange(list->spent, true)) return false;
    return std::ranges::any_of(list->items, [&](const Value& v) { return equal(heap, v, item); });
  }
  return invalid("'in' needs a text, a list or a dictionary, not ", kind_of(container));
}

Result<bool> compare(Heap& heap, Comparison op, const Value& a, const Value& b) {
  switch (op) {
    case Comparison::equal: return equal(heap, a, b);
    case Comparison::not_equal: return !equal(heap, a, b);
    case Comparison::in: return contains(heap, b, a);
    case Comparison::not_in: {
      TRY(const bool found, contains(heap, b, a));
      return !found;
    }
    default: break;
  }
  TRY(const auto found, order(heap, a, b));
  switch (op) {
    case Comparison::less: return found < 0;
    case Comparison::less_equal: return found <= 0;
    case Comparison::greater: return found > 0;
    default: return found >= 0;
  }
}

}  // namespace pteron::jinja
