// SPDX-License-Identifier: BSD-3-Clause
// Takes the text of an answer apart while it arrives: thoughts, what is said, calls of tools.
#pragma once

#include "server/api/call_reader.h"

#include <functional>

namespace pteron::server {

// Where the parts go.
class PartSink {
 public:
  virtual ~PartSink() = default;
  virtual void reasoning(std::string_view text) = 0;
  virtual void content(std::string_view text) = 0;
  virtual void call(u32 index, const std::string& name) = 0;
  virtual void arguments(u32 index, std::string_view text) = 0;
};

enum class CallForm {
  none,    // the text is not looked at
  tagged,  // <tool_call>{…}</tool_call>, anywhere
  bare,    // the answer is one object, or it is none
  forced,  // the answer begins with an object for sure; others in tags may follow
};

class AnswerParts {
 public:
  AnswerParts(PartSink& sink, CallForm form, bool thinking);

  void feed(std::string_view text);
  // At the end of the answer: what was held back.
  void finish();
  u32 calls() const { return calls_; }

 private:
  enum class Place { start, thinking, after_thinking, text, call, behind_call };

  bool advance();  // false: more text is needed
  bool at_start();
  bool in_text();
  bool in_call();
  void give_up_call();

  PartSink& sink_;
  CallForm form_;
  Place place_;
  std::string held_;
  std::string raw_;  // of the call that is being read, while it may still turn out to be text
  CallReader reader_;
  bool announced_ = false;
  u32 calls_ = 0;
};

}  // namespace pteron::server
