// SPDX-License-Identifier: BSD-3-Clause
#include "llm/jinja/ast.h"

#include <algorithm>

namespace pteron::jinja {
namespace {

u32 depth_of(const ExprPtr& e) { return e ? e->depth : 0; }
u32 depth_of(const Arguments& arguments) {
  u32 depth = 0;
  for (const Argument& a : arguments) depth = std::max(depth, depth_of(a.value));
  return depth;
}

struct DepthOf {
  u32 operator()(const Literal&) const { return 0; }
  u32 operator()(const Name&) const { return 0; }
  u32 operator()(const ListDisplay& n) const { return of_all(n.items); }
  u32 operator()(const DictDisplay& n) const {
    u32 depth = 0;
    for (const auto& [key, value] : n.entries) depth = std::max({depth, depth_of(key), depth_of(value)});
    return depth;
  }
  u32 operator()(const Unary& n) const { return depth_of(n.operand); }
  u32 operator()(const Binary& n) const { return std::max(depth_of(n.left), depth_of(n.right)); }
  u32 operator()(const Logical& n) const { return std::max(depth_of(n.left), depth_of(n.right)); }
  u32 operator()(const Compare& n) const {
    u32 depth = depth_of(n.first);
    for (const auto& [op, operand] : n.rest) depth = std::max(depth, depth_of(operand));
    return depth;
  }
  u32 operator()(const Concat& n) const { return of_all(n.parts); }
  u32 operator()(const Conditional& n) const {
    return std::max({depth_of(n.condition), depth_of(n.then), depth_of(n.otherwise)});
  }
  u32 operator()(const Attribute& n) const { return depth_of(n.object); }
  u32 operator()(const Subscript& n) const { return std::max(depth_of(n.object), depth_of(n.index)); }
  u32 operator()(const Slice& n) const {
    return std::max({depth_of(n.object), depth_of(n.start), depth_of(n.stop), depth_of(n.step)});
  }
  u32 operator()(const Call& n) const { return std::max(depth_of(n.callee), depth_of(n.arguments)); }
  u32 operator()(const Filter& n) const { return std::max(depth_of(n.subject), depth_of(n.arguments)); }
  u32 operator()(const Test& n) const { return std::max(depth_of(n.subject), depth_of(n.arguments)); }

  static u32 of_all(const std::vector<ExprPtr>& parts) {
    u32 depth = 0;
    for (const ExprPtr& part : parts) depth = std::max(depth, depth_of(part));
    return depth;
  }
};

}  // namespace

u32 depth_below(const ExprNode& node) { return std::visit(DepthOf(), node); }

std::optional<NameId> Template::find_name(std::string_view name) const {
  const auto at = std::ranges::find(names, name);
  return at != names.end() ? std::optional(NameId(at - names.begin())) : std::nullopt;
}

}  // namespace pteron::jinja
