// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/method_impl.h"
#include "runtime/open_files.h"

#include <pteron/program.h>
#include <pteron/version.h>

#include <algorithm>
#include <mutex>

namespace pteron {

const char* version() { return PTERON_VERSION; }

struct Program::Impl : std::enable_shared_from_this<Program::Impl> {
  OpenFiles open;
  LoadOptions options;
  std::vector<MethodInfo> infos;
  graph::ConstantStore constants;
  std::mutex mutex;  // what follows
  std::optional<Device> device;
  std::vector<LoadedMethod> loaded;

  Result<Device> get_device();
  Result<LoadedMethod> load_method(const format::MethodSpec& spec);
  Status load_constants(const format::MethodSpec& spec, LoadedMethod& method);
};

Result<Device> Program::Impl::get_device() {
  if (!device) {
    if (options.device)
      device = options.device;
    else {
      TRY(device, Device::open(options.device_options));
    }
  }
  return *device;
}

Result<LoadedMethod> Program::Impl::load_method(const format::MethodSpec& spec) {
  for (const LoadedMethod& method : loaded)
    if (method.spec == &spec) return method;
  TRY_DO(check_runnable(spec));
  LoadedMethod method;
  method.spec = &spec;
  if (!spec.delegates.empty()) {
    TRY(const Device device, get_device());
    TRY(auto loading, MethodLoading::begin(device.context(), open.files, spec, constants, options));
    TRY(method, graph::drive(*loading, open.sources, options.progress));
  }
  TRY_DO(load_constants(spec, method));
  loaded.push_back(method);
  return method;
}

// Constant tensors of the method itself, outside of its delegates.
Status Program::Impl::load_constants(const format::MethodSpec& spec, LoadedMethod& method) {
  for (u32 id = 0; id < spec.values.size(); ++id) {
    const auto* tensor = std::get_if<format::TensorSpec>(&spec.values[id]);
    if (!tensor || !tensor->dtype || !tensor->contiguous) continue;
    std::optional<graph::DataLocation> location;
    if (tensor->data) location = graph::DataLocation{0, *tensor->data};
    if (!tensor->external_key.empty()) {
      TRY(location, open.files.find(tensor->external_key));
    }
    if (!location) continue;
    if (location->range.size < tensor->shape.numel() * size_of(*tensor->dtype))
      return invalid("constant value ", id, " of shape ", tensor->shape, " has only ", location->range.size, " bytes");
    Tensor constant(*tensor->dtype, tensor->shape);
    TRY_DO(open.sources[location->source]->read(location->range.offset, constant.bytes()));
    method.constants.emplace(id, std::move(constant));
  }
  return {};
}

Result<Program> Program::load(const std::string& path, LoadOptions options) {
  TRY(auto source, format::open_file(path));
  return load_from(std::move(source), std::move(options));
}

Result<Program> Program::load(std::vector<std::byte> bytes, LoadOptions options) {
  return load_from(format::from_memory(std::move(bytes), "a program in memory"), std::move(options));
}

Result<Program> Program::load_from(std::shared_ptr<format::DataSource> source, LoadOptions options) {
  const std::string name(source->name());
  auto open = within(open_files(std::move(source), options.data_files), "loading ", name);
  if (!open) return Failure(std::move(open.error()));
  auto impl = std::make_shared<Impl>();
  impl->open = *std::move(open);
  impl->options = std::move(options);
  for (const format::MethodSpec& spec : impl->open.files.spec.methods) impl->infos.push_back(describe_method(spec, {}));
  return Program(std::move(impl));
}

Program::Program(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

const std::vector<MethodInfo>& Program::methods() const { return impl_->infos; }

Result<Method> Program::method(std::string_view name) {
  const auto& specs = impl_->open.files.spec.methods;
  const auto found = std::find_if(specs.begin(), specs.end(), [&](const auto& spec) { return spec.name == name; });
  if (found == specs.end()) {
    std::vector<std::string> names;
    for (const auto& spec : specs) names.push_back(spec.name);
    return not_found("the program has no method '", name, "'; it has: ", join(names));
  }
  const auto frame = str("loading ", impl_->open.sources[0]->name(), ": method ", name);
  const std::scoped_lock lock(impl_->mutex);
  auto loaded = impl_->load_method(*found);
  if (!loaded) return Failure(std::move(loaded.error()).within(frame));
  auto method = Method::Impl::create(impl_, *std::move(loaded), impl_->options);
  if (!method) return Failure(std::move(method.error()).within(frame));
  return Method(*std::move(method));
}

std::optional<std::vector<i64>> Program::constant(std::string_view name) const {
  for (const format::MethodSpec& spec : impl_->open.files.spec.methods) {
    if (spec.name != name || !spec.instructions.empty()) continue;
    std::vector<i64> out;
    for (u32 id : spec.outputs) {
      if (const auto* i = std::get_if<i64>(&spec.values[id]))
        out.push_back(*i);
      else if (const auto* b = std::get_if<bool>(&spec.values[id]))
        out.push_back(*b);
      else
        return std::nullopt;
    }
    return out;
  }
  return std::nullopt;
}

Result<Device> Program::device() {
  const std::scoped_lock lock(impl_->mutex);
  return impl_->get_device();
}

Result<std::vector<std::byte>> Program::named_data(std::string_view key) const {
  TRY(const graph::DataLocation location, impl_->open.files.find(key));
  std::vector<std::byte> out(location.range.size);
  TRY_DO(impl_->open.sources[location.source]->read(location.range.offset, out));
  return out;
}

}  // namespace pteron
