// SPDX-License-Identifier: BSD-3-Clause
// Expressions, from the loosest operator to the tightest.
#include "base/error.h"
#include "llm/jinja/parser.h"

#include <algorithm>
#include <charconv>

namespace pteron::jinja {
namespace {

// Of an expression's tree; it is walked and freed recursively.
constexpr u32 max_depth = 250;

struct Operator {
  std::string_view symbol;
  Binary::Op op;
};
// Left to right; `~` stands between the first two.
constexpr Operator sums[] = {{"+", Binary::add}, {"-", Binary::subtract}};
constexpr Operator products[] = {
    {"*", Binary::multiply}, {"//", Binary::floor_divide}, {"/", Binary::divide}, {"%", Binary::modulo}};
constexpr Operator powers[] = {{"**", Binary::power}};
constexpr std::span<const Operator> levels[] = {sums, products, powers};

std::optional<Comparison> comparison_of(const Token& token) {
  if (token.kind != Token::symbol) return {};
  if (token.value == "==") return Comparison::equal;
  if (token.value == "!=") return Comparison::not_equal;
  if (token.value == "<") return Comparison::less;
  if (token.value == "<=") return Comparison::less_equal;
  if (token.value == ">") return Comparison::greater;
  if (token.value == ">=") return Comparison::greater_equal;
  return {};
}

}  // namespace

Result<ExprPtr> Parser::make(u32 line, ExprNode node) {
  const u32 depth = depth_below(node) + 1;
  if (depth > max_depth)
    return unsupported(at_line(line), "an expression is nested deeper than ", max_depth, " levels");
  return std::make_unique<const Expr>(line, depth, std::move(node));
}

Result<ExprPtr> Parser::tuple(bool conditional) {
  const u32 line = current().line;
  const auto at_end = [&] {
    const Token& t = current();
    return t.kind == Token::output_end || t.kind == Token::block_end || at_symbol(")") || at_name("recursive");
  };
  TRY(ExprPtr first, expression(conditional));
  if (!at_symbol(",")) return first;
  ListDisplay out{List::tuple, {}};
  out.items.push_back(std::move(first));
  while (take_symbol(",") && !at_end()) {
    TRY(ExprPtr item, expression(conditional));
    out.items.push_back(std::move(item));
  }
  return make(line, std::move(out));
}

Result<ExprPtr> Parser::parenthesised() {
  const u32 line = next().line;
  if (take_symbol(")")) return make(line, ListDisplay{List::tuple, {}});
  TRY(ExprPtr inner, tuple());
  TRY_DO(expect_symbol(")"));
  return inner;
}

Result<ExprPtr> Parser::expression(bool conditional) {
  const Leave leave{depth_};
  TRY_DO(enter());
  const u32 line = current().line;
  TRY(ExprPtr out, logical(false));
  while (conditional && take_name("if")) {
    Conditional node{nullptr, std::move(out), nullptr};
    TRY(node.condition, logical(false));
    if (take_name("else")) {
      TRY(node.otherwise, expression());
    }
    TRY(out, make(line, std::move(node)));
  }
  return out;
}

Result<ExprPtr> Parser::logical(bool is_and) {
  const auto operand = [&] { return is_and ? logical_not() : logical(true); };
  const u32 line = current().line;
  TRY(ExprPtr left, operand());
  while (take_name(is_and ? "and" : "or")) {
    TRY(ExprPtr right, operand());
    TRY(left, make(line, Logical{is_and, std::move(left), std::move(right)}));
  }
  return left;
}

Result<ExprPtr> Parser::logical_not() {
  const u32 line = current().line;
  if (!take_name("not")) return comparison();
  const Leave leave{depth_};
  TRY_DO(enter());
  TRY(ExprPtr operand, logical_not());
  return make(line, Unary{Unary::logical_not, std::move(operand)});
}

Result<ExprPtr> Parser::comparison() {
  const u32 line = current().line;
  TRY(ExprPtr first, arithmetic(0));
  Compare out{std::move(first), {}};
  while (true) {
    std::optional<Comparison> op = comparison_of(current());
    if (at_name("in")) op = Comparison::in;
    if (at_name("not") && following().is(Token::name, "in")) {
      next();
      op = Comparison::not_in;
    }
    if (!op) break;
    next();
    TRY(ExprPtr operand, arithmetic(0));
    out.rest.emplace_back(*op, std::move(operand));
  }
  if (out.rest.empty()) return std::move(out.first);
  return make(line, std::move(out));
}

Result<ExprPtr> Parser::arithmetic(u32 level) {
  const auto operand = [&] {
    if (level == 0) return concatenation();
    return level + 1 < std::size(levels) ? arithmetic(level + 1) : unary();
  };
  const u32 line = current().line;
  TRY(ExprPtr left, operand());
  while (current().kind == Token::symbol) {
    const auto op = std::ranges::find(levels[level], std::string_view(current().value), &Operator::symbol);
    if (op == levels[level].end()) break;
    next();
    TRY(ExprPtr right, operand());
    TRY(left, make(line, Binary{op->op, std::move(left), std::move(right)}));
  }
  return left;
}

Result<ExprPtr> Parser::concatenation() {
  const u32 line = current().line;
  TRY(ExprPtr first, arithmetic(1));
  if (!at_symbol("~")) return first;
  Concat out;
  out.parts.push_back(std::move(first));
  while (take_symbol("~")) {
    TRY(ExprPtr part, arithmetic(1));
    out.parts.push_back(std::move(part));
  }
  return make(line, std::move(out));
}

Result<ExprPtr> Parser::unary(bool with_filters) {
  const u32 line = current().line;
  ExprPtr out;
  if (at_symbol("-") || at_symbol("+")) {
    const Leave leave{depth_};
    TRY_DO(enter());
    const Unary::Op op = next().value == "-" ? Unary::negate : Unary::plus;
    TRY(ExprPtr operand, unary(false));
    TRY(out, make(line, Unary{op, std::move(operand)}));
  } else {
    TRY(out, primary());
  }
  TRY(out, postfix(std::move(out)));
  return with_filters ? filters_and_tests(std::move(out)) : Result<ExprPtr>(std::move(out));
}

Result<ExprPtr> Parser::primary() {
  const Token& token = current();
  if (token.kind == Token::text || token.kind == Token::integer || token.kind == Token::real) return literal();
  if (at_symbol("(")) return parenthesised();
  if (at_symbol("[")) return list_display();
  if (at_symbol("{")) return dict_display();
  if (token.kind != Token::name) return wrong("an expression is missing");
  const u32 line = token.line;
  const std::string name = next().value;
  if (name == "true" || name == "True") return make(line, Literal{Value(true)});
  if (name == "false" || name == "False") return make(line, Literal{Value(false)});
  if (name == "none" || name == "None") return make(line, Literal{Value(None())});
  caller_seen_ = caller_seen_ || name == "caller";
  return make(line, Name{name_id(name)});
}

Result<ExprPtr> Parser::literal() {
  const Token token = next();
  const char *first = token.value.data(), *last = first + token.value.size();
  if (token.kind == Token::text) {
    std::string text = token.value;
    while (current().kind == Token::text) text += next().value;
    return make(token.line, Literal{text_value(out_.heap, std::move(text))});
  }
  if (token.kind == Token::real) {
    f64 real = 0;
    if (std::from_chars(first, last, real).ec != std::errc())
      return invalid(at_line(token.line), "the number ", token.value, " is out of range");
    return make(token.line, Literal{Value(real)});
  }
  int base = 10;
  if (token.value.size() > 2 && token.value[0] == '0') {
    const char kind = char(token.value[1] | 0x20);
    base = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 10;
    if (base != 10) first += 2;
  }
  i64 integer = 0;
  if (std::from_chars(first, last, integer, base).ec != std::errc())
    return unsupported(at_line(token.line), "the number ", token.value, " has more than 63 bits");
  return make(token.line, Literal{Value(integer)});
}

Result<ExprPtr> Parser::list_display() {
  const u32 line = next().line;
  ListDisplay out{List::list, {}};
  while (!at_symbol("]")) {
    if (!out.items.empty()) TRY_DO(expect_symbol(","));
    if (at_symbol("]")) break;
    TRY(ExprPtr item, expression());
    out.items.push_back(std::move(item));
  }
  next();
  return make(line, std::move(out));
}

Result<ExprPtr> Parser::dict_display() {
  const u32 line = next().line;
  DictDisplay out;
  while (!at_symbol("}")) {
    if (!out.entries.empty()) TRY_DO(expect_symbol(","));
    if (at_symbol("}")) break;
    TRY(ExprPtr key, expression());
    TRY_DO(expect_symbol(":"));
    TRY(ExprPtr value, expression());
    out.entries.emplace_back(std::move(key), std::move(value));
  }
  next();
  return make(line, std::move(out));
}

Result<ExprPtr> Parser::postfix(ExprPtr e) {
  while (true) {
    const u32 line = current().line;
    if (take_symbol(".")) {
      TRY(e, attribute(std::move(e)));
    } else if (take_symbol("[")) {
      TRY(e, subscript(std::move(e)));
    } else if (at_symbol("(")) {
      TRY(Arguments args, arguments());
      TRY(e, make(line, Call{std::move(e), std::move(args)}));
    } else {
      return e;
    }
  }
}

Result<ExprPtr> Parser::attribute(ExprPtr object) {
  const u32 line = current().line;
  if (current().kind == Token::integer) {
    TRY(ExprPtr index, literal());
    return make(line, Subscript{std::move(object), std::move(index)});
  }
  TRY(std::string name, expect_name("an attribute's name"));
  return make(line, Attribute{std::move(object), std::move(name)});
}

Result<ExprPtr> Parser::subscript(ExprPtr object) {
  const u32 line = current().line;
  ExprPtr parts[3];
  u32 colons = 0;
  ListDisplay indices{List::tuple, {}};  // of x[a, b] and x[]
  while (!at_symbol("]")) {
    if (take_symbol(":")) {
      if (++colons > 2 || !indices.items.empty()) return wrong("a slice has too many parts");
      continue;
    }
    if (take_symbol(",")) {
      if (!parts[0] || colons > 0 || at_symbol("]")) return wrong("an index is missing");
      indices.items.push_back(std::move(parts[0]));
      continue;
    }
    if (parts[colons]) return wrong("a ']' is missing");
    TRY(parts[colons], expression());
  }
  next();
  if (colons > 0)
    return make(line, Slice{std::move(object), std::move(parts[0]), std::move(parts[1]), std::move(parts[2])});
  if (!parts[0] || !indices.items.empty()) {
    if (parts[0]) indices.items.push_back(std::move(parts[0]));
    TRY(parts[0], make(line, std::move(indices)));
  }
  return make(line, Subscript{std::move(object), std::move(parts[0])});
}

Result<ExprPtr> Parser::filters_and_tests(ExprPtr e) {
  while (true) {
    const u32 line = current().line;
    if (take_symbol("|")) {
      TRY(e, filter(std::move(e)));
    } else if (take_name("is")) {
      TRY(e, test(std::move(e)));
    } else if (at_symbol("(")) {
      TRY(Arguments args, arguments());
      TRY(e, make(line, Call{std::move(e), std::move(args)}));
    } else {
      return e;
    }
  }
}

Result<ExprPtr> Parser::filter(ExprPtr subject) {
  const u32 line = current().line;
  TRY(std::string name, expect_name("a filter's name"));
  Arguments args;
  if (at_symbol("(")) {
    TRY(args, arguments());
  }
  return make(line, Filter{std::move(subject), std::move(name), std::move(args)});
}

Result<ExprPtr> Parser::filter_chain(ExprPtr subject) {
  while (take_symbol("|")) {
    TRY(subject, filter(std::move(subject)));
  }
  return subject;
}

Result<ExprPtr> Parser::test(ExprPtr subject) {
  const u32 line = current().line;
  const bool negated = take_name("not");
  TRY(std::string name, expect_name("a test's name"));
  Arguments args;
  const Token& token = current();
  const bool has_operand = (token.kind == Token::name && !at_name("else") && !at_name("or") && !at_name("and")) ||
                           token.kind == Token::text || token.kind == Token::integer || token.kind == Token::real ||
                           at_symbol("[") || at_symbol("{");
  if (at_symbol("(")) {
    TRY(args, arguments());
  } else if (has_operand) {
    if (at_name("is")) return wrong("tests can't be chained with 'is'");
    TRY(ExprPtr operand, primary());
    TRY(operand, postfix(std::move(operand)));
    args.push_back({Argument::positional, "", std::move(operand)});
  }
  return make(line, Test{std::move(subject), std::move(name), std::move(args), negated});
}

Result<Arguments> Parser::arguments() {
  next();
  Arguments out;
  bool named = false, unpacked = false;
  while (!at_symbol(")")) {
    if (!out.empty()) TRY_DO(expect_symbol(","));
    if (at_symbol(")")) break;
    Argument a;
    if (take_symbol("**")) {
      a.kind = Argument::unpacked_dict;
    } else if (take_symbol("*")) {
      a.kind = Argument::unpacked_list;
    } else if (current().kind == Token::name && following().is(Token::symbol, "=")) {
      a.kind = Argument::named;
      a.name = next().value;
      next();
    } else if (named || unpacked) {
      return wrong("a positional argument stands behind a named one");
    }
    named = named || a.kind == Argument::named;
    unpacked = unpacked || a.kind == Argument::unpacked_list || a.kind == Argument::unpacked_dict;
    TRY(a.value, expression());
    out.push_back(std::move(a));
  }
  next();
  return out;
}

}  // namespace pteron::jinja
