// SPDX-License-Identifier: BSD-3-Clause
#include "cli/cli.h"
#include "cli/print_json.h"

#include <cstdio>

namespace pteron::cli {

void add_devices(Command& app, int& exit_code) {
  auto* command = app.add_subcommand("devices", "List the GPUs that can be used");
  auto common = std::make_shared<Common>();
  command->add_flag("--json", &common->json, "Print one JSON array");
  command->callback([common, &exit_code] {
    auto adapters = Device::list();
    if (!adapters) {
      exit_code = report(adapters.error());
      return;
    }
    nlohmann::json list = nlohmann::json::array();
    for (const AdapterDescription& a : *adapters) {
      list.push_back({{"index", a.index},
                      {"name", a.name},
                      {"driver", a.driver},
                      {"backend", a.backend},
                      {"type", a.type},
                      {"software", a.software},
                      {"f16", a.f16},
                      {"subgroups", a.subgroups},
                      {"timestamps", a.timestamps},
                      {"max_buffer_bytes", a.max_buffer_bytes},
                      {"max_binding_bytes", a.max_binding_bytes},
                      {"max_workgroup_bytes", a.max_workgroup_bytes},
                      {"max_invocations", a.max_invocations},
                      {"max_storage_buffers", a.max_storage_buffers}});
      if (common->json) continue;
      std::printf(
          "%u  %s\n   %s, %s, %s\n   f16 %s, subgroups %s, timestamps %s; buffers up to %s, bindings up to %s\n",
          a.index, a.name.c_str(), a.type.c_str(), a.backend.c_str(), a.driver.c_str(), a.f16 ? "yes" : "no",
          a.subgroups ? "yes" : "no", a.timestamps ? "yes" : "no", human_bytes(a.max_buffer_bytes).c_str(),
          human_bytes(a.max_binding_bytes).c_str());
    }
    if (common->json)
      print_json(list);
    else if (adapters->empty())
      exit_code = report({ErrorKind::not_found,
                          "no GPU was found; install a Vulkan driver (mesa-vulkan-drivers has a software one)",
                          {}});
  });
}

}  // namespace pteron::cli
