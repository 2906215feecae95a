// SPDX-License-Identifier: BSD-3-Clause
#include "options.h"

#include "graph/pass.h"

#include <executorch/runtime/platform/log.h>

#include <cstring>

namespace pteron::et {
namespace {

using executorch::runtime::BackendOption;
using executorch::runtime::kMaxOptionValueLength;

template <class T>
Result<T> value_of(const BackendOption& option, std::string_view type) {
  if (const auto* value = std::get_if<T>(&option.value)) return *value;
  return invalid("option '", option.key, "' must be ", type);
}

Result<std::string> text_of(const BackendOption& option) {
  const auto* chars = std::get_if<std::array<char, kMaxOptionValueLength>>(&option.value);
  if (!chars) return invalid("option '", option.key, "' must be a string");
  return std::string(chars->data(), strnlen(chars->data(), chars->size()));
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> out;
  for (size_t at = 0; at <= list.size();) {
    const size_t comma = std::min(list.find(',', at), list.size());
    if (comma > at) out.push_back(list.substr(at, comma - at));
    at = comma + 1;
  }
  return out;
}

}  // namespace

Status apply(Options& options, const BackendOption& option) {
  const std::string_view key(option.key, strnlen(option.key, sizeof option.key));
  if (key == "adapter") {
    TRY(options.adapter, text_of(option));
  } else if (key == "disable_passes") {
    TRY(const std::string list, text_of(option));
    options.disabled_passes = split(list);
    TRY_DO(graph::check_pass_names(options.disabled_passes));
  } else if (key == "profile") {
    TRY(options.profile, value_of<bool>(option, "true or false"));
  } else if (key == "enable_f16_kv_cache") {
    TRY(options.f16_kv_cache, value_of<bool>(option, "true or false"));
  } else if (key == "enable_f16_accumulate_gemm") {
    TRY(const bool on, value_of<bool>(option, "true or false"));
    if (on) ET_LOG(Info, "pteron: enable_f16_accumulate_gemm has no effect; Pteron always accumulates in f32");
  } else if (key == "sdpa_query_tile") {
    TRY(const int tile, value_of<int>(option, "an integer"));
    if (tile < 0) return invalid("option 'sdpa_query_tile' is ", tile, "; it must not be negative");
    ET_LOG(Info, "pteron: sdpa_query_tile has no effect; Pteron chooses tiles by shape and device");
  } else {
    return invalid("option '", key,
                   "' is unknown; there are: adapter, disable_passes, profile, enable_f16_kv_cache, "
                   "enable_f16_accumulate_gemm, sdpa_query_tile");
  }
  return {};
}

Status apply(Options& options, executorch::runtime::Span<const BackendOption> list) {
  for (size_t i = 0; i < list.size(); ++i) TRY_DO(apply(options, list[i]));
  return {};
}

Status check_compile_specs(executorch::runtime::ArrayRef<executorch::runtime::CompileSpec> specs) {
  for (const auto& spec : specs) {
    if (!spec.key || std::strcmp(spec.key, "webgpu_record_q4gsw_decode_route") != 0) continue;
    if (spec.value.nbytes != 1)
      return invalid("compile spec 'webgpu_record_q4gsw_decode_route' has ", spec.value.nbytes,
                     " bytes; it must have 1");
    ET_LOG(Info, "pteron: webgpu_record_q4gsw_decode_route has no effect; every route is prepared at load");
  }
  return {};
}

}  // namespace pteron::et
