// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/program_impl.h"

#include "runtime/device_inside.h"

#include <pteron/version.h>

namespace pteron {

const char* version() { return PTERON_VERSION; }

Program::Impl::Impl(OpenFiles files, LoadOptions load_options)
    : open(std::move(files)), options(std::move(load_options)) {
  for (const format::MethodSpec& spec : open.files.spec.methods) infos.push_back(describe_method(spec, {}));
}

Result<const format::MethodSpec*> Program::Impl::find(std::string_view name) const {
  std::vector<std::string> names;
  for (const format::MethodSpec& spec : open.files.spec.methods) {
    if (spec.name == name) return &spec;
    names.push_back(spec.name);
  }
  return not_found("the program has no method '", name, "'; it has: ", join(names));
}

std::string Program::Impl::frame(std::string_view method) const {
  return str("loading ", open.sources[0]->name(), ": method ", method);
}

Result<Device> Program::Impl::get_device() {
  if (!device) {
    if (options.device)
      device = options.device;
    else {
      TRY(device, options.share_device ? Device::shared(options.device_options) : Device::open(options.device_options));
    }
  }
  return *device;
}

std::shared_ptr<LoadedMethod> Program::Impl::find_loaded(const format::MethodSpec& spec,
                                                         const MethodOptions* with) const {
  for (const auto& method : loaded)
    if (method->spec == &spec && (!with || method->options == *with)) return method;
  return nullptr;
}

Result<std::unique_ptr<MethodLoading>> Program::Impl::begin_loading(const format::MethodSpec& spec,
                                                                    const MethodOptions& with) {
  TRY_DO(check_runnable(spec));
  std::shared_ptr<graph::Context> context;
  if (!spec.delegates.empty()) {
    TRY(const Device opened, get_device());
    context = context_of(opened);
  }
  return MethodLoading::begin(std::move(context), open.files, spec, constants, options, with);
}

Result<Program> Program::load(const std::string& path, LoadOptions options) {
  TRY(auto source, format::open_file(path));
  return Impl::load_from(std::move(source), std::move(options));
}

Result<Program> Program::load(std::vector<std::byte> bytes, LoadOptions options) {
  return Impl::load_from(format::from_memory(std::move(bytes), "a program in memory"), std::move(options));
}

Result<Program> Program::Impl::load_from(std::shared_ptr<format::DataSource> source, LoadOptions options) {
  const std::string name(source->name());
  auto open = within(open_files(std::move(source), options.data_files), "loading ", name);
  if (!open) return Failure(std::move(open.error()));
  return Program(std::make_shared<Impl>(*std::move(open), std::move(options)));
}

Program::Program(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

const std::vector<MethodInfo>& Program::methods() const { return impl_->infos; }

Status Program::check(std::string_view method) const {
  TRY(const format::MethodSpec* spec, impl_->find(method));
  return within(check_runnable(*spec), impl_->frame(method));
}

Result<std::shared_ptr<LoadedMethod>> Program::Impl::load(const format::MethodSpec& spec, const MethodOptions& with) {
  if (auto found = find_loaded(spec, &with)) return found;
  TRY(auto loading, begin_loading(spec, with));
  TRY(auto fresh, graph::drive(*loading, open.sources, options.progress));
  return loaded.emplace_back(std::move(fresh));
}

Result<Method> Program::method(std::string_view name, const MethodOptions& options) {
  TRY(const format::MethodSpec* spec, impl_->find(name));
  const std::scoped_lock lock(impl_->mutex);
  const size_t loaded_before = impl_->loaded.size();
  auto method = [&]() -> Result<std::unique_ptr<Method::Impl>> {
    TRY(auto loaded, impl_->load(*spec, options));
    return Method::Impl::create(impl_, loaded);
  }();
  // Weights that nobody got a method for take no memory.
  if (!method) impl_->loaded.resize(loaded_before);
  if (!method) return Failure(std::move(method.error()).within(impl_->frame(name)));
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
  if (location.range.size > format::largest_fetch)
    return unsupported("named data '", key, "' has ", location.range.size, " bytes; the limit is ",
                       format::largest_fetch);
  std::vector<std::byte> out(location.range.size);
  TRY_DO(impl_->open.sources[location.source]->read(location.range.offset, out));
  return out;
}

}  // namespace pteron
