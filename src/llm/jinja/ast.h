// SPDX-License-Identifier: BSD-3-Clause
// A parsed template.
#pragma once

#include "llm/jinja/value.h"

#include <optional>

namespace pteron::jinja {

using NameId = u32;  // of a variable, into Template::names

struct Expr;
using ExprPtr = std::unique_ptr<const Expr>;

struct Argument {
  enum Kind { positional, named, unpacked_list, unpacked_dict } kind = positional;
  std::string name;
  ExprPtr value;
};
using Arguments = std::vector<Argument>;

struct Literal {
  Value value;
};
struct Name {
  NameId id;
};
struct ListDisplay {
  List::Kind kind;
  std::vector<ExprPtr> items;
};
struct DictDisplay {
  std::vector<std::pair<ExprPtr, ExprPtr>> entries;
};
struct Unary {
  enum Op { negate, plus, logical_not } op;
  ExprPtr operand;
};
struct Binary {
  enum Op { add, subtract, multiply, divide, floor_divide, modulo, power } op;
  ExprPtr left, right;
};
struct Logical {
  bool is_and;
  ExprPtr left, right;
};
enum class Comparison { equal, not_equal, less, less_equal, greater, greater_equal, in, not_in };
struct Compare {
  ExprPtr first;
  std::vector<std::pair<Comparison, ExprPtr>> rest;  // a < b < c
};
struct Concat {
  std::vector<ExprPtr> parts;
};
struct Conditional {
  ExprPtr condition, then, otherwise;  // otherwise may be missing
};
struct Attribute {
  ExprPtr object;
  std::string name;
};
struct Subscript {
  ExprPtr object, index;
};
struct Slice {
  ExprPtr object, start, stop, step;  // each of the three may be missing
};
struct Call {
  ExprPtr callee;
  Arguments arguments;
};
struct Filter {
  ExprPtr subject;  // missing at the head of a filter that is applied to a block
  std::string name;
  Arguments arguments;
};
struct Test {
  ExprPtr subject;
  std::string name;
  Arguments arguments;
  bool negated;
};

using ExprNode = std::variant<Literal, Name, ListDisplay, DictDisplay, Unary, Binary, Logical, Compare, Concat,
                              Conditional, Attribute, Subscript, Slice, Call, Filter, Test>;
struct Expr {
  u32 line = 0;
  u32 depth = 1;
  ExprNode node;
};
// The depth of the deepest expression inside of it.
u32 depth_below(const ExprNode& node);

struct Stmt;
using Block = std::vector<Stmt>;

// What a value is assigned to: a name, an attribute of a namespace, or several targets for a sequence.
struct Target {
  NameId name = 0;
  std::string attribute;      // of the namespace `name`
  std::vector<Target> parts;  // if not empty, the rest does not count
};

struct Parameter {
  NameId name;
  ExprPtr fallback;  // may be missing
};
struct MacroDefinition {
  std::string name;
  std::vector<Parameter> parameters;
  std::vector<std::string> names;  // of the parameters
  bool uses_caller = false;        // {% call %} needs it
  Block body;
};

struct Data {
  Value text;
};
struct Output {
  ExprPtr value;
};
struct If {
  std::vector<std::pair<ExprPtr, Block>> branches;
  Block otherwise;
};
struct For {
  Target target;
  ExprPtr iterable, condition;  // condition may be missing
  Block body, otherwise;
};
struct Set {
  Target target;
  ExprPtr value;
};
struct SetBlock {
  Target target;
  ExprPtr filter;  // may be missing
  Block body;
};
struct With {
  std::vector<std::pair<Target, ExprPtr>> assignments;
  Block body;
};
struct Macro {
  NameId name;
  MacroDefinition definition;
};
struct CallBlock {
  ExprPtr call;  // a Call
  MacroDefinition caller;
};
struct FilterBlock {
  ExprPtr filter;
  Block body;
};
struct Scoped {  // {% generation %}
  Block body;
};
struct Break {};
struct Continue {};

struct Stmt {
  u32 line = 0;
  std::variant<Data, Output, If, For, Set, SetBlock, With, Macro, CallBlock, FilterBlock, Scoped, Break, Continue> node;
};

struct Template {
  explicit Template(const TemplateLimits& limits) : heap(limits) {}
  Heap heap;  // of the literals; goes last
  std::vector<std::string> names;
  Block body;

  std::optional<NameId> find_name(std::string_view name) const;
};

Result<std::unique_ptr<const Template>> parse(std::string_view text, const TemplateLimits& limits);

}  // namespace pteron::jinja
