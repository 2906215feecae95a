// SPDX-License-Identifier: BSD-3-Clause
#include "cli/tuning.h"

#include "base/os.h"
#include "base/path.h"
#include "base/sha256.h"
#include "format/data_source.h"
#include "ops/routes.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace pteron::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr u64 hashed_bytes = 1 << 20;

// Other drivers and other versions of Pteron are other measurements.
std::string key_of(const AdapterDescription& adapter) {
  return str(adapter.name, " / ", adapter.driver, " / ", version());
}

std::string folder() {
  const std::string cache = os::cache_directory();
  return cache.empty() ? "" : os::text(os::path(cache) / "tune");
}

// Of one shape, by a kernel that there is: a file that others wrote to must not stop the program.
bool is_route(std::string_view text) {
  const auto measured = graph::parse_route(text);
  return measured && std::ranges::any_of(ops::routes(), [&](const ops::Route& route) {
           return route.family == measured->family && route.name == measured->route;
         });
}

Json read_json(const fs::path& path) {
  std::ifstream file(path);
  Json out = Json::parse(file, nullptr, false);
  return out.is_object() ? out : Json::object();
}

}  // namespace

Result<std::string> tuning_path(const std::string& model) {
  if (folder().empty()) return invalid("there is no cache folder; set PTERON_CACHE");
  TRY(const auto file, format::open_file(model));
  std::vector<std::byte> buffer;
  TRY(const Bytes bytes, format::fetch(*file, {0, std::min(file->size(), hashed_bytes)}, buffer));
  const u64 size = file->size();
  Sha256 hash;
  hash.update(std::as_bytes(std::span(&size, 1)));
  hash.update(bytes);
  return os::text(os::path(folder()) / (hash.finish().substr(0, 24) + ".json"));
}

Result<std::string> save_tuning(const Tuning& tuning) {
  TRY(std::string path, tuning_path(tuning.model));
  std::error_code ignored;
  const fs::path target = os::path(path);
  fs::create_directories(target.parent_path(), ignored);
  Json json = read_json(target);
  json[key_of(tuning.adapter)] = tuning.routes;
  const std::string part = path + ".part";
  std::ofstream file(os::path(part));
  file << json.dump(1, ' ', false, Json::error_handler_t::replace) << '\n';
  file.close();
  if (!file) return invalid("cannot write '", part, "'; set PTERON_CACHE to a folder that can be written");
  std::error_code error;
  fs::rename(os::path(part), target, error);
  if (error) return invalid("cannot rename '", part, "' to '", path, "': ", error.message());
  return path;
}

Status apply_tuning(const Common& common, const std::string& model, LoadOptions& load) {
  std::error_code ignored;
  if (common.no_tuning || !fs::exists(os::path(folder()), ignored)) return {};
  const auto path = tuning_path(model);
  if (!path || !fs::exists(os::path(*path), ignored)) return {};
  if (!load.device) {
    TRY(load.device, Device::open(load.device_options));
  }
  const Json json = read_json(os::path(*path));
  const auto entry = json.find(key_of(load.device->adapter()));
  if (entry == json.end() || !entry->is_array()) return {};
  for (const Json& route : *entry)
    if (route.is_string() && is_route(route.get<std::string>())) load.routes.push_back(route.get<std::string>());
  return {};
}

}  // namespace pteron::cli
