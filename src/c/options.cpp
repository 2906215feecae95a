// SPDX-License-Identifier: BSD-3-Clause
#include "c/options.h"

#include <pteron/options.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace pteron::c {

Result<LoadOptions> read_options(const pteron_options* options) {
  LoadOptions out;
  out.share_device = true;
  if (!options) return out;
  constexpr size_t first_size = offsetof(pteron_options, settings);  // callers of the first versions
  if (options->size < first_size)
    return invalid("the options' size is ", options->size, "; set it to sizeof(pteron_options), which is ",
                   sizeof(pteron_options));
  pteron_options given{};
  std::memcpy(&given, options, std::min(options->size, sizeof given));
  if (given.adapter) out.device_options.adapter = given.adapter;
  out.device_options.require_gpu = given.require_gpu != 0;
  out.device_options.f16 = given.no_f16 == 0;
  TRY_DO(require(given.data_files || given.data_file_count == 0, "data_files"));
  for (size_t i = 0; i < given.data_file_count; ++i) {
    TRY_DO(require(given.data_files[i], "a data file's name"));
    out.data_files.emplace_back(given.data_files[i]);
  }
  TRY_DO(require(given.settings || given.setting_count == 0, "settings"));
  for (size_t i = 0; i < given.setting_count; ++i) {
    TRY_DO(require(given.settings[i], "a setting"));
    const std::string_view setting = given.settings[i];
    const size_t equals = setting.find('=');
    if (equals == std::string_view::npos) return invalid("the setting '", setting, "' has no form name=value");
    TRY_DO(set_option(out, setting.substr(0, equals), std::string(setting.substr(equals + 1))));
  }
  return out;
}

}  // namespace pteron::c
