// SPDX-License-Identifier: BSD-3-Clause
#include "cli/cli.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdio>

namespace pteron::cli {
namespace {

struct Options : Common {
  std::string model;
  std::vector<i64> tokens{1};
  u32 max_tokens = 32;
};

// Greedy decoding of a program with inputs (tokens [1, S], position [1]); the arg-max runs on the GPU.
Status run(const Options& options) {
  LoadOptions load = options.load_options();
  load.epilogues = {{Epilogue::arg_max, 0, 1}};
  TRY(auto program, Program::load(options.model, load));
  TRY(auto method, program.method("forward"));
  TRY(const Device device, program.device());
  if (!options.quiet) announce(device);
  if (method.info().inputs.size() != 2 || method.info().inputs[0].dtype != DType::i64)
    return unsupported("'", options.model, "' is not a language model: it should take tokens and a position");
  const i64 context = program.constant("get_max_seq_len").value_or(std::vector<i64>{i64(UINT32_MAX)})[0];

  using Clock = std::chrono::steady_clock;
  std::vector<i64> pending = options.tokens, generated;
  i64 position = 0;
  const auto start = Clock::now();
  Clock::time_point first;
  const u64 wanted = u64(1) << (method.info().outputs.size() - 1);
  while (generated.size() < options.max_tokens && position + i64(pending.size()) <= context) {
    const TensorView inputs[] = {{DType::i64, Shape{1, u32(pending.size())}, std::as_bytes(std::span(pending))},
                                 {DType::i64, Shape{1}, std::as_bytes(std::span(&position, 1))}};
    TRY_DO(method.begin(inputs, wanted));
    TRY_DO(method.finish());
    const i64 token = method.outputs().back().as<i32>()[0];
    if (generated.empty()) first = Clock::now();
    generated.push_back(token);
    if (!options.json)
      std::printf("%lld%s", static_cast<long long>(token), generated.size() % 16 == 0 ? "\n" : " "),
          std::fflush(stdout);
    position += i64(pending.size());
    pending.assign(1, token);
  }
  const f64 prefill = std::chrono::duration<f64>(first - start).count(),
            decode = std::chrono::duration<f64>(Clock::now() - first).count();
  const f64 rate = generated.size() > 1 ? f64(generated.size() - 1) / decode : 0;
  if (options.json) {
    std::printf("%s\n", nlohmann::json{{"token_ids", generated},
                                       {"adapter", device.adapter().name},
                                       {"first_token_ms", prefill * 1e3},
                                       {"decode_tok_s", rate},
                                       {"dispatches_per_token", method.stats().dispatches}}
                            .dump(2)
                            .c_str());
  } else {
    std::printf("\n");
    std::fprintf(stderr, "%zu tokens; first after %.1f ms, then %.1f tok/s; %u dispatches per token\n",
                 generated.size(), prefill * 1e3, rate, method.stats().dispatches);
  }
  return {};
}

}  // namespace

void add_generate(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("generate", "Generate tokens with a language model");
  auto options = std::make_shared<Options>();
  command->add_option("MODEL", options->model, "Program (.pte)")->required();
  command->add_option("--token-ids", options->tokens, "The prompt as token ids")->delimiter(',');
  command->add_option("--max-tokens", options->max_tokens, "Stop after this many tokens")->capture_default_str();
  add_device_flags(*command, *options);
  add_program_flags(*command, *options);
  command->callback([options, &exit_code] {
    if (auto status = run(*options); !status) exit_code = report(status.error());
  });
}

}  // namespace pteron::cli
