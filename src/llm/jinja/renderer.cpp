// SPDX-License-Identifier: BSD-3-Clause
// Statements.
#include "llm/jinja/renderer.h"

#include "base/error.h"
#include "llm/jinja/functions.h"
#include "llm/jinja/lexer.h"

#include <algorithm>
#include <utility>

namespace pteron::jinja {
namespace {

// Expressions, blocks and macros inside of each other while running. A level needs up to two kilobytes of stack.
constexpr u32 max_depth = 300;

}  // namespace

Failure located(Error error, u32 line) {
  if (error.context.starts_with("line ")) return Failure(std::move(error));
  return Failure(std::move(error).within(str("line ", line)));
}

const Value* Scope::find(NameId name) const {
  for (const Scope* scope = this; scope; scope = scope->outer)
    for (const auto& [id, value] : scope->variables)
      if (id == name) return &value;
  return nullptr;
}

void Scope::set(NameId name, Value value) {
  for (auto& [id, old] : variables)
    if (id == name) {
      old = std::move(value);
      return;
    }
  variables.emplace_back(name, std::move(value));
}

Renderer::Renderer(const Template& source, const TemplateLimits& limits, i64 local_time)
    : source_(source), local_time_(local_time), heap_(limits) {
  scope_ = &scopes_.emplace_back();
  for (const auto& [name, body] : global_functions()) define(name, Value(static_cast<Object*>(create<Function>(body))));
}

void Renderer::define(std::string_view name, Value value) {
  if (const auto id = source_.find_name(name)) scope_->set(*id, std::move(value));
}

Result<std::string> Renderer::run() {
  TRY_DO(run_block(source_.body));
  TRY_DO(heap_.check());
  return std::move(output_);
}

Scope& Renderer::new_scope(Scope& outer) {
  Scope* scope = nullptr;
  if (free_scopes_.empty()) {
    scope = &scopes_.emplace_back();
  } else {
    scope = free_scopes_.back();
    free_scopes_.pop_back();
  }
  scope->outer = &outer;
  return *scope;
}

void Renderer::drop_scope(Scope& scope) {
  if (scope.captured) {
    object_shares_.emplace_back(heap_, sizeof(Scope));
    return;
  }
  scope.variables.clear();
  free_scopes_.push_back(&scope);
}

Status Renderer::enter() {
  heap_.work(1);
  TRY_DO(heap_.check());
  if (++depth_ <= max_depth) return {};
  return unsupported("macros, blocks or expressions are nested deeper than ", max_depth, " levels while running");
}

Result<Renderer::Flow> Renderer::run_block(const Block& block) {
  for (const Stmt& statement : block) {
    TRY(const Flow flow, execute(statement));
    if (flow != Flow::next) return flow;
  }
  return Flow::next;
}

Result<Renderer::Flow> Renderer::execute(const Stmt& statement) {
  auto flow = [&]() -> Result<Flow> {
    TRY_DO(enter());
    return std::visit([&](const auto& s) { return execute(s); }, statement.node);
  }();
  --depth_;
  if (!flow) return located(std::move(flow.error()), statement.line);
  return flow;
}

Result<Renderer::Flow> Renderer::execute(const Data& s) {
  TRY_DO(heap_.check_room(2 * (output_.size() + s.text.text()->size())));
  heap_.work_on_bytes(s.text.text()->size());
  output_ += *s.text.text();
  return Flow::next;
}

Result<Renderer::Flow> Renderer::execute(const Output& s) {
  TRY(const Value value, evaluate(*s.value));
  if (const std::string* text = value.text()) {
    TRY_DO(heap_.check_room(2 * (output_.size() + text->size())));
    heap_.work_on_bytes(text->size());
    output_ += *text;
    return Flow::next;
  }
  TRY(const std::string text, to_text(heap_, value));
  output_ += text;
  return Flow::next;
}

Result<Renderer::Flow> Renderer::execute(const If& s) {
  for (const auto& [condition, body] : s.branches) {
    TRY(const Value value, evaluate(*condition));
    if (value.truth()) return run_block(body);
  }
  return run_block(s.otherwise);
}

// Each round starts with the variables around the loop: what a round sets is gone in the next.
Result<Renderer::Flow> Renderer::execute(const For& s) {
  TRY(const ListRef items, loop_items(s));
  Scope& outer = *scope_;
  Result<Flow> flow = Flow::next;
  if (items->items.empty()) {
    scope_ = &new_scope(outer);
    flow = run_block(s.otherwise);
  } else {
    flow = run_loop(s, items);
  }
  drop_scope(*scope_);
  scope_ = &outer;
  return flow;
}

Result<ListRef> Renderer::loop_items(const For& s) {
  TRY(const Value iterable, evaluate(*s.iterable));
  TRY(ListRef items, iterate(iterable));
  if (!s.condition) return items;
  std::vector<Value> kept;
  Scope& outer = *scope_;
  scope_ = &new_scope(outer);
  Status status;
  for (const Value& item : items->items) {
    scope_->variables.clear();
    if (status = assign(s.target, item); !status) break;
    const auto wanted = evaluate(*s.condition);
    if (!wanted) {
      status = Failure(wanted.error());
      break;
    }
    if (wanted->truth()) kept.push_back(item);
  }
  drop_scope(*scope_);
  scope_ = &outer;
  TRY_DO(std::move(status));
  TRY(const Value list, list_value(heap_, std::move(kept)));
  return *list.as<ListRef>();
}

// Leaves the last round's scope for the caller to drop.
Result<Renderer::Flow> Renderer::run_loop(const For& s, const ListRef& items) {
  Scope& outer = *scope_;
  auto* loop = create<LoopObject>();
  loop->items = items;
  const auto loop_name = source_.find_name("loop");
  scope_ = &new_scope(outer);
  for (; loop->index < items->items.size(); ++loop->index) {
    if (scope_->captured) {
      drop_scope(*scope_);
      scope_ = &new_scope(outer);
    }
    scope_->variables.clear();
    TRY_DO(assign(s.target, items->items[loop->index]));
    if (loop_name) scope_->set(*loop_name, Value(static_cast<Object*>(loop)));
    TRY(const Flow flow, run_block(s.body));
    if (flow == Flow::break_loop) break;
  }
  return Flow::next;
}

Result<Renderer::Flow> Renderer::execute(const Set& s) {
  TRY(Value value, evaluate(*s.value));
  TRY_DO(assign(s.target, std::move(value)));
  return Flow::next;
}

Result<std::pair<Renderer::Flow, Value>> Renderer::capture(const Block& block) {
  std::string outer = std::exchange(output_, {});
  const Heap::Share share(heap_, outer.size());
  auto flow = run_block(block);
  std::string inner = std::exchange(output_, std::move(outer));
  if (!flow) return Failure(std::move(flow.error()));
  return std::pair(*flow, text(std::move(inner)));
}

Result<std::pair<Renderer::Flow, Value>> Renderer::capture_in_scope(const Block& block) {
  Scope& outer = *scope_;
  scope_ = &new_scope(outer);
  auto captured = capture(block);
  drop_scope(*scope_);
  scope_ = &outer;
  return captured;
}

Result<Renderer::Flow> Renderer::execute(const SetBlock& s) {
  TRY(auto result, capture_in_scope(s.body));
  auto& [flow, value] = result;
  if (flow != Flow::next) return flow;
  if (s.filter) {
    TRY(value, filter_block(*s.filter, value));
  }
  TRY_DO(assign(s.target, std::move(value)));
  return Flow::next;
}

Result<Renderer::Flow> Renderer::execute(const FilterBlock& s) {
  TRY(auto result, capture_in_scope(s.body));
  if (result.first != Flow::next) return result.first;
  TRY(const Value filtered, filter_block(*s.filter, result.second));
  TRY(const std::string text, to_text(heap_, filtered));
  output_ += text;
  return Flow::next;
}

// All values are worked out before the first name is set.
Result<Renderer::Flow> Renderer::execute(const With& s) {
  std::vector<Value> values;
  for (const auto& [target, expression] : s.assignments) {
    TRY(Value value, evaluate(*expression));
    values.push_back(std::move(value));
  }
  Scope& outer = *scope_;
  scope_ = &new_scope(outer);
  Result<Flow> flow = Flow::next;
  for (size_t i = 0; i < values.size() && flow; ++i)
    if (auto status = assign(s.assignments[i].first, std::move(values[i])); !status) flow = Failure(status.error());
  if (flow) flow = run_block(s.body);
  drop_scope(*scope_);
  scope_ = &outer;
  return flow;
}

Result<Renderer::Flow> Renderer::execute(const Scoped& s) {
  Scope& outer = *scope_;
  scope_ = &new_scope(outer);
  auto flow = run_block(s.body);
  drop_scope(*scope_);
  scope_ = &outer;
  return flow;
}

Value Renderer::macro_here(const MacroDefinition& definition) {
  for (Scope* scope = scope_; !scope->captured; scope = scope->outer) {
    scope->captured = true;
    if (!scope->outer) break;
  }
  return Value(static_cast<Object*>(create<MacroObject>(definition, *scope_)));
}

Result<Renderer::Flow> Renderer::execute(const Macro& s) {
  scope_->set(s.name, macro_here(s.definition));
  return Flow::next;
}

Result<Renderer::Flow> Renderer::execute(const CallBlock& s) {
  const auto& call_node = std::get<Call>(s.call->node);
  TRY(const Value callee, evaluate(*call_node.callee));
  TRY(CallArguments arguments, evaluate(call_node.arguments));
  arguments.named.emplace_back("caller", macro_here(s.caller));
  TRY(const Value value, call(callee, std::move(arguments)));
  TRY(const std::string text, to_text(heap_, value));
  output_ += text;
  return Flow::next;
}

Status Renderer::assign(const Target& target, Value value) {
  if (!target.parts.empty()) {
    TRY(const ListRef items, iterate(value));
    if (items->items.size() != target.parts.size())
      return invalid(target.parts.size(), " variables are assigned to, but there are ", items->items.size(), " values");
    for (size_t i = 0; i < target.parts.size(); ++i) TRY_DO(assign(target.parts[i], items->items[i]));
    return {};
  }
  if (target.attribute.empty()) {
    scope_->set(target.name, std::move(value));
    return {};
  }
  const Value* holder = scope_->find(target.name);
  Namespace* space = holder && holder->object() ? holder->object()->as_namespace() : nullptr;
  if (!space)
    return invalid("'", source_.names[target.name], "' is ", holder ? kind_of(*holder) : "undefined",
                   ", but only a namespace's attributes can be assigned to");
  space->attributes.set(text(target.attribute), std::move(value));
  return {};
}

Result<Value> MacroObject::call(Renderer& renderer, CallArguments arguments) {
  const auto& names = definition_.names;
  if (arguments.positional.size() > names.size())
    return invalid("the macro '", definition_.name, "' takes ", names.size(), " arguments, but ",
                   arguments.positional.size(), " are given");
  Scope& scope = renderer.new_scope(scope_);
  Scope* const calling = std::exchange(renderer.scope_, &scope);
  const auto run = [&]() -> Result<Value> {
    std::vector<bool> given(names.size(), false);
    for (size_t i = 0; i < arguments.positional.size(); ++i) {
      scope.set(definition_.parameters[i].name, std::move(arguments.positional[i]));
      given[i] = true;
    }
    for (auto& [name, value] : arguments.named) {
      const auto at = size_t(std::ranges::find(names, name) - names.begin());
      if (name == "caller" && definition_.uses_caller) {
        scope.set(*renderer.source_.find_name(name), std::move(value));
        continue;
      }
      if (at == names.size() || given[at])
        return invalid("the macro '", definition_.name, "' ", at == names.size() ? "has no argument '" : "is given '",
                       name, at == names.size() ? "'" : "' twice");
      scope.set(definition_.parameters[at].name, std::move(value));
      given[at] = true;
    }
    for (size_t i = 0; i < names.size(); ++i) {
      if (given[i]) continue;
      Value value = renderer.undefined(str("the argument '", names[i], "' was not given"));
      if (definition_.parameters[i].fallback) {
        TRY(value, renderer.evaluate(*definition_.parameters[i].fallback));
      }
      scope.set(definition_.parameters[i].name, std::move(value));
    }
    TRY(auto result, renderer.capture(definition_.body));
    return std::move(result.second);
  };
  auto result = run();
  renderer.scope_ = calling;
  renderer.drop_scope(scope);
  return result;
}

}  // namespace pteron::jinja
