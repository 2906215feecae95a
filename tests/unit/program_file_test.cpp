// SPDX-License-Identifier: BSD-3-Clause
#include "format/program_file.h"

#include "format/program_writer.h"
#include "program_generated.h"
#include "support/builder.h"
#include "support/corrupt.h"
#include "support/fixture.h"

#include <gtest/gtest.h>

namespace pteron::format {
namespace {

using test::File;

Result<ProgramSpec> parse(const File& file) {
  TRY(const ProgramHeader header,
      read_program_header(Bytes(file).first(std::min<size_t>(64, file.size())), file.size()));
  return read_program(Bytes(file).first(header.program_size), header, file.size());
}

File llama() { return test::read_bytes(test::data_folder() / "llama_tiny" / "rope_llama" / "model.pte"); }

void expect_error(const File& file, const std::string& part) {
  const auto spec = parse(file);
  ASSERT_FALSE(spec.has_value());
  EXPECT_NE(spec.error().message.find(part), std::string::npos) << spec.error().to_string();
}

template <class T>
void put(File& file, size_t at, T value) {
  std::memcpy(file.data() + at, &value, sizeof value);
}

TEST(ProgramFile, ReadsMethodsDelegatesAndNamedDataOfARealProgram) {
  const auto spec = parse(llama());
  ASSERT_TRUE(spec.has_value()) << spec.error().to_string();
  EXPECT_EQ(spec->named_data.size(), 40u);
  ASSERT_EQ(spec->methods[0].name, "forward");
  const MethodSpec& forward = spec->methods[0];
  EXPECT_EQ(forward.inputs.size(), 2u);
  EXPECT_TRUE(std::get<TensorSpec>(forward.values[forward.inputs[0]]).dynamic);
  EXPECT_FALSE(std::get<TensorSpec>(forward.values[forward.inputs[1]]).dynamic);
  ASSERT_EQ(forward.delegates.size(), 1u);
  EXPECT_EQ(forward.delegates[0].id, "VulkanBackend");
  EXPECT_EQ(forward.delegates[0].compile_specs.size(), 2u);
  ASSERT_EQ(forward.instructions.size(), 1u);
  EXPECT_EQ(std::get<DelegateCall>(forward.instructions[0]).args, (std::vector<u32>{2, 3, 4}));
}

TEST(ProgramFile, ReadsAProgramWithoutExtendedHeader) {
  // The same flatbuffer with the inserted header taken out again; it then has no segments.
  const File file = test::GraphBuilder().program();
  File plain(file.begin(), file.begin() + 8);
  u64 size = 0;
  std::memcpy(&size, file.data() + 16, 8);
  plain.insert(plain.end(), file.begin() + 40, file.begin() + std::ptrdiff_t(size));
  u32 root = 0;
  std::memcpy(&root, plain.data(), 4);
  put(plain, 0, u32(root - 32));
  const auto header = read_program_header(plain, plain.size());
  ASSERT_TRUE(header.has_value());
  EXPECT_EQ(header->program_size, plain.size());
  EXPECT_EQ(header->segment_base, 0u);
  // Its delegate lies in a segment, which is now refused rather than read from anywhere.
  expect_error(plain, "no segment data");
}

TEST(ProgramFile, RefusesDelegatesThatShareTheirBytesWithoutEnd) {
  flatbuffers::FlatBufferBuilder b;
  const auto blob = fb::CreateInlineData(b, b.CreateVector(std::vector<u8>(100)));
  const auto delegate = fb::CreateDelegate(b, b.CreateString("VulkanBackend"), fb::CreateDelegateData(b, 0, 0));
  const auto delegates = b.CreateVector(std::vector(20'000, delegate));
  const auto name = b.CreateString("forward");
  fb::ExecutionPlanBuilder plan(b);
  plan.add_name(name);
  plan.add_delegates(delegates);
  const auto plans = b.CreateVector(std::vector{plan.Finish()});
  const auto data = b.CreateVector(std::vector{blob});
  fb::ProgramBuilder program(b);
  program.add_execution_plan(plans);
  program.add_delegate_data(data);
  fb::FinishProgramBuffer(b, program.Finish());
  const auto bytes = std::as_bytes(std::span(b.GetBufferPointer(), b.GetSize()));
  expect_error(File(bytes.begin(), bytes.end()), "the delegates have");
}

TEST(ProgramFile, RefusesWhatIsNoProgram) {
  expect_error({}, "at least 8");
  expect_error(File(7), "at least 8");
  expect_error(File(64), "not 'ET12'");
  File wrong_version = llama();
  wrong_version[7] = std::byte('3');
  expect_error(wrong_version, "not 'ET12'");
}

TEST(ProgramFile, RefusesHeadersThatLieAboutSizes) {
  File file = llama();
  put(file, 12, u32(23));
  expect_error(file, "at least 24");
  file = llama();
  put(file, 16, u64(file.size() + 1));
  expect_error(file, "the program");
  file = llama();
  put(file, 16, u64(4));
  expect_error(file, "4 bytes long");
  file = llama();
  put(file, 24, UINT64_MAX);
  expect_error(file, "segment data");
  file = llama();
  put(file, 32, UINT64_MAX);
  expect_error(file, "segment data");
  file = llama();
  put(file, 24, u64(16));
  expect_error(file, "inside of the program");
  file = llama();
  put(file, 24, u64(0));
  expect_error(file, "not where they start");
}

// Every field of a table may be absent.
TEST(ProgramFile, FieldsThatAreAbsentAreEmptyOrAnError) {
  const auto read = [](const auto& fill) {
    flatbuffers::FlatBufferBuilder f;
    const auto plan = fill(f);
    const auto plans = f.CreateVector(std::vector{plan});
    fb::ProgramBuilder program(f);
    program.add_execution_plan(plans);
    f.Finish(program.Finish(), fb::ProgramIdentifier());
    const Bytes bytes = std::as_bytes(std::span(f.GetBufferPointer(), f.GetSize()));
    return read_program(bytes, {.program_size = bytes.size()}, bytes.size());
  };
  const auto empty = read([](auto& f) { return fb::ExecutionPlanBuilder(f).Finish(); });
  ASSERT_TRUE(empty.has_value()) << empty.error().to_string();
  EXPECT_TRUE(empty->methods.at(0).values.empty() && empty->methods[0].instructions.empty());
  const auto with_delegate = read([](auto& f) {
    const auto delegates = f.CreateVector(std::vector{fb::DelegateBuilder(f).Finish()});
    fb::ExecutionPlanBuilder plan(f);
    plan.add_delegates(delegates);
    return plan.Finish();
  });
  EXPECT_FALSE(with_delegate.has_value());
  const auto with_instruction = read([](auto& f) {
    const auto instructions = f.CreateVector(std::vector{fb::InstructionBuilder(f).Finish()});
    fb::ChainBuilder chain(f);
    chain.add_instructions(instructions);
    const auto chains = f.CreateVector(std::vector{chain.Finish()});
    fb::ExecutionPlanBuilder plan(f);
    plan.add_chains(chains);
    return plan.Finish();
  });
  EXPECT_FALSE(with_instruction.has_value());
  for (const auto type : fb::EnumValuesAnyValue()) {
    const auto hollow = read([&](auto& f) {
      fb::ValueBuilder value(f);
      value.add_val_type(type);
      const auto values = f.CreateVector(std::vector{value.Finish()});
      fb::ExecutionPlanBuilder plan(f);
      plan.add_values(values);
      return plan.Finish();
    });
    EXPECT_TRUE(!hollow || type == fb::AnyValue_NONE) << int(type);
  }
}

TEST(ProgramFile, RefusesATruncatedFile) {
  const File file = llama();
  for (size_t length : {size_t(8), size_t(40), size_t(100), size_t(5000), file.size() / 2, file.size() - 1})
    EXPECT_FALSE(parse(File(file.begin(), file.begin() + std::ptrdiff_t(length))).has_value()) << length;
}

TEST(ProgramFile, NeverReadsBeyondACorruptedFile) {
  // Only the flatbuffer part is interesting.
  File file = llama();
  u64 size = 0;
  std::memcpy(&size, file.data() + 16, 8);
  u32 refused = 0;
  test::for_each_corruption(File(file.begin(), file.begin() + std::ptrdiff_t(size)), 3000, 1, [&](const File& broken) {
    File whole = broken;
    if (broken.size() == size) whole.insert(whole.end(), file.begin() + std::ptrdiff_t(size), file.end());
    refused += !parse(whole).has_value();
  });
  EXPECT_GT(refused, 300u);
}

TEST(ProgramFile, WritesWhatItReads) {
  ProgramDraft draft;
  draft.methods.push_back(constant_method("get_bos_id", {ProgramValue(i64(7))}));
  draft.methods.push_back(constant_method("get_eos_ids", {ProgramValue(i64(1)), ProgramValue(i64(2))}));
  draft.named_data.push_back(named_blob("a", File(5, std::byte(3))));
  draft.named_data.push_back(named_blob("b", File(300, std::byte(4))));
  File file;
  ASSERT_TRUE(write_program(draft, [&](Bytes bytes) -> Status {
                file.insert(file.end(), bytes.begin(), bytes.end());
                return {};
              }).has_value());
  const auto spec = parse(file);
  ASSERT_TRUE(spec.has_value()) << spec.error().to_string();
  EXPECT_EQ(spec->methods.size(), 2u);
  EXPECT_EQ(std::get<i64>(spec->methods[1].values[spec->methods[1].outputs[1]]), 2);
  const DataRange b = spec->named_data.at("b");
  EXPECT_EQ(b.size, 300u);
  EXPECT_EQ(b.offset % 128, 0u);
  EXPECT_EQ(file[b.offset], std::byte(4));
  EXPECT_EQ(file[b.end() - 1], std::byte(4));
}

}  // namespace
}  // namespace pteron::format
