// SPDX-License-Identifier: BSD-3-Clause
#include "convert/convert.h"

#include "base/half.h"
#include "base/sha256.h"
#include "convert/attachments.h"
#include "convert/decoder.h"
#include "format/memory_objects.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace pteron::convert {
namespace {

constexpr u32 default_context = 2048;
constexpr u32 default_seq_len = 512;

// Counts bytes of a phase and asks whether to go on.
class Meter {
 public:
  Meter(const ProgressFn& progress, std::string_view phase, u64 total)
      : progress_(progress), phase_(phase), total_(total) {}

  Status add(u64 bytes) {
    done_ += bytes;
    if (progress_ && !progress_({phase_, done_, total_}))
      return fail(ErrorKind::cancelled, "the conversion was cancelled");
    return {};
  }

 private:
  const ProgressFn& progress_;
  std::string_view phase_;
  u64 done_ = 0, total_;
};

// True if the bytes are float32 of which half precision holds every one.
bool are_halves(Bytes bytes) {
  for (size_t at = 0; at + sizeof(f32) <= bytes.size(); at += sizeof(f32)) {
    f32 value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    if (!is_normal_half(value)) return false;
  }
  return true;
}

// Gives every constant its key: the hash of its bytes, behind a prefix if halves would hold them.
Status hash_constants(GraphDraft& draft, const ProgressFn& progress) {
  u64 total = 0;
  for (const Constant& constant : draft.constants) total += constant.bytes();
  Meter meter(progress, "hashing", total);
  for (size_t i = 0; i < draft.constants.size(); ++i) {
    Sha256 hash;
    bool halves = draft.constants[i].dtype == DType::f32;
    TRY_DO(draft.constants[i].write([&](Bytes bytes) {
      hash.update(bytes);
      halves = halves && are_halves(bytes);
      return meter.add(bytes.size());
    }));
    draft.graph.constants[i].key = (halves ? std::string(format::halves_prefix) : "") + hash.finish();
  }
  return {};
}

// Equal constants are stored once. The second result is how many bytes that takes.
std::pair<std::vector<format::NamedBlob>, u64> named_constants(const GraphDraft& draft) {
  std::vector<format::NamedBlob> out;
  std::set<std::string_view> stored;
  u64 bytes = 0;
  for (size_t i = 0; i < draft.constants.size(); ++i) {
    const Constant& constant = draft.constants[i];
    const std::string& key = draft.graph.constants[i].key;
    if (!stored.insert(key).second) continue;
    out.push_back({key, constant.bytes(), constant.write});
    bytes += constant.bytes();
  }
  return {std::move(out), bytes};
}

// What language-model runners ask a program.
void add_constant_methods(const Model& model, const DecoderOptions& options, std::vector<format::MethodDraft>& out) {
  const auto add = [&](const char* name, std::vector<format::ProgramValue> values) {
    out.push_back(format::constant_method(name, std::move(values)));
  };
  if (model.bos) add("get_bos_id", {*model.bos});
  if (!model.eos.empty()) add("get_eos_ids", {model.eos.begin(), model.eos.end()});
  add("get_max_seq_len", {i64(options.max_tokens)});
  add("get_max_context_len", {i64(options.context)});
  add("get_n_layers", {i64(model.layers)});
  add("get_vocab_size", {i64(model.vocabulary)});
  add("use_kv_cache", {true});
  add("use_sdpa_with_kv_cache", {true});
  add("enable_dynamic_shape", {true});
}

Result<DecoderOptions> decoder_options(const Model& model, const Options& options) {
  DecoderOptions out;
  out.quantization = options.quantization;
  out.all_logits = options.all_logits;
  out.context = options.max_context.value_or(std::min(model.context, default_context));
  if (out.context < 1 || out.context > model.context)
    return invalid("a context of ", out.context, " was asked for; the model was trained for 1 to ", model.context);
  out.max_tokens = options.max_seq_len.value_or(std::min(out.context, default_seq_len));
  if (out.max_tokens < 1 || out.max_tokens > out.context)
    return invalid("calls of up to ", out.max_tokens, " tokens were asked for; the context allows 1 to ", out.context);
  return out;
}

}  // namespace

Result<Report> convert(std::shared_ptr<const format::DataSource> source, const Options& options,
                       const format::Sink& sink) {
  TRY(const Gguf file, Gguf::read(std::move(source)));
  TRY(const Model model, read_model(file));
  TRY(const DecoderOptions decoder, decoder_options(model, options));
  TRY(GraphDraft draft, build_decoder(file, model, decoder));
  format::assign_memory_objects(draft.graph);
  format::ProgramDraft program;
  TRY(program.named_data, attachments(file, model));
  TRY_DO(hash_constants(draft, options.progress));
  auto [constants, constant_bytes] = named_constants(draft);

  Report report{model.name,      std::string(model.architecture->name),
                model.layers,    model.vocabulary,
                decoder.context, decoder.max_tokens};
  report.constant_bytes = constant_bytes;
  for (const GgufTensor& tensor : file.tensors()) ++report.tensors[std::string(tensor.format->name)];
  program.methods.push_back(draft.method("forward"));
  add_constant_methods(model, decoder, program.methods);
  Meter meter(options.progress, "writing", constant_bytes);
  for (format::NamedBlob& blob : constants)
    program.named_data.push_back({blob.key, blob.size, [&meter, write = blob.write](const format::Sink& to) {
                                    return write([&](Bytes bytes) -> Status {
                                      TRY_DO(meter.add(bytes.size()));
                                      return to(bytes);
                                    });
                                  }});
  TRY_DO(format::write_program(program, [&](Bytes bytes) {
    report.file_bytes += bytes.size();
    return sink(bytes);
  }));
  return report;
}

}  // namespace pteron::convert
