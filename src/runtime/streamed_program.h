// SPDX-License-Identifier: BSD-3-Clause
// A program whose bytes its host brings when it has them: a browser. First the files' own descriptions are read, then
// methods, one at a time:
//
//   while (program.next() is not nothing) supply or poll;   → program() is there
//   begin_method("forward"); the same loop; finish_method()
#pragma once

#include "runtime/method_loading.h"

#include <pteron/inspect.h>

namespace pteron {

class StreamedProgram {
 public:
  using Need = MethodLoading::Need;

  // The .pte's name and size, then those of the .ptd files.
  struct File {
    std::string name;
    u64 size = 0;
  };
  StreamedProgram(std::vector<File> files, LoadOptions options);

  // What it waits for. `nothing`: it is open, or the method is ready for finish_method.
  Need next() const;
  // The bytes of the last `data` need; not kept.
  Status supply(Bytes bytes);
  // For the `pipelines` need: looks whether more are done.
  Status poll();
  Progress progress() const;

  // Nothing until the program is open. Methods that have not been streamed can't be loaded through it.
  Program* program() { return program_ ? &*program_ : nullptr; }
  // The same program for another owner.
  Result<Program> share() const;
  // What a method that is loaded takes: of each delegate the ops after all rewriting, and its memory.
  Result<std::vector<DelegateReport>> report(std::string_view method) const;
  // Where the bytes that are stored under a key lie, e.g. a tokenizer's.
  Result<graph::DataLocation> locate(std::string_view key) const;

  Status begin_method(std::string_view name, const MethodOptions& options = {});
  Result<Method> finish_method();
  // Forgets a method that is on its way.
  void cancel_method();

 private:
  Status fail_method(Error error);

  std::vector<File> files_;
  LoadOptions options_;
  Opening opening_;
  u64 opened_bytes_ = 0;
  std::optional<Program> program_;
  const format::MethodSpec* method_ = nullptr;  // on its way
  MethodOptions method_options_;
  std::unique_ptr<MethodLoading> loading_;  // nothing if it is loaded already
};

}  // namespace pteron
