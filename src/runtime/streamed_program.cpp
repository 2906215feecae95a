// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/streamed_program.h"

#include "runtime/program_impl.h"

namespace pteron {
namespace {

// Stands for a file that is somewhere else.
class StreamedSource final : public format::DataSource {
 public:
  explicit StreamedSource(StreamedProgram::File file) : file_(std::move(file)) {}
  u64 size() const override { return file_.size; }
  std::string_view name() const override { return file_.name; }
  Status read(u64, MutableBytes) const override {
    return unsupported(file_.name, " is streamed: its bytes are there only while a method is being loaded");
  }

 private:
  StreamedProgram::File file_;
};

std::vector<u64> sizes_of(const std::vector<StreamedProgram::File>& files) {
  std::vector<u64> out;
  out.reserve(files.size());
  for (const auto& file : files) out.push_back(file.size);
  return out;
}

}  // namespace

StreamedProgram::StreamedProgram(std::vector<File> files, LoadOptions options)
    : files_(std::move(files)), options_(std::move(options)), opening_(sizes_of(files_)) {}

StreamedProgram::Need StreamedProgram::next() const {
  if (!program_) {
    if (const auto where = opening_.next()) return {Need::data, *where};
  } else if (loading_) {
    return loading_->next();
  }
  return {Need::nothing, {}};
}

Status StreamedProgram::supply(Bytes bytes) {
  if (loading_) {
    auto status = loading_->supply(bytes);
    return status ? status : fail_method(std::move(status.error()));
  }
  if (auto status = opening_.supply(bytes); !status) return within(std::move(status), "loading ", files_[0].name);
  opened_bytes_ += bytes.size();
  if (!opening_.next()) {
    OpenFiles open;
    for (const File& file : files_) open.sources.push_back(std::make_shared<StreamedSource>(file));
    open.files = opening_.finish();
    program_ = Program(std::make_shared<Program::Impl>(std::move(open), options_));
  }
  return {};
}

Status StreamedProgram::poll() {
  if (!loading_) return internal_error("nothing is being compiled");
  auto status = loading_->poll(false);
  return status ? status : fail_method(std::move(status.error()));
}

Progress StreamedProgram::progress() const {
  return loading_ ? loading_->progress() : Progress{"program", opened_bytes_, opened_bytes_};
}

Result<Program> StreamedProgram::share() const {
  if (!program_) return invalid("the program is not open yet");
  return Program(program_->impl_);
}

Result<std::vector<DelegateReport>> StreamedProgram::report(std::string_view method) const {
  if (!program_) return invalid("the program is not open yet");
  TRY(const format::MethodSpec* spec, program_->impl_->find(method));
  const auto loaded = program_->impl_->find_loaded(*spec);
  if (!loaded) return invalid("method ", method, " is not loaded yet");
  std::vector<DelegateReport> out;
  for (const auto& delegate : loaded->delegates) out.push_back(describe_plan(*delegate.graph->compiled));
  return out;
}

Result<graph::DataLocation> StreamedProgram::locate(std::string_view key) const {
  if (!program_) return invalid("the program is not open yet");
  return program_->impl_->open.files.find(key);
}

Status StreamedProgram::begin_method(std::string_view name, const MethodOptions& options) {
  if (!program_) return invalid("the program is not open yet");
  if (method_) return invalid("method ", method_->name, " is on its way; finish it before method ", name);
  TRY(const format::MethodSpec* spec, program_->impl_->find(name));
  method_ = spec;
  method_options_ = options;
  if (program_->impl_->find_loaded(*spec, &options)) return {};
  auto loading = program_->impl_->begin_loading(*spec, options);
  if (!loading) return fail_method(std::move(loading.error()));
  loading_ = *std::move(loading);
  return {};
}

Result<Method> StreamedProgram::finish_method() {
  if (!method_) return invalid("no method is on its way");
  Program::Impl& impl = *program_->impl_;
  const size_t loaded_before = impl.loaded.size();
  auto method = [&]() -> Result<std::unique_ptr<Method::Impl>> {
    if (loading_) {
      TRY(auto loaded, loading_->finish());
      impl.loaded.push_back(std::move(loaded));
    }
    return Method::Impl::create(program_->impl_, impl.find_loaded(*method_, &method_options_));
  }();
  if (!method) {
    impl.loaded.resize(loaded_before);
    auto failed = fail_method(std::move(method.error()));
    return Failure(std::move(failed.error()));
  }
  cancel_method();
  return Method(*std::move(method));
}

void StreamedProgram::cancel_method() {
  method_ = nullptr;
  loading_.reset();
}

Status StreamedProgram::fail_method(Error error) {
  const std::string frame = program_->impl_->frame(method_->name);
  cancel_method();
  return Failure(std::move(error).within(frame));
}

}  // namespace pteron
