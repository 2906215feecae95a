// SPDX-License-Identifier: BSD-3-Clause
#include "options.h"

#include "base/error.h"

#include <executorch/runtime/platform/log.h>

#include <cstring>

namespace pteron::et {
namespace {

using executorch::runtime::BackendOption;
using executorch::runtime::kMaxOptionValueLength;

OptionValue value_of(const BackendOption& option) {
  if (const auto* flag = std::get_if<bool>(&option.value)) return *flag;
  if (const auto* number = std::get_if<int>(&option.value)) return i64(*number);
  const auto& chars = std::get<std::array<char, kMaxOptionValueLength>>(option.value);
  return std::string(chars.data(), strnlen(chars.data(), chars.size()));
}

template <class T>
Result<T> value_of(const BackendOption& option, std::string_view type) {
  if (const auto* value = std::get_if<T>(&option.value)) return *value;
  return invalid("option '", option.key, "' must be ", type);
}

}  // namespace

Status apply(Options& options, const BackendOption& option) {
  const std::string_view key(option.key, strnlen(option.key, sizeof option.key));
  if (key == "profile") {
    TRY(options.profile, value_of<bool>(option, "true or false"));
  } else if (key == "enable_f16_accumulate_gemm") {
    TRY(const bool on, value_of<bool>(option, "true or false"));
    if (on) ET_LOG(Info, "pteron: enable_f16_accumulate_gemm has no effect; Pteron always accumulates in f32");
  } else if (key == "sdpa_query_tile") {
    TRY(const int tile, value_of<int>(option, "an integer"));
    if (tile < 0) return invalid("option 'sdpa_query_tile' is ", tile, "; it must not be negative");
    ET_LOG(Info, "pteron: sdpa_query_tile has no effect; Pteron chooses tiles by shape and device");
  } else {
    TRY_DO(set_option(options.load, key, value_of(option)));
    if (!options.load.data_files.empty()) return invalid("option '", key, "': give .ptd files to the runtime instead");
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
