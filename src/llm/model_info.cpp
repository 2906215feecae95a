// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.h"

#include <pteron/llm.h>

#include <algorithm>

namespace pteron {
namespace {

constexpr u32 most_candidates = 64;
constexpr u32 most_rounds = 60000;  // that a software adapter searches; each candidate takes one per 256 tokens

// A number that fits, or nothing if there is no such method.
Result<std::optional<u32>> number(const ModelInfo::Constants& constants, std::string_view name) {
  const auto values = constants(name);
  if (!values) return std::nullopt;
  if (values->size() != 1 || (*values)[0] < 0 || (*values)[0] > i64(INT32_MAX))
    return invalid("the program's ", name, " gives ",
                   values->size() == 1 ? str((*values)[0]) : str(values->size(), " values"), "; one number from 0 to ",
                   INT32_MAX, " is expected");
  return u32((*values)[0]);
}

Failure not_a_language_model(const auto&... why) {
  return unsupported("this program is not a language model that can be run here: ", why...);
}

Status read_inputs(const MethodInfo& method, ModelInfo& out) {
  const auto& inputs = method.inputs;
  if (inputs.empty() || inputs.size() > 2)
    return not_a_language_model("it takes ", inputs.size(), " inputs instead of tokens and a position");
  for (const ValueInfo& input : inputs)
    if (!input.is_tensor || input.dtype != DType::i64)
      return not_a_language_model("its inputs are not all int64 tensors");
  const Shape& tokens = inputs[0].shape;
  if (tokens.rank() != 2 || tokens[0] != 1 || tokens[1] == 0)
    return not_a_language_model("its tokens have the shape ", tokens, " instead of [1, S]");
  if (inputs.size() == 2 && inputs[1].shape.numel() != 1)
    return not_a_language_model("its position has the shape ", inputs[1].shape,
                                "; export it with one starting position instead of one per token");
  out.position = inputs.size() == 2;
  out.max_run = tokens[1];
  out.any_run = inputs[0].dynamic;
  if (!out.any_run && out.max_run > 1)
    return not_a_language_model("it always reads ", out.max_run,
                                " tokens at once; export it with a dynamic number of tokens");
  return {};
}

Status read_outputs(const MethodInfo& method, ModelInfo& out) {
  if (method.outputs.empty() || !method.outputs[0].is_tensor) return not_a_language_model("it has no logits");
  const ValueInfo& logits = method.outputs[0];
  const u32 rank = logits.shape.rank();
  if ((rank != 2 && rank != 3) || logits.shape[0] != 1 || logits.dtype != DType::f32)
    return not_a_language_model("its logits are ", logits.dtype, " ", logits.shape,
                                " instead of float32 [1, vocabulary] or [1, S, vocabulary]");
  out.outputs = u32(method.outputs.size());
  out.every_token = rank == 3 && logits.shape[1] > 1;
  out.vocab_size = logits.shape.dim(-1);
  if (out.vocab_size == 0) return not_a_language_model("its vocabulary is empty");
  return {};
}

}  // namespace

Result<ModelInfo> ModelInfo::read(const MethodInfo& method, const Constants& constants) {
  ModelInfo out;
  TRY_DO(read_inputs(method, out));
  TRY_DO(read_outputs(method, out));
  TRY(const auto vocabulary, number(constants, "get_vocab_size"));
  if (vocabulary && *vocabulary > out.vocab_size)
    return invalid("the program's get_vocab_size gives ", *vocabulary, ", but it has only ", out.vocab_size, " logits");
  TRY(const auto with_cache, number(constants, "use_kv_cache"));
  out.kv_cache = out.position && with_cache.value_or(1) != 0;
  TRY(const auto longest_text, number(constants, "get_max_seq_len"));
  TRY(const auto longest_context, number(constants, "get_max_context_len"));
  out.context = out.kv_cache ? longest_context.value_or(longest_text.value_or(out.max_run)) : out.max_run;
  if (out.context == 0) return invalid("the program says that its context holds 0 tokens");
  out.max_run = std::min(out.max_run, out.context);

  TRY(out.bos, number(constants, "get_bos_id"));
  for (const i64 id : constants("get_eos_ids").value_or(std::vector<i64>()))
    if (id >= 0 && id < i64(out.vocab_size)) out.end_tokens.push_back(u32(id));
  if (out.bos && *out.bos >= out.vocab_size) out.bos.reset();
  out.top_k = std::clamp(most_rounds / (out.vocab_size / 256 + 1), 1u, std::min(most_candidates, out.vocab_size));
  return out;
}

MethodOptions ModelInfo::method_options() const {
  MethodOptions out{.epilogues = {{.kind = Epilogue::arg_max},
                                  {.kind = Epilogue::top_k, .k = top_k},
                                  {.kind = Epilogue::log_sum_exp}}};
  if (verifies_drafts()) out.epilogues.push_back({.kind = Epilogue::arg_max, .rows = Epilogue::all});
  return out;
}

std::string_view name_of(Readback readback) {
  switch (readback) {
    case Readback::none: return "nothing";
    case Readback::best: return "best token";
    case Readback::best_of_each: return "best token behind each";
    case Readback::candidates: return "best candidates";
    case Readback::scored: return "best candidates and their probabilities";
    case Readback::logits: return "all logits";
  }
  return "";
}

}  // namespace pteron
