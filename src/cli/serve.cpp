// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.h"
#include "base/os.h"
#include "base/path.h"
#include "base/sha256.h"
#include "cli/cli.h"
#include "cli/interrupts.h"
#include "cli/tuning.h"
#include "server/server.h"

#include <nlohmann/json.hpp>

#include <cstdio>

namespace pteron::cli {
namespace {

struct Options : Common {
  std::vector<std::string> models;
  std::string tokenizer, chat_template;
  server::ServerOptions server;
  u64 kv_memory_mib = 1024, cache_mib = 4096;
  std::string cache_dir;
  u32 body_mib = 8, time_seconds = 600, grace_seconds = 30, ping_seconds = 10, read_seconds = 10;
  std::string api_key;
};

server::ModelTable::Load loader(const Options& options) {
  return [&options](const std::string& path) -> Result<LanguageModel> {
    TRY(LoadOptions load, options.load_options());
    load.share_device = true;
    TRY_DO(apply_tuning(options, path, load));
    TRY(LanguageModel model,
        LanguageModel::load(
            path, {.load = std::move(load), .tokenizer = options.tokenizer, .chat_template = options.chat_template}));
    if (options.server.scheduler.speculate) TRY_DO(within(check_drafts(model.info()), path));
    return model;
  };
}

server::ModelTable::LoadEncoder encoder_loader(const Options& options) {
  return [&options](const std::string& path) -> Result<std::optional<Encoder>> {
    TRY(LoadOptions load, options.load_options());
    load.share_device = true;
    return Encoder::load(path, std::move(load));
  };
}

// Of the program and of the files with its data: states of one model mean nothing to another.
std::string hash_of(const Options& options, const std::string& path) {
  const auto load = options.load_options();
  if (!load) return "";
  std::vector<std::string> files{path};
  files.insert(files.end(), load->data_files.begin(), load->data_files.end());
  Sha256 sum;
  std::vector<std::byte> chunk(1 << 20);
  for (const std::string& name : files) {
    const auto file = os::open_file(name);
    if (!file) return "";
    for (u64 at = 0; at < (*file)->size(); at += chunk.size()) {
      const auto part = std::span(chunk).first(std::min<u64>(chunk.size(), (*file)->size() - at));
      if (!(*file)->read(at, part)) return "";
      sum.update(part);
    }
  }
  return sum.finish();
}

Status open_cache(Options& options, server::ModelTable& models) {
  if (options.cache_dir.empty()) return {};
  models.hash = [&options](const std::string& path) { return hash_of(options, path); };
  TRY(options.server.scheduler.disk, server::DiskCache::open(os::path(options.cache_dir), options.cache_mib << 20));
  return {};
}

void settle(Options& options) {
  server::ServerOptions& s = options.server;
  s.scheduler.kv_memory = options.kv_memory_mib << 20;
  s.scheduler.ping = std::chrono::seconds(options.ping_seconds);
  s.http.head_time = std::chrono::seconds(options.read_seconds);
  s.http.body_time = 6 * s.http.head_time;
  s.http.body_bytes = size_t(options.body_mib) << 20;
  s.service.limits.time = std::chrono::seconds(options.time_seconds);
  s.service.api_key = options.api_key.empty() ? os::environment("PTERON_API_KEY") : options.api_key;
  s.access_log = !options.quiet;
}

void announce_server(const server::Server& server, const server::ModelTable& models, const Options& options) {
  const std::string url = "http://" + server.address();
  std::vector<std::string> names;
  for (const server::ModelPtr& model : models.all()) names.push_back(model->id);
  for (const server::EncoderPtr& encoder : models.encoders()) names.push_back(encoder->id);
  if (options.json)
    std::printf("%s\n", nlohmann::json{{"url", url}, {"models", names}}.dump().c_str());
  else
    std::printf("Serving %s at %s\n", join(names).c_str(), url.c_str());
  std::fflush(stdout);
}

Status run(Options& options) {
  const Wishes wishes;
  settle(options);
  server::ModelTable models(loader(options), encoder_loader(options));
  TRY_DO(within(open_cache(options, models), "--cache-dir"));
  for (const std::string& path : options.models) TRY_DO(models.add(path));
  if (!options.quiet) {
    TRY(const DeviceOptions wanted, options.device_options());
    TRY(const Device device, Device::shared(wanted));
    announce(device);
  }
  TRY(const auto server, server::Server::open(models, options.server));
  announce_server(*server, models, options);
  while (wishes.wait() == Wishes::Wish::reload) {
    for (const Error& error : models.reload()) report(error);
    server->forget_old_models();
  }
  server->stop(std::chrono::seconds(options.grace_seconds));
  return {};
}

}  // namespace

void add_serve(Command& app, int& exit_code) {
  auto* command = app.add_subcommand("serve", "Serve language models with the API of OpenAI");
  auto options = std::make_shared<Options>();
  server::ServerOptions& s = options->server;
  server::RequestLimits& limits = s.service.limits;
  command->add_option("MODEL", &options->models, "Programs (.pte); requests name one by its file's name")->required();
  command->add_option("--host", &s.host, "Address to listen on; others than this machine's let everyone in")
      ->show_default();
  const auto number = [&](const char* name, u32* value, const char* help) {
    command->add_option(name, value, help)->check(check_whole_number<u32>)->show_default();
  };
  number("--port", &s.port, "0: any that is free");
  number("--parallel", &s.scheduler.parallel, "Answers that are made at the same time");
  number("--queue", &s.scheduler.queue, "Answers that may wait; more requests are refused");
  number("--chunk", &s.scheduler.chunk, "Tokens of a prompt that are read between two tokens of other answers");
  number("--max-tokens", &limits.max_tokens, "Longest answer, in tokens");
  number("--max-choices", &limits.max_choices, "Most answers to one request");
  number("--connections", &s.http.connections, "Most connections at the same time");
  number("--max-body", &options->body_mib, "Longest request, in MiB");
  number("--read-time", &options->read_seconds,
         "Longest time for a request's head to arrive, in seconds; its body gets six times as much");
  number("--time-limit", &options->time_seconds, "Longest time for a request, in seconds");
  number("--grace", &options->grace_seconds, "Seconds that answers under way get when the server is stopped");
  number("--ping", &options->ping_seconds, "Seconds between signs of life in a stream whose prompt is being read");
  command->add_flag("--speculate", &s.scheduler.speculate,
                    "Draft what the text said before and verify several tokens in a run (convert --all-logits)");
  command
      ->add_option("--kv-memory", &options->kv_memory_mib, "Memory on the GPU for states, in MiB; idle ones go first")
      ->check(check_whole_number<u64>)
      ->show_default();
  command->add_option("--cache-dir", &options->cache_dir,
                      "Folder for states that have no place in memory or outlive the server; it holds what was said");
  command->add_option("--cache-size", &options->cache_mib, "What these may take, in MiB; the oldest go first")
      ->check(check_whole_number<u64>)
      ->show_default();
  command->add_option("--api-key", &options->api_key, "Ask for this key; better given as PTERON_API_KEY");
  command
      ->add_option("--cors", &s.service.origins, "Let pages of this origin use the server; '*': all (may be repeated)")
      ->once_each();
  command->add_option("--tokenizer", &options->tokenizer, "Tokenizer file; else the program's own or one beside it");
  command->add_option("--chat-template", &options->chat_template,
                      "Jinja file; else the program's own or one beside it");
  add_device_flags(*command, *options);
  add_program_flags(*command, *options);
  on_call(*command, options, exit_code, run);
}

}  // namespace pteron::cli
