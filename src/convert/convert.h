// SPDX-License-Identifier: BSD-3-Clause
// GGUF models to ExecuTorch programs.
#pragma once

#include "convert/weight.h"

#include <pteron/progress.h>

namespace pteron::convert {

struct Options {
  std::optional<u32> max_context;  // positions in the KV caches; else what the model was trained for, at most 2048
  std::optional<u32> max_seq_len;  // tokens in one call; else 512, at most the context
  Quantization quantization = Quantization::lossless;
  bool all_logits = false;  // of every position rather than of the last one
  ProgressFn progress;      // phases "hashing" and "writing", in bytes
};

struct Report {
  std::string name, architecture;
  u32 layers = 0, vocabulary = 0, context = 0, max_seq_len = 0;
  std::map<std::string, u32> tensors;  // of the file, by type
  u64 constant_bytes = 0, file_bytes = 0;
};

// Reads the model twice: constants are stored under the SHA-256 of their bytes, so they are made once to be hashed and
// once to be written. Nothing is given to `sink` before the whole model has been checked.
Result<Report> convert(std::shared_ptr<const format::DataSource> source, const Options& options,
                       const format::Sink& sink);

}  // namespace pteron::convert
