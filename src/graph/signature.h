// SPDX-License-Identifier: BSD-3-Clause
// What an op takes and what it does to its arguments, as data. A signature is a line of text that is parsed while the
// engine compiles:
//
//   "x, weight?, eps: number = 1e-6 -> out"_sig
//
//   x                 a tensor whose contents are read; x? may be Null
//   x: kind           int, number, flag, text, ints, numbers, tensors, maybe_tensors (items may be Null), or any (Null,
//                     a number or a list that means nothing here); kind? may be Null
//   x: kind = value   what Null stands for; like all that may be Null it can be left out behind the last that is given
//   ...               further arguments of kind any
//   inout x           a tensor that is read and written; cache x the same, by positions
//   shape x, host x   a tensor of which only the shape is read, or the contents only on the host
//   -> out            the result, written whole: a tensor; out: symint; [a, b] or [a, ...] for a list of tensors
#pragma once

#include "base/error.h"

#include <pteron/types.h>

#include <array>
#include <span>
#include <string_view>

namespace pteron::graph {

struct Graph;
struct Op;

enum class Kind : u8 { tensor, tensors, maybe_tensors, integer, number, flag, text, integers, numbers, symint, any };
enum class Role : u8 { in, out, inout, cache, shape, host };

struct Parameter {
  std::string_view name;
  Kind kind = Kind::tensor;
  Role role = Role::in;
  bool optional = false;  // may be Null
  u8 items = 0;           // results: how many tensors a list has
  bool open = false;      // results: or more
  f64 number = 0;         // the default; a flag's is 0 or 1
  std::string_view text = {};
};

struct Signature {
  std::span<const Parameter> params;  // as an op's arguments: the result is the last one
  bool ignores_more = false;
};

// Brings an op's arguments into the form of its signature, one per parameter: what was left out becomes Null, what is
// ignored goes. An error names the argument, what was found and what is allowed.
Status fit_arguments(Graph& graph, Op& op);

// --- the notation
namespace notation {

void signature_is_malformed();  // is no constant expression, so that the compiler complains

template <size_t size>
struct Text {
  char data[size];
  consteval Text(const char (&text)[size]) {
    for (size_t i = 0; i < size; ++i) data[i] = text[i];
  }
  constexpr std::string_view view() const { return {data, size - 1}; }
};

struct Parser {
  std::string_view rest;

  constexpr void skip_spaces() {
    while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  }
  constexpr bool take(std::string_view token) {
    skip_spaces();
    if (!rest.starts_with(token)) return false;
    rest.remove_prefix(token.size());
    return true;
  }
  constexpr std::string_view word() {
    skip_spaces();
    size_t size = 0;
    const auto is_part = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
    while (size < rest.size() && is_part(rest[size])) ++size;
    if (size == 0) signature_is_malformed();
    const std::string_view out = rest.substr(0, size);
    rest.remove_prefix(size);
    return out;
  }
  constexpr Kind kind() {
    constexpr std::string_view names[] = {"tensor", "tensors", "maybe_tensors", "int",    "number", "flag",
                                          "text",   "ints",    "numbers",       "symint", "any"};
    const std::string_view name = word();
    for (size_t i = 0; i < std::size(names); ++i)
      if (names[i] == name) return Kind(i);
    signature_is_malformed();
    return {};
  }
  // Digits with a point, a sign and an exponent; inf.
  constexpr f64 number() {
    skip_spaces();
    const bool negative = take("-");
    if (take("inf")) return negative ? -__builtin_inf() : __builtin_inf();
    f64 digits = 0, scale = 1;
    bool any = false, point = false;
    for (; !rest.empty() && ((rest.front() >= '0' && rest.front() <= '9') || (!point && rest.front() == '.'));
         rest.remove_prefix(1)) {
      if (rest.front() == '.') {
        point = true;
        continue;
      }
      digits = digits * 10 + (rest.front() - '0');
      if (point) scale *= 10;
      any = true;
    }
    if (!any) signature_is_malformed();
    if (!rest.empty() && rest.front() == 'e') {
      rest.remove_prefix(1);
      if (!take("-")) signature_is_malformed();
      for (int exponent = int(number()); exponent > 0; --exponent) scale *= 10;
    }
    return (negative ? -digits : digits) / scale;
  }
  constexpr void default_of(Parameter& p) {
    p.optional = true;
    switch (p.kind) {
      case Kind::integer:
      case Kind::number: p.number = number(); return;
      case Kind::flag: p.number = word() == "true"; return;
      case Kind::text: p.text = word(); return;
      default: signature_is_malformed();
    }
  }
  constexpr Parameter parameter() {
    constexpr std::string_view roles[] = {"", "", "inout ", "cache ", "shape ", "host "};
    Parameter p;
    for (size_t i = size_t(Role::inout); i < std::size(roles); ++i)
      if (take(roles[i])) p.role = Role(i);
    p.name = word();
    p.optional = take("?");
    if (take(":")) p.kind = kind();
    if (take("?")) p.optional = true;
    if (take("=")) default_of(p);
    if (p.kind == Kind::any) p.optional = true;
    if (p.kind == Kind::symint || (p.role != Role::in && p.kind != Kind::tensor)) signature_is_malformed();
    return p;
  }
  constexpr Parameter result() {
    Parameter p;
    p.role = Role::out;
    if (!take("[")) {
      p.name = word();
      if (take(":")) p.kind = kind();
      if (p.kind != Kind::tensor && p.kind != Kind::symint) signature_is_malformed();
      return p;
    }
    p.name = "results";
    p.kind = Kind::tensors;
    do {
      p.open = take("...");
      if (!p.open) word(), ++p.items;
    } while (take(","));
    if (!take("]")) signature_is_malformed();
    return p;
  }
};

struct Parsed {
  static constexpr size_t most = 20;
  std::array<Parameter, most> params{};
  size_t count = 0;
  bool ignores_more = false;
};

consteval Parsed parse(std::string_view text) {
  Parser parser{text};
  Parsed out;
  while (!parser.take("->")) {
    if (out.count + 1 == Parsed::most || out.ignores_more) signature_is_malformed();
    out.ignores_more = parser.take("...");
    if (!out.ignores_more) out.params[out.count++] = parser.parameter();
    if (!parser.take(",") && !parser.rest.starts_with("->")) signature_is_malformed();
  }
  out.params[out.count++] = parser.result();
  parser.skip_spaces();
  if (!parser.rest.empty()) signature_is_malformed();
  return out;
}

template <Text text>
struct Stored {
  static constexpr Parsed parsed = parse(text.view());
  static constexpr std::array<Parameter, parsed.count> params = [] {
    std::array<Parameter, parsed.count> out;
    for (size_t i = 0; i < out.size(); ++i) out[i] = parsed.params[i];
    return out;
  }();
};

}  // namespace notation

template <notation::Text text>
consteval Signature operator""_sig() {
  using Stored = notation::Stored<text>;
  return {Stored::params, Stored::parsed.ignores_more};
}

}  // namespace pteron::graph
