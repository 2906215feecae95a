// SPDX-License-Identifier: BSD-3-Clause
// Whether a program is a language model: if it is, the page loads the module for conversations, too.
#include "wasm/abi.h"

#include <pteron/llm.h>

namespace pteron::wasm {
namespace {

Result<ModelInfo> language_of(Program& program) {
  for (const MethodInfo& method : program.methods())
    if (method.name == "forward")
      return ModelInfo::read(method, [&](std::string_view name) { return program.constant(name); });
  return unsupported("the program has no method 'forward', so it is no language model");
}

Json describe(const ModelInfo& info) {
  return {{"vocabulary", info.vocab_size},
          {"contextTokens", info.context},
          {"methodOptions", wasm::describe(info.method_options())}};
}

}  // namespace

PTERON_EXPORT(pteron_program_language) Answer program_language(ProgramHandle* program) {
  Program* opened = program->stream.program();
  if (!opened) return program->engine.fail({ErrorKind::invalid, "the program is not open yet", {}});
  const auto info = language_of(*opened);
  return info ? program->engine.tell(describe(*info)) : program->engine.fail(info.error());
}

}  // namespace pteron::wasm
