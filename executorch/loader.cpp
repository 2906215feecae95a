// SPDX-License-Identifier: BSD-3-Clause
#include "loader.h"

#include "format/delegate_graph.h"
#include "graph/loading.h"
#include "runtime/method_loading.h"

namespace pteron::et {
namespace {

using executorch::runtime::FreeableBuffer;

// Bytes that the runtime lends for the time of a load.
class LentSource final : public format::DataSource {
 public:
  LentSource(FreeableBuffer buffer, std::string name) : buffer_(std::move(buffer)), name_(std::move(name)) {}
  u64 size() const override { return buffer_.size(); }
  std::string_view name() const override { return name_; }
  std::optional<Bytes> view(format::DataRange range) const override {
    return bytes().subspan(range.offset, range.size);
  }
  Status read(u64 offset, MutableBytes into) const override {
    std::copy_n(bytes().begin() + std::ptrdiff_t(offset), into.size(), into.begin());
    return {};
  }

 private:
  Bytes bytes() const { return {static_cast<const std::byte*>(buffer_.data()), buffer_.size()}; }
  FreeableBuffer buffer_;
  std::string name_;
};

class Loader {
 public:
  Loader(const std::shared_ptr<graph::Context>& context, SharedProgram& program, Bytes blob,
         const executorch::runtime::NamedDataMap* named_data, const Options& options)
      : context_(context), program_(program), blob_(blob), named_data_(named_data), options_(options) {}

  Result<format::DelegateHeader> read_header() const { return format::read_delegate_header(blob_); }

  Result<std::shared_ptr<const graph::CompiledGraph>> compile(const format::DelegateHeader& header) {
    TRY(const format::DelegateGraph parsed, format::read_delegate_graph(blob_, header));
    const u32 blob_source = add_source(format::borrow_memory(blob_, "the delegate's blob"));
    const auto find = [this](std::string_view key) { return find_data(key); };
    // Without input_is_static: the runtime says nothing of arguments before a call, so any shape may vary up to its
    // bound.
    graph::CompileOptions options = compile_options(options_.load);
    options.f16_kv_cache &= context_->info().features.f16;  // a wish, as in the reference
    return compile_delegate(parsed, {blob_source, {0, blob_.size()}}, find, context_->info(), options);
  }

  Result<std::shared_ptr<const graph::LoadedGraph>> load(std::shared_ptr<const graph::CompiledGraph> compiled) {
    TRY(auto loading, graph::Loading::begin(context_, std::move(compiled), program_.constants));
    return graph::drive(*loading, sources_, {});
  }

 private:
  u32 add_source(std::shared_ptr<format::DataSource> source) {
    const std::scoped_lock lock(program_.mutex);
    const u32 number = program_.sources++;
    sources_.resize(program_.sources);
    sources_[number] = std::move(source);
    return number;
  }

  Result<graph::DataLocation> find_data(std::string_view key) {
    if (!named_data_) return not_found("the runtime gave no named data, so '", key, "' can't be found");
    const std::string name(key);
    u32 number = 0;
    {
      const std::scoped_lock lock(program_.mutex);
      const auto [entry, added] = program_.source_of.emplace(name, program_.sources);
      if (added) ++program_.sources;
      number = entry->second;
    }
    if (number >= sources_.size()) sources_.resize(number + 1);
    if (!sources_[number]) {
      auto data = named_data_->get_data(name);
      if (!data.ok())
        return not_found("named data '", key, "' is not there (ExecuTorch error ", u32(data.error()), ")");
      sources_[number] = std::make_shared<LentSource>(std::move(data.get()), name);
    }
    return graph::DataLocation{number, {0, sources_[number]->size()}};
  }

  std::shared_ptr<graph::Context> context_;
  SharedProgram& program_;
  Bytes blob_;
  const executorch::runtime::NamedDataMap* named_data_;
  const Options& options_;
  std::vector<std::shared_ptr<format::DataSource>> sources_;
};

std::unexpected<LoadError> at(LoadError::Stage stage, Error error) {
  return std::unexpected(LoadError{stage, std::move(error)});
}

}  // namespace

std::expected<std::shared_ptr<const graph::LoadedGraph>, LoadError> load(
    const std::shared_ptr<graph::Context>& context, SharedProgram& program, Bytes blob,
    const executorch::runtime::NamedDataMap* named_data, const Options& options) {
  Loader loader(context, program, blob, named_data, options);
  auto header = loader.read_header();
  if (!header) return at(LoadError::header, std::move(header.error()));
  auto compiled = loader.compile(*header);
  if (!compiled) return at(LoadError::graph, std::move(compiled.error()));
  auto loaded = loader.load(*std::move(compiled));
  if (!loaded) return at(LoadError::gpu, std::move(loaded.error()));
  return *std::move(loaded);
}

}  // namespace pteron::et
