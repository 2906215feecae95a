// SPDX-License-Identifier: BSD-3-Clause
// Runs a parsed template once.
#pragma once

#include "llm/jinja/ast.h"
#include "llm/jinja/text_writer.h"

#include <deque>
#include <functional>

namespace pteron::jinja {

class Renderer;

struct CallArguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
};

// Variables of a block. Blocks look into the one around them.
struct Scope {
  Scope* outer = nullptr;
  std::vector<std::pair<NameId, Value>> variables;
  bool captured = false;  // by a macro, which may outlive the block

  const Value* find(NameId name) const;
  void set(NameId name, Value value);
};

// {% set ns.x = … %} changes it in place; everything else in a template is immutable.
class Namespace final : public Object {
 public:
  std::string_view kind() const override { return "a namespace"; }
  Namespace* as_namespace() override { return this; }
  Dict attributes;
};

class LoopObject final : public Object {
 public:
  std::string_view kind() const override { return "a loop"; }
  LoopObject* as_loop() override { return this; }
  ListRef items;
  size_t index = 0;
  std::optional<Value> last_changed;  // of loop.changed()
};

class Callable : public Object {
 public:
  Callable* as_callable() override { return this; }
  virtual Result<Value> call(Renderer& renderer, CallArguments arguments) = 0;
};

class MacroObject final : public Callable {
 public:
  MacroObject(const MacroDefinition& definition, Scope& scope) : definition_(definition), scope_(scope) {}
  std::string_view kind() const override { return "a macro"; }
  Result<Value> call(Renderer& renderer, CallArguments arguments) override;

 private:
  const MacroDefinition& definition_;
  Scope& scope_;
};

class Function final : public Callable {
 public:
  using Body = Result<Value> (*)(Renderer&, const CallArguments&);
  explicit Function(Body body) : body_(body) {}
  std::string_view kind() const override { return "a function"; }
  Result<Value> call(Renderer& renderer, CallArguments arguments) override { return body_(renderer, arguments); }

 private:
  Body body_;
};

class Renderer {
 public:
  Renderer(const Template& source, const TemplateLimits& limits, i64 local_time);

  // A name that the template does not mention is ignored.
  void define(std::string_view name, Value value);
  Result<std::string> run();

  // For filters, tests, methods and functions.
  Heap& heap() { return heap_; }
  i64 local_time() const { return local_time_; }
  Value text(std::string s) { return text_value(heap_, std::move(s)); }
  Result<std::string> str_of(const Value& value) { return to_text(heap_, value); }
  Result<Value> call(const Value& callee, CallArguments arguments);
  Result<Value> filter(std::string_view name, const Value& subject, const CallArguments& arguments);
  Result<bool> test(std::string_view name, const Value& subject, const CallArguments& arguments);
  Result<Value> attribute(const Value& object, std::string_view name);
  Result<Value> item(const Value& object, const Value& index);
  // What a for loop goes through. A generator is empty the second time.
  Result<ListRef> iterate(const Value& value);
  Value undefined(std::string what);
  template <class T, class... Ts>
  T* create(Ts&&... arguments);

 private:
  friend class MacroObject;
  enum class Flow { next, break_loop, continue_loop };

  Result<Flow> run_block(const Block& block);
  Result<Flow> execute(const Stmt& statement);
  Result<Flow> execute(const Data& s);
  Result<Flow> execute(const Output& s);
  Result<Flow> execute(const If& s);
  Result<Flow> execute(const For& s);
  Result<Flow> execute(const Set& s);
  Result<Flow> execute(const SetBlock& s);
  Result<Flow> execute(const With& s);
  Result<Flow> execute(const Macro& s);
  Result<Flow> execute(const CallBlock& s);
  Result<Flow> execute(const FilterBlock& s);
  Result<Flow> execute(const Scoped& s);
  Result<Flow> execute(const Break&) { return Flow::break_loop; }
  Result<Flow> execute(const Continue&) { return Flow::continue_loop; }
  Result<Flow> run_loop(const For& s, const ListRef& items);
  Result<ListRef> loop_items(const For& s);
  // What a block prints, instead of printing it.
  Result<std::pair<Flow, Value>> capture(const Block& block);
  Result<std::pair<Flow, Value>> capture_in_scope(const Block& block);
  Status assign(const Target& target, Value value);

  Result<Value> evaluate(const Expr& e);
  Result<Value> evaluate(const Literal& e) { return e.value; }
  Result<Value> evaluate(const Name& e);
  Result<Value> evaluate(const ListDisplay& e);
  Result<Value> evaluate(const DictDisplay& e);
  Result<Value> evaluate(const Unary& e);
  Result<Value> evaluate(const Binary& e);
  Result<Value> evaluate(const Logical& e);
  Result<Value> evaluate(const Compare& e);
  Result<Value> evaluate(const Concat& e);
  Result<Value> evaluate(const Conditional& e);
  Result<Value> evaluate(const Attribute& e);
  Result<Value> evaluate(const Subscript& e);
  Result<Value> evaluate(const Slice& e);
  Result<Value> evaluate(const Call& e);
  Result<Value> evaluate(const Filter& e);
  Result<Value> evaluate(const Test& e);
  Result<CallArguments> evaluate(const Arguments& arguments);
  // A filter that stands behind a block: what it is applied to is not an expression.
  Result<Value> filter_block(const Expr& filter, Value subject);

  Scope& new_scope(Scope& outer);
  void drop_scope(Scope& scope);
  Value macro_here(const MacroDefinition& definition);
  Status enter();

  const Template& source_;
  i64 local_time_;
  Heap heap_;  // goes after everything that is on it
  std::vector<std::unique_ptr<Object>> objects_;
  std::vector<Heap::Share> object_shares_;
  std::deque<Scope> scopes_;
  std::vector<Scope*> free_scopes_;
  Scope* scope_ = nullptr;
  std::string output_;
  u32 depth_ = 0;
};

// The error with its line in front, unless an inner expression has put its own there.
Failure located(Error error, u32 line);

template <class T, class... Ts>
T* Renderer::create(Ts&&... arguments) {
  object_shares_.emplace_back(heap_, 2 * sizeof(T));
  auto object = std::make_unique<T>(std::forward<Ts>(arguments)...);
  T* out = object.get();
  objects_.push_back(std::move(object));
  return out;
}

}  // namespace pteron::jinja
