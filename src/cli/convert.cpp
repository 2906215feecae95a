// SPDX-License-Identifier: BSD-3-Clause
#include "convert/convert.h"

#include "base/path.h"
#include "cli/cli.h"
#include "cli/print_json.h"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>

namespace pteron::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string model, output, quantization = "lossless";
  convert::Options convert;
  bool json = false, quiet = false;
};

// A file that appears under its name only when it is whole.
class OutputFile {
 public:
  explicit OutputFile(fs::path path) : path_(std::move(path)), part_(path_) { part_ += ".part"; }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile() {
    std::error_code ignored;
    stream_.close();
    if (!whole_) fs::remove(part_, ignored);
  }

  Status open() {
    stream_.open(part_, std::ios::binary | std::ios::trunc);
    return check();
  }
  Status write(Bytes bytes) {
    stream_.write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
    return check();
  }
  Status finish() {
    stream_.close();
    TRY_DO(check());
    std::error_code error;
    fs::rename(part_, path_, error);
    whole_ = !error;
    if (error) return invalid("cannot rename '", os::text(part_), "' to '", os::text(path_), "': ", error.message());
    return {};
  }

 private:
  Status check() const {
    if (!stream_) return invalid("cannot write '", os::text(part_), "'; is the folder there and is the disk full?");
    return {};
  }
  fs::path path_, part_;
  std::ofstream stream_;
  bool whole_ = false;
};

void print_report(const Options& options, const convert::Report& report, f64 seconds) {
  if (options.json) {
    print_json(nlohmann::json{{"file", options.output},
                              {"name", report.name},
                              {"architecture", report.architecture},
                              {"layers", report.layers},
                              {"vocab_size", report.vocabulary},
                              {"max_context_len", report.context},
                              {"max_seq_len", report.max_seq_len},
                              {"tensors", report.tensors},
                              {"constant_bytes", report.constant_bytes},
                              {"file_bytes", report.file_bytes},
                              {"seconds", seconds}});
    return;
  }
  std::vector<std::string> types;
  types.reserve(report.tensors.size());
  for (const auto& [type, count] : report.tensors) types.push_back(str(count, " ", type));
  std::printf("%s: %s, %u layers, vocabulary %u, context %u, up to %u tokens in a call\n", report.name.c_str(),
              report.architecture.c_str(), report.layers, report.vocabulary, report.context, report.max_seq_len);
  std::printf("tensors: %s\n", join(types).c_str());
  std::printf("%s: %s in %.1f s\n", options.output.c_str(), human_bytes(report.file_bytes).c_str(), seconds);
}

Status run(Options options) {
  const auto start = std::chrono::steady_clock::now();
  if (options.output.empty()) options.output = os::text(os::path(options.model).replace_extension(".pte"));
  std::error_code ignored;
  if (fs::equivalent(os::path(options.model), os::path(options.output), ignored))
    return invalid("the output '", options.output, "' is the model itself");
  if (!options.quiet) options.convert.progress = progress_bar("");
  if (options.quantization == "q4") options.convert.quantization = convert::Quantization::q4;
  TRY(auto source, format::open_file(options.model));
  OutputFile file(os::path(options.output));
  TRY_DO(file.open());
  auto report =
      within(convert::convert(std::move(source), options.convert, [&](Bytes bytes) { return file.write(bytes); }),
             "converting ", options.model);
  if (!report) return Failure(std::move(report.error()));
  TRY_DO(file.finish());
  print_report(options, *report, std::chrono::duration<f64>(std::chrono::steady_clock::now() - start).count());
  return {};
}

}  // namespace

void add_convert(Command& app, int& exit_code) {
  auto* command = app.add_subcommand("convert", "Turn a GGUF language model into an ExecuTorch program");
  auto options = std::make_shared<Options>();
  command->add_option("MODEL", &options->model, "Model (.gguf): Llama, SmolLM2, Qwen2 or Qwen3")->required();
  command->add_option("-o,--output", &options->output, "Program to write; MODEL with the extension .pte by default");
  command
      ->add_option(
          "--quant", &options->quantization,
          "lossless: weights as in the file (default); q4: symmetric 4 bits in groups of 32, smaller and faster")
      ->one_of({"lossless", "q4"});
  command
      ->add_option("--max-context", &options->convert.max_context,
                   "Positions in the KV cache (default: the model's context, at most 2048)")
      ->check(check_whole_number<u32>);
  command
      ->add_option("--max-seq-len", &options->convert.max_seq_len,
                   "Tokens in one call, as in a chunk of a prompt (default: 512, at most the context)")
      ->check(check_whole_number<u32>);
  command->add_flag("--all-logits", &options->convert.all_logits,
                    "Return logits of every position, not of the last one");
  command->add_flag("--json", &options->json, "Print one JSON object");
  command->add_flag("-q,--quiet", &options->quiet, "No progress");
  on_call(*command, options, exit_code, run);
}

}  // namespace pteron::cli
