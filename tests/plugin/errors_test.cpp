// SPDX-License-Identifier: BSD-3-Clause
// Whatever a delegate holds: one ExecuTorch error code and one line in the log, never more.
#include "host.h"
#include "support/corrupt.h"

#include <gtest/gtest.h>

#include <cstring>

namespace pteron::test {
namespace {

EtError load_error(std::vector<std::byte> blob, std::vector<format::CompileSpec> specs = {}) {
  Hosted program(program_with(std::move(blob), std::move(specs)));
  return program->load_method("forward");
}

// Overwrites bytes of a good blob.
template <class T>
std::vector<std::byte> patched(size_t offset, T value) {
  auto blob = doubling().blob();
  std::memcpy(blob.data() + offset, &value, sizeof value);
  return blob;
}

void expect_refused(std::vector<std::byte> blob, EtError code, std::string_view message) {
  take_errors();
  EXPECT_EQ(load_error(std::move(blob)), code) << message;
  const auto errors = take_errors();
  ASSERT_EQ(errors.size(), 1u) << message;
  EXPECT_NE(errors[0].find(message), std::string::npos) << errors[0];
}

TEST(PluginErrors, ProgramsWrittenByPteronRunInStockExecuTorch) {
  Hosted program(program_with(doubling().blob()));
  EXPECT_EQ(run(program, {1, 2, 3, 4}), (std::vector<float>{2, 4, 6, 8}));
}

TEST(PluginErrors, EachBrokenHeaderHasTheCodeOfTheReferenceBackend) {
  auto cut = doubling().blob();
  cut.resize(29);
  expect_refused(cut, EtError::InvalidArgument, "29 bytes");
  expect_refused(patched<u32>(4, 0x31315648), EtError::NotFound, "not 'VH00'");
  expect_refused(patched<u16>(8, 29), EtError::InvalidArgument, "29 bytes long");
  expect_refused(patched<u32>(10, 8), EtError::InvalidArgument, "starts at 8");
  expect_refused(patched<u32>(14, 0), EtError::InvalidArgument, "graph is empty");
  expect_refused(patched<u32>(18, 0), EtError::InvalidArgument, "overlaps");
  expect_refused(patched<u64>(22, ~u64(0)), EtError::InvalidArgument, "constants");
  expect_refused(patched<u32>(32 + 4, 0x31304B56), EtError::DelegateInvalidCompatibility, "VK00");
}

TEST(PluginErrors, GraphsThatCannotRunAreIncompatible) {
  GraphBuilder unknown = doubling();
  unknown.graph.calls[0].name = "aten.no_such_op.default";
  expect_refused(unknown.blob(), EtError::DelegateInvalidCompatibility, "aten.no_such_op.default");

  GraphBuilder lost;
  lost.input(lost.tensor(DType::f32, {4}));
  const u32 c = lost.constant<f32>(DType::f32, {4}, {1, 2, 3, 4}, "weight"), y = lost.tensor(DType::f32, {4});
  lost.op("aten.add.Tensor", {0, c, lost.integer(1), y});
  lost.output(y);
  expect_refused(lost.blob(), EtError::DelegateInvalidCompatibility, "weight");
}

TEST(PluginErrors, ACompileSpecOfTheWrongSizeIsIncompatible) {
  const auto spec = [](size_t bytes) {
    return std::vector<format::CompileSpec>{{"webgpu_record_q4gsw_decode_route", std::vector<std::byte>(bytes)}};
  };
  EXPECT_EQ(load_error(doubling().blob(), spec(1)), EtError::Ok);
  take_errors();
  EXPECT_EQ(load_error(doubling().blob(), spec(2)), EtError::DelegateInvalidCompatibility);
  EXPECT_EQ(take_errors().size(), 1u);
  EXPECT_EQ(load_error(doubling().blob(), {{"unknown", {}}}), EtError::Ok);
}

TEST(PluginErrors, AFailedCallIsInternalAndTheNextOneRuns) {
  GraphBuilder b;
  const u32 table = b.constant<f32>(DType::f32, {3, 1}, {5, 6, 7});
  const u32 index = b.input(b.tensor(DType::i32, {2}));
  const u32 y = b.tensor(DType::f32, {2, 1});
  b.op("aten.embedding.default", {table, index, b.integer(-1), b.boolean(false), b.boolean(false), y});
  b.output(y);
  Hosted program(b.program());
  const auto look_up = [&](std::vector<int> at) {
    return program->forward(executorch::extension::make_tensor_ptr({2}, std::move(at)));
  };
  ASSERT_EQ(program->load_method("forward"), EtError::Ok);
  take_errors();
  EXPECT_EQ(look_up({0, 3}).error(), EtError::Internal);
  EXPECT_EQ(take_errors().size(), 1u);
  const auto found = look_up({2, 0});
  ASSERT_TRUE(found.ok());
  EXPECT_EQ((*found)[0].toTensor().const_data_ptr<float>()[0], 7);
  EXPECT_EQ((*found)[0].toTensor().const_data_ptr<float>()[1], 5);
}

TEST(PluginErrors, CorruptedBlobsNeverBringTheProcessDown) {
  GraphBuilder b = doubling();
  const u32 c = b.constant<f32>(DType::f32, {4}, {1, 2, 3, 4}), z = b.tensor(DType::f32, {4});
  b.op("aten.mul.Tensor", {b.graph.outputs[0], c, z});
  b.graph.outputs[0] = z;
  u32 refused = 0;
  for_each_corruption(b.blob(), 600, 5, [&](const File& broken) {
    Hosted program(program_with(broken));
    take_errors();
    const EtError code = program->load_method("forward");
    const size_t lines = take_errors().size();
    ASSERT_EQ(lines, code == EtError::Ok ? 0u : 1u) << "error " << u32(code);
    if (code == EtError::Ok)
      run(program, {1, 2, 3, 4});
    else
      ++refused;
  });
  EXPECT_GT(refused, 100u);
}

}  // namespace
}  // namespace pteron::test
