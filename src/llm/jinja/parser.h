// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "llm/jinja/ast.h"
#include "llm/jinja/lexer.h"

#include <unordered_map>

namespace pteron::jinja {

class Parser {
 public:
  Parser(std::vector<Token> tokens, Template& out) : tokens_(std::move(tokens)), out_(out) {}
  Status run();

 private:
  // Statements (parser.cpp)
  Status block(Block& body, std::initializer_list<std::string_view> ends);
  // The body of a tag up to one of its end tags, which is the current token afterwards.
  Result<Block> body(std::initializer_list<std::string_view> ends);
  // The same where there is one possible end, which is passed.
  Result<Block> body_until(std::string_view end);
  Result<Stmt> statement();
  Result<Stmt> if_statement();
  Result<Stmt> for_statement();
  Result<Stmt> set_statement();
  Result<Stmt> with_statement();
  Result<Stmt> macro_statement();
  Result<Stmt> call_statement();
  Result<Stmt> filter_statement();
  Result<Target> target(bool attributes);
  Result<Target> single_target(bool attributes);
  Status parameters(MacroDefinition& macro);
  Status macro_body(MacroDefinition& macro, std::string_view end);

  // Expressions (parser_expressions.cpp)
  // One expression, or a tuple without parentheses.
  Result<ExprPtr> tuple(bool conditional = true);
  Result<ExprPtr> parenthesised();
  Result<ExprPtr> expression(bool conditional = true);
  Result<ExprPtr> logical(bool is_and);
  Result<ExprPtr> logical_not();
  Result<ExprPtr> comparison();
  Result<ExprPtr> arithmetic(u32 level);
  Result<ExprPtr> concatenation();
  Result<ExprPtr> unary(bool with_filters = true);
  Result<ExprPtr> primary();
  Result<ExprPtr> literal();
  Result<ExprPtr> list_display();
  Result<ExprPtr> dict_display();
  Result<ExprPtr> postfix(ExprPtr e);
  Result<ExprPtr> filters_and_tests(ExprPtr e);
  Result<ExprPtr> attribute(ExprPtr object);
  Result<ExprPtr> subscript(ExprPtr object);
  Result<ExprPtr> filter(ExprPtr subject);
  Result<ExprPtr> filter_chain(ExprPtr subject);
  Result<ExprPtr> test(ExprPtr subject);
  Result<Arguments> arguments();
  Result<ExprPtr> make(u32 line, ExprNode node);

  const Token& current() const { return tokens_[at_]; }
  const Token& following() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  Token next() { return at_ + 1 < tokens_.size() ? tokens_[at_++] : tokens_[at_]; }
  bool at_symbol(std::string_view s) const { return current().is(Token::symbol, s); }
  bool at_name(std::string_view s) const { return current().is(Token::name, s); }
  bool take_symbol(std::string_view s) { return at_symbol(s) && (next(), true); }
  bool take_name(std::string_view s) { return at_name(s) && (next(), true); }
  Status expect_symbol(std::string_view s);
  Status expect(Token::Kind kind, std::string_view what);
  Result<std::string> expect_name(std::string_view what);
  Failure wrong(std::string_view what) const;
  NameId name_id(const std::string& name);

  // Guards the recursion.
  Status enter();
  struct Leave {
    u32& depth;
    ~Leave() { --depth; }
  };

  std::vector<Token> tokens_;
  size_t at_ = 0;
  Template& out_;
  std::unordered_map<std::string, NameId> names_;
  u32 depth_ = 0, loops_ = 0;
  bool caller_seen_ = false;
};

}  // namespace pteron::jinja
