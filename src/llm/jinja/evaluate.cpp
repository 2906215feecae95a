// SPDX-License-Identifier: BSD-3-Clause
// Expressions.
#include "base/error.h"
#include "llm/jinja/operators.h"
#include "llm/jinja/renderer.h"

namespace pteron::jinja {

Result<Value> Renderer::evaluate(const Expr& e) {
  auto value = [&]() -> Result<Value> {
    TRY_DO(enter());
    return std::visit([&](const auto& node) { return evaluate(node); }, e.node);
  }();
  --depth_;
  if (!value) return located(std::move(value.error()), e.line);
  return value;
}

Value Renderer::undefined(std::string what) { return Undefined{*text(std::move(what)).as<TextRef>()}; }

Result<Value> Renderer::evaluate(const Name& e) {
  if (const Value* value = scope_->find(e.id)) return *value;
  const std::string& name = source_.names[e.id];
  for (std::string_view known : {"lipsum", "cycler", "joiner"})
    if (name == known) return unsupported("the function '", name, "' is not supported");
  return undefined(str("'", name, "' is undefined"));
}

Result<Value> Renderer::evaluate(const ListDisplay& e) {
  std::vector<Value> items;
  for (const ExprPtr& item : e.items) {
    TRY(Value value, evaluate(*item));
    items.push_back(std::move(value));
  }
  return list_value(heap_, std::move(items), e.kind);
}

Result<Value> Renderer::evaluate(const DictDisplay& e) {
  Dict dict;
  for (const auto& [key_expression, value_expression] : e.entries) {
    TRY(Value key, evaluate(*key_expression));
    TRY(Value value, evaluate(*value_expression));
    if (!Dict::can_be_key(key)) return unsupported(kind_of(key), " can't be a dictionary's key");
    dict.set(std::move(key), std::move(value));
  }
  return dict_value(heap_, std::move(dict));
}

Result<Value> Renderer::evaluate(const Unary& e) {
  TRY(const Value operand, evaluate(*e.operand));
  if (e.op == Unary::logical_not) return Value(!operand.truth());
  return e.op == Unary::negate ? negate(operand) : plus(operand);
}

Result<Value> Renderer::evaluate(const Binary& e) {
  TRY(const Value left, evaluate(*e.left));
  TRY(const Value right, evaluate(*e.right));
  return arithmetic(heap_, e.op, left, right);
}

Result<Value> Renderer::evaluate(const Logical& e) {
  TRY(Value left, evaluate(*e.left));
  if (left.truth() != e.is_and) return left;
  return evaluate(*e.right);
}

Result<Value> Renderer::evaluate(const Compare& e) {
  TRY(Value left, evaluate(*e.first));
  for (const auto& [op, expression] : e.rest) {
    TRY(Value right, evaluate(*expression));
    TRY(const bool holds, compare(heap_, op, left, right));
    if (!holds) return Value(false);
    left = std::move(right);
  }
  return Value(true);
}

Result<Value> Renderer::evaluate(const Concat& e) {
  TextWriter out(heap_);
  for (const ExprPtr& part : e.parts) {
    TRY(const Value value, evaluate(*part));
    TRY(const std::string text, to_text(heap_, value));
    TRY_DO(out.write(text));
  }
  return text(out.take());
}

Result<Value> Renderer::evaluate(const Conditional& e) {
  TRY(const Value condition, evaluate(*e.condition));
  if (condition.truth()) return evaluate(*e.then);
  if (e.otherwise) return evaluate(*e.otherwise);
  return undefined("the inline if was false and has no else");
}

Result<Value> Renderer::evaluate(const Attribute& e) {
  TRY(const Value object, evaluate(*e.object));
  return attribute(object, e.name);
}

Result<Value> Renderer::evaluate(const Subscript& e) {
  TRY(const Value object, evaluate(*e.object));
  TRY(const Value index, evaluate(*e.index));
  return item(object, index);
}

Result<Value> Renderer::evaluate(const Slice& e) {
  TRY(const Value object, evaluate(*e.object));
  Value bounds[3] = {None(), None(), None()};
  const ExprPtr* expressions[3] = {&e.start, &e.stop, &e.step};
  for (int i = 0; i < 3; ++i)
    if (*expressions[i]) {
      TRY(bounds[i], evaluate(**expressions[i]));
    }
  return slice(heap_, object, bounds[0], bounds[1], bounds[2]);
}

Result<CallArguments> Renderer::evaluate(const Arguments& arguments) {
  CallArguments out;
  for (const Argument& a : arguments) {
    TRY(Value value, evaluate(*a.value));
    switch (a.kind) {
      case Argument::positional: out.positional.push_back(std::move(value)); break;
      case Argument::named: out.named.emplace_back(a.name, std::move(value)); break;
      case Argument::unpacked_list: {
        TRY(const ListRef items, iterate(value));
        out.positional.insert(out.positional.end(), items->items.begin(), items->items.end());
        break;
      }
      case Argument::unpacked_dict: {
        if (!value.dict()) return invalid("'**' needs a dictionary, not ", kind_of(value));
        for (const auto& [key, member] : value.dict()->entries()) {
          if (!key.text()) return invalid("'**' needs a dictionary whose keys are text");
          out.named.emplace_back(*key.text(), member);
        }
      }
    }
  }
  return out;
}

Result<Value> Renderer::evaluate(const Call& e) {
  TRY(const Value callee, evaluate(*e.callee));
  TRY(CallArguments arguments, evaluate(e.arguments));
  return call(callee, std::move(arguments));
}

Result<Value> Renderer::evaluate(const Filter& e) {
  TRY(const Value subject, evaluate(*e.subject));
  TRY(const CallArguments arguments, evaluate(e.arguments));
  return filter(e.name, subject, arguments);
}

Result<Value> Renderer::filter_block(const Expr& expression, Value subject) {
  const auto& e = std::get<Filter>(expression.node);
  if (e.subject) {
    TRY(subject, filter_block(*e.subject, std::move(subject)));
  }
  TRY(const CallArguments arguments, evaluate(e.arguments));
  return filter(e.name, subject, arguments);
}

Result<Value> Renderer::evaluate(const Test& e) {
  TRY(const Value subject, evaluate(*e.subject));
  TRY(const CallArguments arguments, evaluate(e.arguments));
  TRY(const bool holds, test(e.name, subject, arguments));
  return Value(holds != e.negated);
}

}  // namespace pteron::jinja
