// SPDX-License-Identifier: BSD-3-Clause
// docs/errors.md shows an error of each kind as it really is. PTERON_WRITE_PAGES=1 writes the page.
#include "runtime/device_inside.h"
#include "support/builder.h"
#include "support/faulty_device.h"
#include "support/fixture.h"
#include "support/stamping_device.h"

#include <pteron/program.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace pteron::test {
namespace {

constexpr u32 width = 1000;

std::vector<std::byte> doubling(const char* op = "aten.add.Tensor") {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {width})), y = b.tensor(DType::f32, {width});
  b.op(op, {x, x, b.integer(1), y});
  b.output(y);
  return b.program();
}

LoadOptions on(std::shared_ptr<gpu::Device> device) {
  LoadOptions options;
  options.device = make_device(std::make_shared<graph::Context>(std::move(device)));
  return options;
}

std::string error_of_method(const LoadOptions& options, std::vector<std::byte> file = doubling()) {
  auto program = Program::load(std::move(file), options);
  if (!program) return program.error().to_string();
  const auto method = program->method();
  return method ? "none" : method.error().to_string();
}

std::string error_of_step(FaultyDevice* faulty, const LoadOptions& options, u32 elements) {
  auto program = *Program::load(doubling(), options);
  auto method = *program.method();
  if (faulty) faulty->fail_at(1, FaultyDevice::How::lost);
  const auto outputs = method.execute({Tensor(DType::f32, {elements})});
  return outputs ? "none" : outputs.error().to_string();
}

std::string lost() {
  auto faulty = std::make_shared<FaultyDevice>(std::make_shared<StampingDevice>());
  return error_of_step(faulty.get(), on(faulty), width);
}

std::string cancelled() {
  LoadOptions options = on(std::make_shared<StampingDevice>());
  options.progress = [](const Progress&) { return false; };
  return error_of_method(options);
}

std::string refused() {
  auto faulty = std::make_shared<FaultyDevice>(std::make_shared<StampingDevice>());
  faulty->fail_at(1, FaultyDevice::How::refused);
  return error_of_method(on(faulty));
}

std::string page() {
  struct Row {
    ErrorKind kind;
    const char *what, *then;
    std::string example;
  };
  const LoadOptions plain = on(std::make_shared<StampingDevice>());
  const Row rows[] = {
      {ErrorKind::invalid, "the file or the call is wrong",
       "The message says what to change. Nothing has happened: the same object can be used on.",
       error_of_step(nullptr, plain, 7)},
      {ErrorKind::not_found, "a file, method, key or adapter does not exist", "Look at what was asked for.",
       Program::load("elsewhere.pte").error().to_string()},
      {ErrorKind::unsupported, "valid, but outside of what this build or this device can do",
       "`pteron info FILE` lists all that a program has of this.",
       error_of_method(plain, doubling("my.own_op.default"))},
      {ErrorKind::out_of_memory, "the GPU has no memory left",
       "What was being made is gone and takes no memory; free something and do it again.",
       error_of_method(on(std::make_shared<StampingDevice>(2048)))},
      {ErrorKind::device_lost, "the GPU went away, by a reset or a driver's update, say",
       "Every later call on the device says so. Open a new `Device` and load again; `pteron serve` and the page do.",
       lost()},
      {ErrorKind::cancelled, "the caller asked to stop", "Do it again whenever you like.", cancelled()},
      {ErrorKind::internal, "a bug in Pteron or in the driver", "Please report the whole message.", refused()},
  };
  std::string out =
      "# Errors\n\nAn error is a value (`Result`): a kind, a sentence, and where it happened, outermost first. The "
      "examples are "
      "made by a test\n(`tests/unit/errors_page_test.cpp`), which compares this page with them.\n";
  for (const Row& row : rows)
    out += str("\n## ", name_of(row.kind), "\nMeans: ", row.what, ". ", row.then, "\n\n    ", row.example, "\n");
  return out +
         "\nC has the kinds as numbers (`pteron/c.h`), Python as exceptions (`python.md`), the page as `kind` of an "
         "error "
         "(`web.md`), and the\nserver as HTTP statuses (`serving.md`). Which calls may come after an error: every one; "
         "`reliability.md` tells how that is tested.\n";
}

TEST(ErrorsPage, ShowsErrorsAsTheyAre) {
  const auto path = std::filesystem::path(PTERON_SOURCE) / "docs" / "errors.md";
  const std::string expected = page();
  if (std::getenv("PTERON_WRITE_PAGES")) std::ofstream(path) << expected;
  const auto bytes = read_bytes(path);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), expected);
}

}  // namespace
}  // namespace pteron::test
