// SPDX-License-Identifier: BSD-3-Clause
#include "format/delegate_graph.h"

#include "support/builder.h"
#include "support/corrupt.h"
#include "vk_graph_generated.h"

#include <gtest/gtest.h>

namespace pteron::format {
namespace {

using test::File;
using test::GraphBuilder;

Result<DelegateGraph> parse(const File& blob) {
  TRY(const DelegateHeader header, read_delegate_header(blob));
  return read_delegate_graph(blob, header);
}

File small_blob() {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {3, 4}));
  const u32 c = b.constant<f32>(DType::f32, {4}, {1, 2, 3, 4});
  const u32 y = b.tensor(DType::f32, {3, 4});
  b.op("aten.add.Tensor", {x, c, b.integer(1), y});
  b.output(y);
  return b.blob();
}

template <class T>
void put(File& file, size_t at, T value) {
  std::memcpy(file.data() + at, &value, sizeof value);
}

void expect_error(const File& blob, ErrorKind kind, const std::string& part) {
  const auto graph = parse(blob);
  ASSERT_FALSE(graph.has_value());
  EXPECT_EQ(graph.error().kind, kind);
  EXPECT_NE(graph.error().to_string().find(part), std::string::npos) << graph.error().to_string();
}

TEST(DelegateGraph, ReadsEveryKindOfValue) {
  GraphBuilder b;
  b.null();
  b.integer(-5);
  b.number(0.25);
  b.boolean(true);
  b.text("none");
  b.ints({1, -2});
  b.value(std::vector<f64>{1.5});
  b.value(std::vector<bool>{true, false});
  b.list({0, 1});
  b.symint();
  b.tensor(DType::boolean, {});
  const auto graph = parse(b.blob());
  ASSERT_TRUE(graph.has_value()) << graph.error().to_string();
  EXPECT_EQ(std::get<i64>(graph->values[1]), -5);
  EXPECT_EQ(std::get<f64>(graph->values[2]), 0.25);
  EXPECT_EQ(std::get<std::string>(graph->values[4]), "none");
  EXPECT_EQ(std::get<std::vector<i64>>(graph->values[5])[1], -2);
  EXPECT_EQ(std::get<std::vector<bool>>(graph->values[7])[0], true);
  EXPECT_EQ(std::get<GraphValueList>(graph->values[8]).items.size(), 2u);
  EXPECT_EQ(std::get<GraphTensor>(graph->values[10]).shape.rank(), 0u);
  EXPECT_EQ(std::get<GraphTensor>(graph->values[10]).dtype, DType::boolean);
}

TEST(DelegateGraph, AnAbsentConstantIdMeansConstantZero) {
  // Writers omit default scalars, and the default is 0, not "none".
  const auto graph = parse(small_blob());
  ASSERT_TRUE(graph.has_value());
  EXPECT_EQ(std::get<GraphTensor>(graph->values[0]).constant, -1);
  EXPECT_EQ(std::get<GraphTensor>(graph->values[1]).constant, 0);
}

TEST(DelegateGraph, TellsAForeignBlobFromABrokenOne) {
  expect_error(File(29), ErrorKind::invalid, "29 bytes");
  expect_error(File(64), ErrorKind::not_found, "VH00");
  File blob = small_blob();
  put(blob, 8, u16(29));
  expect_error(blob, ErrorKind::invalid, "29 bytes long");
  blob = small_blob();
  put(blob, 10, u32(8));
  expect_error(blob, ErrorKind::invalid, "inside of the header");
  blob = small_blob();
  put(blob, 14, u32(0));
  expect_error(blob, ErrorKind::invalid, "empty");
  blob = small_blob();
  put(blob, 18, u32(16));
  expect_error(blob, ErrorKind::invalid, "overlaps");
  blob = small_blob();
  put(blob, 22, UINT64_MAX);
  expect_error(blob, ErrorKind::invalid, "constants");
  blob = small_blob();
  blob[36] = std::byte('X');  // the flatbuffer's identifier
  expect_error(blob, ErrorKind::invalid, "verification");
}

TEST(DelegateGraph, NamesTheConstantThatIsMissing) {
  GraphBuilder b;
  b.constant<f32>(DType::f32, {1}, {1});
  b.constant<f32>(DType::f32, {1}, {1});
  std::get<GraphTensor>(b.graph.values[1]).constant = 2;
  expect_error(b.blob(), ErrorKind::invalid, "value 1: a tensor refers to constant 2, but the graph has 2");
}

TEST(DelegateGraph, NamesTheOpWithABadArgument) {
  GraphBuilder b;
  b.tensor(DType::f32, {1});
  b.op("aten.abs.default", {0, 9});
  expect_error(b.blob(), ErrorKind::invalid, "op 0 aten.abs.default: an argument refers to value 9");
}

TEST(DelegateGraph, RefusesListsOfLists) {
  GraphBuilder b;
  b.list({0});
  expect_error(b.blob(), ErrorKind::invalid, "another value list");
}

TEST(DelegateGraph, RefusesNamesThatNoErrorCouldQuote) {
  GraphBuilder op, word;
  op.op(std::string(1025, 'x'), {op.tensor(DType::f32, {2})});
  expect_error(op.blob(), ErrorKind::invalid, "a name or key has 1025 bytes; at most 1024 are read");
  word.text(std::string(1000000, 'y'));
  expect_error(word.blob(), ErrorKind::invalid, "a name or key has 1000000 bytes");
}

TEST(DelegateGraph, RefusesShapesThatOverflow) {
  GraphBuilder b;
  b.tensor(DType::f32, {0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF});
  expect_error(b.blob(), ErrorKind::invalid, "64 bits");
}

TEST(DelegateGraph, ReadsABlobAtAnyAlignment) {
  const File blob = small_blob();
  for (size_t shift = 1; shift < 8; ++shift) {
    File shifted(shift);
    shifted.insert(shifted.end(), blob.begin(), blob.end());
    const Bytes bytes = Bytes(shifted).subspan(shift);
    const auto header = read_delegate_header(bytes);
    ASSERT_TRUE(header.has_value());
    EXPECT_TRUE(read_delegate_graph(bytes, *header).has_value());
  }
}

// 40,000 values that are one list of 40,000 numbers: half a megabyte that would become twelve gigabytes.
TEST(DelegateGraph, RefusesListsThatAreSharedToTakeAllMemory) {
  flatbuffers::FlatBufferBuilder f;
  const auto list = fb::vk::CreateIntList(f, f.CreateVector(std::vector<i64>(40'000, 1)));
  const auto value = fb::vk::CreateValue(f, fb::vk::AnyValue_IntList, list.Union());
  const std::vector<flatbuffers::Offset<fb::vk::Value>> values(40'000, value);
  const auto all = f.CreateVector(values);
  fb::vk::GraphBuilder graph(f);
  graph.add_values(all);
  f.Finish(graph.Finish(), fb::vk::GraphIdentifier());
  const Bytes bytes = std::as_bytes(std::span(f.GetBufferPointer(), f.GetSize()));
  const auto parsed = read_delegate_graph(bytes, {{0, bytes.size()}, {bytes.size(), 0}});
  ASSERT_FALSE(parsed.has_value());
  EXPECT_NE(parsed.error().to_string().find("shared so often"), std::string::npos) << parsed.error().to_string();
}

// Every field of a table may be absent.
TEST(DelegateGraph, FieldsThatAreAbsentAreEmptyOrAnError) {
  const auto read = [](const auto& fill) {
    flatbuffers::FlatBufferBuilder f;
    fill(f);
    const Bytes bytes = std::as_bytes(std::span(f.GetBufferPointer(), f.GetSize()));
    return read_delegate_graph(bytes, {{0, bytes.size()}, {bytes.size(), 0}});
  };
  const auto finish = [](auto& f, auto graph) { f.Finish(graph.Finish(), fb::vk::GraphIdentifier()); };
  const auto nothing = read([&](auto& f) { finish(f, fb::vk::GraphBuilder(f)); });
  ASSERT_TRUE(nothing.has_value()) << nothing.error().to_string();
  EXPECT_TRUE(nothing->values.empty() && nothing->calls.empty() && nothing->inputs.empty());
  const auto call = read([&](auto& f) {
    const std::vector empty{fb::vk::OperatorCallBuilder(f).Finish()};
    const auto chain = f.CreateVector(empty);
    fb::vk::GraphBuilder graph(f);
    graph.add_chain(chain);
    finish(f, std::move(graph));
  });
  ASSERT_TRUE(call.has_value()) << call.error().to_string();
  EXPECT_EQ(call->calls.at(0).name, "");
  const auto with_value = [&](auto type, auto make) {
    return read([&](auto& f) {
      const auto content = make(f);
      fb::vk::ValueBuilder value(f);
      value.add_value_type(type);
      if (content.o) value.add_value(content);
      const std::vector values{value.Finish()};
      const auto all = f.CreateVector(values);
      fb::vk::GraphBuilder graph(f);
      graph.add_values(all);
      finish(f, std::move(graph));
    });
  };
  const auto tensor =
      with_value(fb::vk::AnyValue_Tensor, [](auto& f) { return fb::vk::TensorBuilder(f).Finish().Union(); });
  ASSERT_FALSE(tensor.has_value());  // an absent id of a constant is 0
  EXPECT_NE(tensor.error().to_string().find("constant 0"), std::string::npos) << tensor.error().to_string();
  const auto text =
      with_value(fb::vk::AnyValue_String, [](auto& f) { return fb::vk::StringBuilder(f).Finish().Union(); });
  EXPECT_TRUE(!text || std::get<std::string>(text->values[0]).empty());
  const auto list =
      with_value(fb::vk::AnyValue_ValueList, [](auto& f) { return fb::vk::ValueListBuilder(f).Finish().Union(); });
  EXPECT_TRUE(list && std::get<GraphValueList>(list->values[0]).items.empty());
  for (const auto type : fb::vk::EnumValuesAnyValue()) {
    if (type == fb::vk::AnyValue_NONE) continue;
    const auto hollow = with_value(type, [](auto&) { return flatbuffers::Offset<void>(); });
    EXPECT_FALSE(hollow.has_value() && type != fb::vk::AnyValue_Null) << int(type);
  }
}

// Found by fuzzing: the verifier looks at no element's alignment.
TEST(DelegateGraph, ReadsNumbersWhereverTheyLie) {
  for (const u32 shift : {0, 1}) {
    flatbuffers::FlatBufferBuilder f;
    for (u32 i = 0; i < shift; ++i) f.CreateVector(std::vector<u32>());  // four bytes
    f.StartVector(4, sizeof(u32));                                       // a builder would align numbers of 64 bits
    for (const u32 half : {UINT32_MAX, UINT32_MAX - 1, 0u, 7u}) f.PushElement(half);  // from the end
    const flatbuffers::Offset<flatbuffers::Vector<i64>> numbers(f.EndVector(2));
    const auto list = fb::vk::CreateIntList(f, numbers);
    const auto values = f.CreateVector(std::vector{fb::vk::CreateValue(f, fb::vk::AnyValue_IntList, list.Union())});
    fb::vk::GraphBuilder graph(f);
    graph.add_values(values);
    f.Finish(graph.Finish(), fb::vk::GraphIdentifier());
    const Bytes bytes = std::as_bytes(std::span(f.GetBufferPointer(), f.GetSize()));
    const auto parsed = read_delegate_graph(bytes, {{0, bytes.size()}, {bytes.size(), 0}});
    ASSERT_TRUE(parsed.has_value()) << parsed.error().to_string();
    EXPECT_EQ(std::get<std::vector<i64>>(parsed->values[0]), (std::vector<i64>{7, -2}));
  }
}

TEST(DelegateGraph, NeverReadsBeyondACorruptedBlob) {
  u32 refused = 0;
  test::for_each_corruption(small_blob(), 5000, 2, [&](const File& broken) { refused += !parse(broken).has_value(); });
  EXPECT_GT(refused, 500u);
}

}  // namespace
}  // namespace pteron::format
