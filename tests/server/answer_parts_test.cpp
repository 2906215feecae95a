// SPDX-License-Identifier: BSD-3-Clause
#include "server/api/answer_parts.h"

#include <gtest/gtest.h>

namespace pteron::server {
namespace {

// What came, as one text: thoughts in (), calls in [].
class Notes : public PartSink {
 public:
  std::string text;
  void reasoning(std::string_view part) override { text.append("(").append(part).append(")"); }
  void content(std::string_view part) override { text += part; }
  void call(u32 index, const std::string& name) override { text += "[" + std::to_string(index) + ":" + name + "]"; }
  void arguments(u32, std::string_view part) override { text += part; }
};

// The same however the answer is cut into pieces.
std::string parts_of(std::string_view answer, CallForm form, bool thinking = false) {
  std::string first;
  for (const size_t size : {answer.size() + 1, size_t(1), size_t(3), size_t(7)}) {
    Notes notes;
    AnswerParts parts(notes, form, thinking);
    for (size_t at = 0; at < answer.size(); at += size) parts.feed(answer.substr(at, size));
    parts.finish();
    std::string joined;
    for (size_t i = 0; i < notes.text.size(); ++i)
      if (notes.text.compare(i, 2, ")(") == 0)
        ++i;
      else
        joined += notes.text[i];
    if (first.empty()) first = joined;
    EXPECT_EQ(joined, first) << "in pieces of " << size;
  }
  return first;
}

TEST(AnswerParts, PlainTextIsContent) {
  for (const CallForm form : {CallForm::none, CallForm::tagged, CallForm::bare})
    EXPECT_EQ(parts_of("a < b, <tool and {x}  \n", form), "a < b, <tool and {x}  \n");
}

TEST(AnswerParts, ThoughtsAreKeptApart) {
  EXPECT_EQ(parts_of("<think>hm, 1 < 2</think>\n\nYes.", CallForm::none), "(hm, 1 < 2)Yes.");
  EXPECT_EQ(parts_of("\n<think>a</think>b<think>c", CallForm::none), "(a)b<think>c");
  EXPECT_EQ(parts_of("already</think> Yes.", CallForm::none, true), "(already)Yes.");
  EXPECT_EQ(parts_of("never ends </thin", CallForm::none, true), "(never ends </thin)");
}

TEST(AnswerParts, TaggedCallsAreFoundAnywhere) {
  EXPECT_EQ(
      parts_of(R"(Let me see. <tool_call>{"name": "f", "arguments": {"a": "}\"{"}}</tool_call>)", CallForm::tagged),
      R"(Let me see.[0:f]{"a": "}\"{"})");
  EXPECT_EQ(
      parts_of(
          "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>\n<tool_call>\n{\"arguments\": {\"x\": [1]}, "
          "\"name\": \"g\"}\n</tool_call>",
          CallForm::tagged),
      "[0:f]{}[1:g]{\"x\": [1]}");
  EXPECT_EQ(parts_of("<think>f?</think><tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>", CallForm::tagged),
            "(f?)[0:f]{}");
}

TEST(AnswerParts, ABareObjectIsACall) {
  EXPECT_EQ(parts_of(R"({"name": "f", "parameters": {"a": 1}})", CallForm::bare), R"([0:f]{"a": 1})");
  EXPECT_EQ(parts_of(R"({"name": "f", "id": 7, "parameters": {"a": 1}} )", CallForm::forced), R"([0:f]{"a": 1})");
}

TEST(AnswerParts, ForcedCallsMayFollowEachOther) {
  EXPECT_EQ(
      parts_of("{\"name\": \"f\", \"arguments\": {}}\n</tool_call>\n<tool_call>\n{\"name\": \"g\", \"arguments\": "
               "{\"x\": 1}}\n</tool_call>",
               CallForm::forced),
      "[0:f]{}[1:g]{\"x\": 1}");
}

TEST(AnswerParts, WhatIsNoCallAfterAllIsText) {
  EXPECT_EQ(parts_of("{1, 2}", CallForm::bare), "{1, 2}");
  EXPECT_EQ(parts_of("{\"age\": 3}", CallForm::bare), "{\"age\": 3}");
  EXPECT_EQ(parts_of("<tool_call>nonsense</tool_call>", CallForm::tagged), "<tool_call>nonsense</tool_call>");
  EXPECT_EQ(parts_of("<tool_call>{\"name\": 5}", CallForm::tagged), "<tool_call>{\"name\": 5}");
  EXPECT_EQ(parts_of("<tool_call>{\"na", CallForm::tagged), "<tool_call>{\"na");
}

}  // namespace
}  // namespace pteron::server
