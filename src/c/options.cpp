// SPDX-License-Identifier: BSD-3-Clause
#include "c/options.h"

namespace pteron::c {

Result<LoadOptions> read_options(const pteron_options* given) {
  LoadOptions out;
  out.share_device = true;
  if (!given) return out;
  if (given->size < sizeof(pteron_options))
    return invalid("the options' size is ", given->size, "; set it to sizeof(pteron_options), which is ",
                   sizeof(pteron_options));
  if (given->adapter) out.device_options.adapter = given->adapter;
  out.device_options.require_gpu = given->require_gpu != 0;
  out.device_options.f16 = given->no_f16 == 0;
  TRY_DO(require(given->data_files || given->data_file_count == 0, "data_files"));
  for (size_t i = 0; i < given->data_file_count; ++i) {
    TRY_DO(require(given->data_files[i], "a data file's name"));
    out.data_files.emplace_back(given->data_files[i]);
  }
  return out;
}

}  // namespace pteron::c
