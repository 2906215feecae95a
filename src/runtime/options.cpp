// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.h"
#include "base/spelling.h"
#include "graph/pass.h"

#include <pteron/options.h>

#include <algorithm>
#include <charconv>

namespace pteron {
namespace {

using List = std::vector<std::string>;

// Where an option is kept: one of these.
struct Place {
  bool& (*flag)(LoadOptions&) = nullptr;
  std::string& (*text)(LoadOptions&) = nullptr;
  List& (*list)(LoadOptions&) = nullptr;
  u32& (*number)(LoadOptions&) = nullptr;
};

constexpr OptionInfo infos[] = {
    {"adapter", OptionInfo::text, "GPU to use: an index or a part of its name (see 'pteron devices')", "", "--adapter"},
    {"require_gpu", OptionInfo::flag, "Fail rather than use a software adapter", "", "--require-gpu"},
    {"f16", OptionInfo::flag, "Do not use half precision even if the GPU has it", "", "--no-f16"},
    {"subgroups", OptionInfo::flag, "Do not use subgroups even if the GPU has them", "", ""},
    {"data_files", OptionInfo::list, "External constants (.ptd) of the program", "", "--data"},
    {"disable_passes", OptionInfo::list, "Switch a graph rewrite off (see 'pteron info --passes')", "disabled_passes",
     "--disable-pass"},
    {"f16_kv_cache", OptionInfo::flag, "KV caches: f32 as in the program (default), or f16 in half the memory",
     "enable_f16_kv_cache", "--kv", "f32", "f16"},
    {"fast_math", OptionInfo::flag, "Prompts: exact (default), or what 4-bit weights multiply in 8 bits, less exact",
     "", "--fast-math", "none", "int8"},
    {"routes", OptionInfo::list, "Kernels to use: family=route, or for one shape family@64x576x192=route", "", ""},
    {"guards", OptionInfo::flag, "Fail if a kernel writes behind its result", "", ""},
    {"submit_microseconds", OptionInfo::number, "Longest work of one submit, as modelled for a slow GPU; 0: no limit",
     "", ""},
    {"answer_seconds", OptionInfo::number,
     "After how long a GPU that does not answer is taken for lost, besides 100 times what a step should take; 0: never",
     "", ""},
};
constexpr Place places[] = {
    {.text = [](LoadOptions& o) -> std::string& { return o.device_options.adapter; }},
    {.flag = [](LoadOptions& o) -> bool& { return o.device_options.require_gpu; }},
    {.flag = [](LoadOptions& o) -> bool& { return o.device_options.f16; }},
    {.flag = [](LoadOptions& o) -> bool& { return o.device_options.subgroups; }},
    {.list = [](LoadOptions& o) -> List& { return o.data_files; }},
    {.list = [](LoadOptions& o) -> List& { return o.disabled_passes; }},
    {.flag = [](LoadOptions& o) -> bool& { return o.f16_kv_cache; }},
    {.flag = [](LoadOptions& o) -> bool& { return o.fast_math; }},
    {.list = [](LoadOptions& o) -> List& { return o.routes; }},
    {.flag = [](LoadOptions& o) -> bool& { return o.guards; }},
    {.number = [](LoadOptions& o) -> u32& { return o.submit_microseconds; }},
    {.number = [](LoadOptions& o) -> u32& { return o.answer_seconds; }},
};
static_assert(std::size(infos) == std::size(places));

bool has_name(const OptionInfo& info, std::string_view name) {
  return info.name == name ||
         (!name.empty() && str(" ", info.also, " ").find(str(" ", name, " ")) != std::string::npos);
}

List split(std::string_view text) {
  List out;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    if (comma > at) out.emplace_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return out;
}

Result<bool> flag_of(const OptionInfo& info, std::string_view name, const OptionValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  const auto* word = std::get_if<std::string>(&value);
  if (word && (*word == info.on || *word == "true")) return true;
  if (word && (*word == info.off || *word == "false")) return false;
  return invalid("option '", name, "' must be true or false",
                 info.on == "true" ? "" : str(", or ", info.off, " or ", info.on));
}

Result<u32> number_of(std::string_view name, const OptionValue& value) {
  u32 out = 0;
  if (const auto* number = std::get_if<i64>(&value); number && *number >= 0 && *number <= UINT32_MAX)
    return u32(*number);
  if (const auto* word = std::get_if<std::string>(&value)) {
    const char* end = word->data() + word->size();
    if (const auto [stop, error] = std::from_chars(word->data(), end, out); error == std::errc() && stop == end)
      return out;
  }
  return invalid("option '", name, "' must be a number from 0 to ", UINT32_MAX);
}

Result<List> list_of(std::string_view name, const OptionValue& value) {
  if (const auto* items = std::get_if<List>(&value)) return *items;
  if (const auto* word = std::get_if<std::string>(&value)) return split(*word);
  return invalid("option '", name, "' must be a list of strings, or a string with commas between them");
}

}  // namespace

std::span<const OptionInfo> load_option_names() { return infos; }

Status set_option(LoadOptions& options, std::string_view name, const OptionValue& value) {
  const std::string spelled = snake_case(name);
  const auto info = std::ranges::find_if(infos, [&](const OptionInfo& i) { return has_name(i, spelled); });
  if (info == std::end(infos)) {
    List known;
    for (const OptionInfo& i : infos) known.emplace_back(i.name);
    return invalid("option '", name, "' is unknown; there are: ", join(known));
  }
  const Place& place = places[info - infos];
  if (place.flag) {
    TRY(place.flag(options), flag_of(*info, name, value));
  } else if (place.text) {
    const auto* text = std::get_if<std::string>(&value);
    if (!text) return invalid("option '", name, "' must be a string");
    place.text(options) = *text;
  } else if (place.number) {
    TRY(place.number(options), number_of(name, value));
  } else {
    TRY(place.list(options), list_of(name, value));
  }
  return info->name == "disable_passes" ? graph::check_pass_names(options.disabled_passes) : Status();
}

}  // namespace pteron
