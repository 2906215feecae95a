// SPDX-License-Identifier: BSD-3-Clause
// What a method keeps on the host between its delegates and from step to step, in programs that no exporter writes.
#include "gpu/one_op.h"
#include "gpu/run_graph.h"

namespace pteron::test {
namespace {

using format::DelegateCall;
using format::KernelCall;
using format::MoveCall;
using format::TensorSpec;

TensorSpec tensor(const Shape& shape, DType dtype = DType::f32, bool dynamic = false) {
  return {.dtype = dtype, .shape = shape, .dynamic = dynamic};
}
TensorSpec nines(const Shape& shape) { return {.dtype = DType::f32, .shape = shape, .external_key = "nines"}; }

// y = x + x for up to so many elements.
GraphBuilder doubling(const Shape& most) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, most), true), y = b.tensor(DType::f32, most);
  b.op("aten.add.Tensor", {x, x, b.integer(1), y});
  b.output(y, true);
  return b;
}
// The same for a number.
GraphBuilder doubling_number() {
  GraphBuilder b;
  const u32 x = b.symint(), y = b.symint();
  b.op("add", {x, x, y});
  b.graph.inputs = {x};
  b.graph.outputs = {y};
  return b;
}

// A method of these values and instructions, with "nines" of four 9 beside it.
struct Draft {
  std::vector<format::ProgramValue> values;
  std::vector<u32> inputs, outputs;
  std::vector<format::Instruction> instructions;
  std::vector<GraphBuilder> delegates;

  Result<Method> method() const {
    format::ProgramDraft draft;
    format::MethodDraft& method = draft.methods.emplace_back();
    method.spec = {"forward", values, inputs, outputs, instructions, {"aten::copy_"}, {}};
    for (const GraphBuilder& delegate : delegates) {
      method.spec.delegates.push_back({"VulkanBackend", {}, {}});
      method.blobs.push_back(delegate.blob());
    }
    const Tensor nine = floats({4}, {9, 9, 9, 9});
    draft.named_data.push_back(format::named_blob("nines", {nine.bytes().begin(), nine.bytes().end()}));
    std::vector<std::byte> bytes;
    const auto collect = [&](Bytes part) -> Status {
      bytes.insert(bytes.end(), part.begin(), part.end());
      return {};
    };
    TRY_DO(format::write_program(draft, collect));
    TRY(Program program, Program::load(std::move(bytes), {.device = device()}));
    return program.method();
  }
  std::string error(const std::vector<Tensor>& given = {}) const {
    auto loaded = method();
    if (!loaded) return loaded.error().to_string();
    const auto outputs_of = loaded->execute(std::vector<TensorView>(given.begin(), given.end()));
    return outputs_of ? "nothing" : outputs_of.error().to_string();
  }
};

std::vector<f32> first(Result<Method>& method, const std::vector<Tensor>& given) {
  const auto outputs = method->execute(std::vector<TensorView>(given.begin(), given.end()));
  if (!outputs) return ADD_FAILURE() << outputs.error().to_string(), std::vector<f32>();
  return values<f32>((*outputs)[0]);
}

Tensor x1234() { return floats({4}, {1, 2, 3, 4}); }

// What was moved used to be a view of memory that the next result of another size took away.
TEST(MethodValues, WhatIsMovedStaysWhenItsSourceGrows) {
  const TensorSpec any = tensor({4096}, DType::f32, true);
  const Draft draft{{any, any, any, any},
                    {0, 3},
                    {2},
                    {DelegateCall{0, {0, 1}}, MoveCall{1, 2}, DelegateCall{0, {3, 1}}, MoveCall{1, 1}},
                    {doubling({4096})}};
  auto method = draft.method();
  ASSERT_TRUE(method.has_value()) << method.error().to_string();
  const Tensor many(DType::f32, {4096});
  for (int step = 0; step < 3; ++step) EXPECT_EQ(first(method, {floats({2}, {1, 2}), many}), (std::vector<f32>{2, 4}));
}

// A step's inputs are the caller's again when it has ended.
TEST(MethodValues, WhatIsMovedFromAnInputIsNoViewOfIt) {
  const Draft draft{
      {tensor({4}), tensor({4}), nines({4})}, {0}, {1}, {DelegateCall{0, {2, 1}}, MoveCall{0, 2}}, {doubling({4})}};
  auto method = draft.method();
  ASSERT_TRUE(method.has_value()) << method.error().to_string();
  EXPECT_EQ(first(method, {x1234()}), (std::vector<f32>{18, 18, 18, 18}));
  EXPECT_EQ(first(method, {floats({4}, {5, 6, 7, 8})}), (std::vector<f32>{2, 4, 6, 8}));
}

// A constant that is written is state, as one that a delegate writes.
TEST(MethodValues, WrittenConstantsAreResetClonedAndSaved) {
  const Draft draft{{tensor({4}), nines({4})}, {0}, {1}, {DelegateCall{0, {1, 1}}}, {doubling({4})}};
  auto method = draft.method();
  ASSERT_TRUE(method.has_value()) << method.error().to_string();
  EXPECT_EQ(first(method, {x1234()})[0], 18);
  auto clone = method->clone();
  const auto kept = method->save_state(0);
  EXPECT_EQ(first(method, {x1234()})[0], 36);
  EXPECT_EQ(first(clone, {x1234()})[0], 36);
  ASSERT_TRUE(method->reset().has_value());
  EXPECT_EQ(first(method, {x1234()})[0], 18);
  ASSERT_TRUE(method->restore_state(0, *kept).has_value());
  EXPECT_EQ(first(method, {x1234()})[0], 36);
}

TEST(MethodValues, CopiesAreOfTheTypeAndShapeThatTheFileSays) {
  const auto copied = [](const TensorSpec& from) {
    return Draft{{from, nines({4})}, {0}, {1}, {KernelCall{0, {1, 0, 1}}}, {}};
  };
  auto method = copied(tensor({4})).method();
  ASSERT_TRUE(method.has_value()) << method.error().to_string();
  EXPECT_EQ(first(method, {x1234()}), (std::vector<f32>{1, 2, 3, 4}));
  EXPECT_MENTIONS(copied(tensor({1})).error({floats({1}, {5})}), "aten::copy_ of [1] into [4]");
  EXPECT_MENTIONS(copied(tensor({8})).error({Tensor(DType::f32, {8})}), "aten::copy_ of [8] into [4]");
  EXPECT_MENTIONS(copied(tensor({4}, DType::i32)).error({Tensor(DType::i32, {4})}), "value 1 becomes int32 [4]");
}

TEST(MethodValues, ResultsAreOfTheShapeThatTheFileSays) {
  const Draft draft{{tensor({4}), tensor({3})}, {0}, {1}, {DelegateCall{0, {0, 1}}}, {doubling({4})}};
  EXPECT_EQ(draft.error({x1234()}), "value 1 becomes float32 [4], but the file says float32 [3]");
}

// A number that a value was before is no longer there when it is overwritten.
TEST(MethodValues, ANumberDoesNotOutliveItsValue) {
  const TensorSpec one = tensor({}, DType::i64);
  const Draft draft{{i64(5), one, one, i64(0)},
                    {1},
                    {3},
                    {DelegateCall{0, {0, 2}}, MoveCall{1, 2}, DelegateCall{0, {2, 3}}},
                    {doubling_number()}};
  auto method = draft.method();
  ASSERT_TRUE(method.has_value()) << method.error().to_string();
  const auto outputs = method->execute({Tensor::scalar(i64(100))});
  ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
  EXPECT_EQ((*outputs)[0].as<i64>()[0], 200);
}

TEST(MethodValues, OnlyTensorsAndNumbersAreInputsAndOutputs) {
  for (const format::ProgramValue& other : {format::ProgramValue("x"), format::ProgramValue(format::IndexList{{1}})}) {
    EXPECT_MENTIONS((Draft{{other, tensor({4})}, {1}, {0}, {}, {}}.error({x1234()})),
                    "output 0 is neither a tensor nor a number");
    EXPECT_MENTIONS((Draft{{other, tensor({4})}, {0}, {0}, {}, {}}.error({x1234()})),
                    "input 0 is neither a tensor nor a number");
    EXPECT_MENTIONS((Draft{{other, tensor({4})}, {}, {1}, {DelegateCall{0, {0, 1}}}, {doubling({4})}}.error()),
                    "delegate 0 reads value 0, which nothing has produced");
  }
  EXPECT_MENTIONS((Draft{{std::monostate()}, {}, {0}, {}, {}}.error()), "output 0 of method forward is never produced");
}

// Values that share their bytes take them once, and only if something reads them.
TEST(MethodValues, SharedConstantsAreInMemoryOnce) {
  Draft draft{{nines({4})}, {}, {}, {}, {}};
  draft.values.resize(1000, nines({4}));
  for (u32 i = 0; i < 1000; ++i) draft.outputs.push_back(i);
  auto method = draft.method();
  ASSERT_TRUE(method.has_value()) << method.error().to_string();
  EXPECT_EQ(first(method, {})[3], 9);
}

}  // namespace
}  // namespace pteron::test
