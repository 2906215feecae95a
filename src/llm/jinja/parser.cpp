// SPDX-License-Identifier: BSD-3-Clause
#include "llm/jinja/parser.h"

#include "base/error.h"

#include <algorithm>

namespace pteron::jinja {
namespace {

constexpr u32 max_nesting = 80;
constexpr size_t max_template_bytes = 4 << 20;

bool is_constant_name(std::string_view name) {
  return name == "true" || name == "false" || name == "none" || name == "True" || name == "False" || name == "None";
}

std::string describe(const Token& token) {
  switch (token.kind) {
    case Token::end: return "the end of the template";
    case Token::data: return "text";
    case Token::output_begin: return "'{{'";
    case Token::output_end: return "'}}'";
    case Token::block_begin: return "'{%'";
    case Token::block_end: return "'%}'";
    case Token::text: return "a string";
    default: return str("'", token.value, "'");
  }
}

}  // namespace

Failure Parser::wrong(std::string_view what) const {
  return invalid(at_line(current().line), what, ", but there is ", describe(current()));
}

Status Parser::expect(Token::Kind kind, std::string_view what) {
  if (current().kind != kind) return wrong(str(what, " is missing"));
  next();
  return {};
}

Status Parser::expect_symbol(std::string_view s) {
  if (!take_symbol(s)) return wrong(str("a '", s, "' is missing"));
  return {};
}

Result<std::string> Parser::expect_name(std::string_view what) {
  if (current().kind != Token::name) return wrong(str(what, " is missing"));
  return next().value;
}

NameId Parser::name_id(const std::string& name) {
  const auto [at, added] = names_.try_emplace(name, NameId(out_.names.size()));
  if (added) out_.names.push_back(name);
  return at->second;
}

Status Parser::enter() {
  if (++depth_ <= max_nesting) return {};
  return unsupported(at_line(current().line), "blocks or expressions are nested deeper than ", max_nesting, " levels");
}

Status Parser::run() {
  TRY_DO(block(out_.body, {}));
  return {};
}

Status Parser::block(Block& body, std::initializer_list<std::string_view> ends) {
  const Leave leave{depth_};
  TRY_DO(enter());
  while (current().kind != Token::end) {
    const u32 line = current().line;
    if (current().kind == Token::data) {
      body.push_back({line, Data{text_value(out_.heap, next().value)}});
    } else if (current().kind == Token::output_begin) {
      next();
      TRY(ExprPtr value, tuple());
      TRY_DO(expect(Token::output_end, "'}}'"));
      body.push_back({line, Output{std::move(value)}});
    } else {
      TRY_DO(expect(Token::block_begin, "'{%'"));
      const auto is_here = [&](std::string_view end) { return at_name(end); };
      if (std::ranges::any_of(ends, is_here)) return {};
      TRY(Stmt s, statement());
      s.line = line;
      body.push_back(std::move(s));
      TRY_DO(expect(Token::block_end, "'%}'"));
    }
  }
  if (ends.size() > 0) return wrong(str("a '{% ", *(ends.end() - 1), " %}' is missing"));
  return {};
}

Result<Block> Parser::body(std::initializer_list<std::string_view> ends) {
  take_symbol(":");
  TRY_DO(expect(Token::block_end, "'%}'"));
  Block out;
  TRY_DO(block(out, ends));
  return out;
}

Result<Block> Parser::body_until(std::string_view end) {
  TRY(Block out, body({end}));
  next();
  return out;
}

Result<Stmt> Parser::statement() {
  TRY(const std::string tag, expect_name("a tag's name"));
  if (tag == "if") return if_statement();
  if (tag == "for") return for_statement();
  if (tag == "set") return set_statement();
  if (tag == "with") return with_statement();
  if (tag == "macro") return macro_statement();
  if (tag == "call") return call_statement();
  if (tag == "filter") return filter_statement();
  if (tag == "generation") {
    const u32 outer = std::exchange(loops_, 0);
    TRY(Block out, body_until("endgeneration"));
    loops_ = outer;
    return Stmt{0, Scoped{std::move(out)}};
  }
  if (tag == "break" || tag == "continue") {
    if (loops_ == 0) return invalid(at_line(current().line), "'", tag, "' is not inside of a loop");
    if (tag == "break") return Stmt{0, Break{}};
    return Stmt{0, Continue{}};
  }
  for (std::string_view known : {"block", "extends", "include", "import", "from", "autoescape", "print"})
    if (tag == known) return unsupported(at_line(current().line), "the tag '", tag, "' is not supported");
  return invalid(at_line(current().line), "the tag '", tag, "' is not known or not expected here");
}

Result<Stmt> Parser::if_statement() {
  If out;
  do {
    TRY(ExprPtr condition, tuple(false));
    TRY(Block then, body({"elif", "else", "endif"}));
    out.branches.emplace_back(std::move(condition), std::move(then));
  } while (take_name("elif"));
  if (take_name("else")) {
    TRY(out.otherwise, body({"endif"}));
  }
  next();
  return Stmt{0, std::move(out)};
}

Result<Stmt> Parser::for_statement() {
  For out;
  TRY(out.target, target(false));
  if (!take_name("in")) return wrong("'in' is missing");
  TRY(out.iterable, tuple(false));
  if (take_name("if")) {
    TRY(out.condition, expression());
  }
  if (at_name("recursive")) return unsupported(at_line(current().line), "recursive loops are not supported");
  ++loops_;
  TRY(out.body, body({"endfor", "else"}));
  --loops_;
  if (take_name("else")) {
    TRY(out.otherwise, body({"endfor"}));
  }
  next();
  return Stmt{0, std::move(out)};
}

Result<Stmt> Parser::set_statement() {
  TRY(Target to, target(true));
  if (take_symbol("=")) {
    TRY(ExprPtr value, tuple());
    return Stmt{0, Set{std::move(to), std::move(value)}};
  }
  SetBlock out{std::move(to), nullptr, {}};
  if (at_symbol("|")) {
    TRY(out.filter, filter_chain(nullptr));
  }
  TRY(out.body, body_until("endset"));
  return Stmt{0, std::move(out)};
}

Result<Stmt> Parser::with_statement() {
  With out;
  while (current().kind != Token::block_end && !at_symbol(":")) {
    if (!out.assignments.empty()) TRY_DO(expect_symbol(","));
    TRY(Target to, target(false));
    TRY_DO(expect_symbol("="));
    TRY(ExprPtr value, expression());
    out.assignments.emplace_back(std::move(to), std::move(value));
  }
  TRY(out.body, body_until("endwith"));
  return Stmt{0, std::move(out)};
}

Status Parser::parameters(MacroDefinition& macro) {
  TRY_DO(expect_symbol("("));
  while (!at_symbol(")")) {
    if (!macro.parameters.empty()) TRY_DO(expect_symbol(","));
    TRY(const std::string name, expect_name("a parameter's name"));
    Parameter p{name_id(name), nullptr};
    if (take_symbol("=")) {
      TRY(p.fallback, expression());
    } else if (!macro.parameters.empty() && macro.parameters.back().fallback) {
      return invalid(at_line(current().line), "the parameter '", name, "' has no default, but one before it does");
    }
    macro.parameters.push_back(std::move(p));
    macro.names.push_back(name);
  }
  next();
  return {};
}

Status Parser::macro_body(MacroDefinition& macro, std::string_view end) {
  const u32 outer_loops = std::exchange(loops_, 0);
  const bool outer_caller = std::exchange(caller_seen_, false);
  TRY(macro.body, body_until(end));
  loops_ = outer_loops;
  macro.uses_caller = std::exchange(caller_seen_, outer_caller);
  return {};
}

Result<Stmt> Parser::macro_statement() {
  Macro out;
  TRY(out.definition.name, expect_name("the macro's name"));
  out.name = name_id(out.definition.name);
  TRY_DO(parameters(out.definition));
  TRY_DO(macro_body(out.definition, "endmacro"));
  return Stmt{0, std::move(out)};
}

Result<Stmt> Parser::call_statement() {
  CallBlock out;
  out.caller.name = "caller";
  if (at_symbol("(")) TRY_DO(parameters(out.caller));
  TRY(out.call, expression());
  if (!std::holds_alternative<Call>(out.call->node)) return wrong("{% call %} needs a call");
  TRY_DO(macro_body(out.caller, "endcall"));
  return Stmt{0, std::move(out)};
}

Result<Stmt> Parser::filter_statement() {
  FilterBlock out;
  TRY(out.filter, filter(nullptr));
  TRY(out.filter, filter_chain(std::move(out.filter)));
  TRY(out.body, body_until("endfilter"));
  return Stmt{0, std::move(out)};
}

Result<Target> Parser::target(bool attributes) {
  Target out;
  bool several = false;
  do {
    if (at_name("in") || at_symbol("=") || at_symbol(")")) break;  // behind a last comma
    TRY(Target part, single_target(attributes));
    out.parts.push_back(std::move(part));
    several = several || at_symbol(",");
  } while (take_symbol(","));
  if (out.parts.empty()) return wrong("a variable's name is missing");
  if (several) return out;
  Target single = std::move(out.parts[0]);
  return single;
}

Result<Target> Parser::single_target(bool attributes) {
  if (take_symbol("(")) {
    const Leave leave{depth_};
    TRY_DO(enter());
    TRY(Target inner, target(attributes));
    TRY_DO(expect_symbol(")"));
    return inner;
  }
  TRY(const std::string name, expect_name("a variable's name"));
  if (is_constant_name(name)) return invalid(at_line(current().line), "'", name, "' can't be assigned to");
  Target out;
  out.name = name_id(name);
  if (attributes && take_symbol(".")) {
    TRY(out.attribute, expect_name("an attribute's name"));
  }
  return out;
}

Result<std::unique_ptr<const Template>> parse(std::string_view text, const TemplateLimits& limits) {
  if (text.size() > max_template_bytes)
    return unsupported("the template has ", human_bytes(text.size()), "; at most ", human_bytes(max_template_bytes),
                       " are possible");
  TRY(auto tokens, tokenize(text));
  auto out = std::make_unique<Template>(limits);
  TRY_DO(Parser(std::move(tokens), *out).run());
  return out;
}

}  // namespace pteron::jinja
