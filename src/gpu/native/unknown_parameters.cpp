// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/native/unknown_parameters.h"

#include "base/text.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace pteron::gpu::native {
namespace {

struct Member {
  std::string_view name, type;
  bool used = false;
};

bool in_name(char c) { return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string_view name_at(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && in_name(text[end])) ++end;
  return text.substr(at, end - at);
}

// Behind the first `what` from `from` on; npos if there is none.
size_t behind(std::string_view text, std::string_view what, size_t from = 0) {
  const size_t at = text.find(what, from);
  return at == text.npos ? at : at + what.size();
}

// Of "a: u32, b: array<u32, 4>, // …" the scalars. Names and types of others don't fit the pattern.
std::vector<Member> scalars_of(std::string_view body) {
  std::vector<Member> out;
  for (size_t at = 0; (at = body.find(": ", at)) != body.npos;) {
    size_t begin = at;
    while (begin > 0 && in_name(body[begin - 1])) --begin;
    const std::string_view name = body.substr(begin, at - begin), type = name_at(body, at += 2);
    const char next = at + type.size() < body.size() ? body[at + type.size()] : ' ';
    const bool scalar = type == "u32" || type == "i32" || type == "f32";
    if (!name.empty() && scalar && (next == ',' || next == '\n' || next == ' ')) out.push_back({name, type});
  }
  return out;
}

// A number that main is given and that is below 2³¹ in every thread.
std::string small_number(std::string_view wgsl, size_t main) {
  if (const size_t at = behind(wgsl, "@builtin(workgroup_id) ", main); at != wgsl.npos)
    return str(name_at(wgsl, at), ".x");
  if (const size_t at = behind(wgsl, "@builtin(local_invocation_index) ", main); at != wgsl.npos)
    return std::string(name_at(wgsl, at));
  return {};
}

std::string own_name(const Member& member) { return str("p_", member.name, "_"); }

std::string reading(const Member& member) {
  const std::string value = member.type == "u32" ? str("p.", member.name) : str("bitcast<u32>(p.", member.name, ")");
  return str(" ", own_name(member), " = ", member.type == "u32" ? "" : str("bitcast<", member.type, ">"), "(", value,
             " | zero_);");
}

// Every `p.name` of a member becomes its own variable.
std::string with_own_names(std::string_view text, std::vector<Member>& members) {
  std::string out;
  size_t copied = 0;
  for (size_t at = 0; (at = text.find("p.", at)) != text.npos; at += 2) {
    if (at > 0 && (in_name(text[at - 1]) || text[at - 1] == '.')) continue;
    const auto member = std::ranges::find(members, name_at(text, at + 2), &Member::name);
    if (member == members.end()) continue;
    member->used = true;
    out += text.substr(copied, at - copied);
    out += own_name(*member);
    copied = at + 2 + member->name.size();
  }
  return out += text.substr(copied);
}

}  // namespace

std::string with_unknown_parameters(std::string wgsl) {
  const size_t variable = behind(wgsl, "var<uniform> p: ");
  if (variable == wgsl.npos) return wgsl;
  const size_t body = behind(wgsl, str("struct ", name_at(wgsl, variable), " {"));
  if (body == wgsl.npos) return wgsl;
  std::vector<Member> members = scalars_of(std::string_view(wgsl).substr(body, wgsl.find('}', body) - body));
  std::string out = with_own_names(wgsl, members);
  const size_t main = out.find("fn main(");
  const std::string number = main == out.npos ? "" : small_number(out, main);
  const size_t begin = behind(out, ") {", main);
  if (number.empty() || begin == out.npos) return wgsl;
  std::string start = str(" let zero_ = ", number, " >> 31u;"), declarations = "\n";
  for (const Member& member : members) {
    if (!member.used) continue;
    start += reading(member);
    declarations += str("var<private> ", own_name(member), ": ", member.type, ";\n");
  }
  return out.insert(begin, start) + declarations;
}

}  // namespace pteron::gpu::native
