// SPDX-License-Identifier: BSD-3-Clause
// Every call on the port fails once, at every point of a program's life. Demanded after each: an error of the right
// kind, no object left over, no output of another step, and that the same object works again or says that the device is
// lost.
#include "gpu/llama.h"
#include "gpu/native/native.h"
#include "runtime/device_inside.h"
#include "support/faulty_device.h"
#include "support/stamping_device.h"

#include <functional>

namespace pteron::test {
namespace {

using How = FaultyDevice::How;
using Output = std::vector<std::byte>;

// What a scenario's actions work on.
struct Subject {
  Program program;
  std::optional<Method> method = {}, copy = {};
  std::vector<std::byte> saved = {};
};
struct Action {
  const char* name;
  std::function<Result<Output>(Subject&)> run;  // an action without an output gives no bytes
};
struct Scenario {
  std::filesystem::path model;
  std::vector<Action> actions;  // the first one loads
  u32 submit_microseconds = LoadOptions().submit_microseconds;
};

Result<Output> bytes_of(Result<std::span<const Tensor>> outputs) {
  if (!outputs) return Failure(std::move(outputs.error()));
  const Bytes bytes = (*outputs)[0].bytes();
  return Output(bytes.begin(), bytes.end());
}
template <class T>
Status no_value(const Result<T>& result) {
  if (!result) return Failure(result.error());
  return {};
}
Result<Output> no_output(Status status) {
  if (!status) return Failure(std::move(status.error()));
  return Output();
}

Result<Output> load(Subject& s) {
  TRY(s.method, s.program.method());
  return Output();
}

Action step(std::vector<i64> tokens, i64 position) {
  return {"step", [tokens = std::move(tokens), position](Subject& s) {
            return bytes_of(Llama::step(*s.method, tokens, position));
          }};
}

Result<Output> step_together(Subject& s) {
  TRY(auto batch, s.program.batch());
  const i64 tokens[] = {8, 9}, position = 7;
  std::vector<std::vector<TensorView>> inputs;
  for (const i64& token : tokens)
    inputs.push_back({{DType::i64, Shape{1, 1}, std::as_bytes(std::span(&token, 1))},
                      {DType::i64, Shape{1}, std::as_bytes(std::span(&position, 1))}});
  Batch::Lane lanes[] = {{&*s.method, inputs[0]}, {&*s.copy, inputs[1]}};
  TRY_DO(batch.begin(lanes));
  TRY_DO(batch.finish());
  for (Batch::Lane& lane : lanes) TRY_DO(std::move(lane.status));
  return bytes_of(s.copy->outputs());
}

Scenario language_model() {
  Scenario out{data_folder() / "llama_tiny" / "rope_llama" / "model.pte", {{"load", load}}};
  out.actions.push_back(step({1, 2, 3}, 0));
  for (i64 position = 3; position < 7; ++position) out.actions.push_back(step({position + 1}, position));  // foreseen
  out.actions.push_back({"clone", [](Subject& s) -> Result<Output> {
                           TRY(s.copy, s.method->clone());
                           return Output();
                         }});
  out.actions.push_back(step({1, 2}, 7));
  out.actions.push_back({"batch", step_together});
  out.actions.push_back({"save", [](Subject& s) -> Result<Output> {
                           TRY(s.saved, s.method->save_state(4));
                           return Output();
                         }});
  out.actions.push_back({"reset", [](Subject& s) { return no_output(s.method->reset()); }});
  out.actions.push_back({"restore", [](Subject& s) { return no_output(s.method->restore_state(4, s.saved)); }});
  out.actions.push_back(step({5}, 4));
  out.actions.push_back({"rewind", [](Subject& s) { return no_output(s.method->rewind(2)); }});
  out.actions.push_back(step({6, 7}, 2));
  return out;
}

Scenario convolutions() {
  const Fixture fixture = read_fixture(data_folder() / "zoo" / "vision" / "resnet");
  Scenario out{fixture.model(), {{"load", load}}};
  const Action run{"run", [inputs = fixture.sets[0].inputs](Subject& s) {
                     return bytes_of(s.method->execute(std::vector<TensorView>(inputs.begin(), inputs.end())));
                   }};
  out.actions.insert(out.actions.end(), 4, run);
  return out;
}

struct Alive {
  u64 buffers = 0, buffer_bytes = 0, pipelines = 0, bind_groups = 0;
  Alive() = default;
  explicit Alive(gpu::Device& device)
      : buffers(device.counters().buffers),
        buffer_bytes(device.counters().buffer_bytes),
        pipelines(device.counters().pipelines),
        bind_groups(device.counters().bind_groups) {}
  bool operator==(const Alive&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Alive& a) {
  return out << a.buffers << " buffers of " << a.buffer_bytes << " bytes, " << a.pipelines << " pipelines, "
             << a.bind_groups << " bind groups";
}

ErrorKind kind_of(How how) {
  switch (how) {
    case How::refused: return ErrorKind::internal;
    case How::out_of_memory: return ErrorKind::out_of_memory;
    case How::lost: break;
  }
  return ErrorKind::device_lost;
}

// What an action has to give: `is_right` says so of its output.
using Judge = std::function<bool(size_t action, const Output&)>;

// Runs a scenario whose device fails at some point. Returns the call that failed; nothing: the scenario was over
// before.
const char* survive(const Scenario& scenario, FaultyDevice& faulty, const Device& device, How how,
                    const Judge& is_right) {
  const Alive before(faulty);
  LoadOptions options;
  options.device = device;
  options.submit_microseconds = scenario.submit_microseconds;
  Subject subject{*Program::load(scenario.model, options)};
  for (size_t i = 0; i < scenario.actions.size(); ++i) {
    const Action& action = scenario.actions[i];
    const bool had_failed = faulty.failed() != nullptr;
    auto output = action.run(subject);
    if (!output) {
      if (had_failed || !faulty.failed())
        ADD_FAILURE() << action.name << " failed by itself: " << output.error().to_string();
      EXPECT_EQ(output.error().kind, kind_of(how)) << output.error().to_string();
      EXPECT_FALSE(output.error().message.empty());
      if (i == 0) {
        EXPECT_EQ(Alive(faulty), before);
      }
      output = action.run(subject);
      if (how == How::lost) {
        if (output)
          ADD_FAILURE() << action.name << " works on a lost device";
        else
          EXPECT_EQ(output.error().kind, ErrorKind::device_lost) << output.error().to_string();
        break;
      }
      if (!output)
        return ADD_FAILURE() << "again: " << action.name << ": " << output.error().to_string(), faulty.failed();
    } else if (!had_failed && faulty.failed() && std::string_view(faulty.failed()) != "record") {
      // Only what is done ahead, for a step that may never come, can go wrong unnoticed.
      ADD_FAILURE() << action.name << " has not noticed";
    }
    EXPECT_TRUE(is_right(i, *output)) << "output of " << action.name << " (" << i << ")";
  }
  return faulty.failed();
}

void survive_every_call(const Scenario& scenario, How how) {
  for (u64 call = 1;; ++call) {
    auto inner = std::make_shared<StampingDevice>();
    auto faulty = std::make_shared<FaultyDevice>(inner);
    faulty->fail_at(call, how);
    const char* failed = nullptr;
    {
      const Device device = make_device(std::make_shared<graph::Context>(faulty));
      const auto is_of_the_last_submission = [&](size_t, const Output& output) {
        const u32 expected = inner->submissions();
        for (size_t at = 0; at + 4 <= output.size(); at += 4)
          if (std::memcmp(output.data() + at, &expected, 4) != 0) return false;
        return true;
      };
      failed = survive(scenario, *faulty, device, how, is_of_the_last_submission);
    }
    EXPECT_EQ(Alive(*faulty), Alive()) << "in front";
    EXPECT_EQ(Alive(*inner), Alive(*faulty)) << "behind";
    if (testing::Test::HasFailure()) FAIL() << "call " << call << ": " << (failed ? failed : "none");
    if (!failed) {
      testing::Test::RecordProperty("calls", std::to_string(call - 1));
      return;
    }
  }
}

TEST(Faults, ALanguageModelSurvivesTheRefusalOfEveryCall) { survive_every_call(language_model(), How::refused); }
TEST(Faults, ALanguageModelSurvivesMissingMemoryAtEveryCall) {
  survive_every_call(language_model(), How::out_of_memory);
}
TEST(Faults, ALanguageModelSaysThatTheDeviceIsLostAtEveryCall) { survive_every_call(language_model(), How::lost); }
TEST(Faults, StepsInPartsSurviveTheRefusalOfEveryCall) {
  Scenario divided = language_model();
  divided.submit_microseconds = 5;
  survive_every_call(divided, How::refused);
}
TEST(Faults, ConvolutionsSurviveTheRefusalOfEveryCall) { survive_every_call(convolutions(), How::refused); }
TEST(Faults, ConvolutionsSurviveMissingMemoryAtEveryCall) { survive_every_call(convolutions(), How::out_of_memory); }
TEST(Faults, ConvolutionsSayThatTheDeviceIsLostAtEveryCall) { survive_every_call(convolutions(), How::lost); }

// On a real device, with a program that keeps the kernels compiled: every seventh call.
void survive_on_this_adapter(const Scenario& scenario, How how) {
  auto opened = gpu::open_device();
  ASSERT_TRUE(opened.has_value()) << opened.error().to_string();
  auto faulty = std::make_shared<FaultyDevice>(*opened);
  faulty->when_lost([inner = *opened] { gpu::destroy_underlying_device(*inner); });
  const Device device = make_device(std::make_shared<graph::Context>(faulty));
  LoadOptions options;
  options.device = device;
  Subject keeper{*Program::load(scenario.model, options)};
  std::vector<Output> expected;
  for (const Action& action : scenario.actions) {
    auto output = action.run(keeper);
    ASSERT_TRUE(output.has_value()) << action.name << ": " << output.error().to_string();
    expected.push_back(*std::move(output));
  }
  const Alive before(*faulty);
  for (u64 call = 1;; call += 7) {
    faulty->fail_at(how == How::lost ? 40 : call, how);
    const auto is_as_expected = [&](size_t action, const Output& output) { return output == expected[action]; };
    const char* failed = survive(scenario, *faulty, device, how, is_as_expected);
    EXPECT_EQ(Alive(*faulty), before);
    if (testing::Test::HasFailure()) FAIL() << "call " << call << ": " << (failed ? failed : "none");
    if (!failed || how == How::lost) return;
  }
}

TEST(Faults, ALanguageModelGivesTheSameLogitsAfterEachRefusal) {
  survive_on_this_adapter(language_model(), How::refused);
}
TEST(Faults, ConvolutionsGiveTheSameResultAfterEachRefusal) { survive_on_this_adapter(convolutions(), How::refused); }
TEST(Faults, ALanguageModelLosesItsDevice) { survive_on_this_adapter(language_model(), How::lost); }
TEST(Faults, ConvolutionsLoseTheirDevice) { survive_on_this_adapter(convolutions(), How::lost); }

TEST(Faults, AnAnswerThatComesLateIsTheAnswerOfItsStep) {
  auto late = std::make_shared<StampingDevice>();
  late->answer_late(3);
  LoadOptions options;
  options.device = make_device(std::make_shared<graph::Context>(late));
  Llama llama("rope_llama", options);
  for (i64 position = 0; position < 5; ++position) {
    const TensorView inputs[] = {{DType::i64, Shape{1, 1}, std::as_bytes(std::span(&position, 1))},
                                 {DType::i64, Shape{1}, std::as_bytes(std::span(&position, 1))}};
    ASSERT_TRUE(llama.method->begin(inputs).has_value());
    const u32 submission = late->submissions();
    for (int poll = 0; poll < 3; ++poll) {
      const auto done = llama.method->finish(false);
      ASSERT_TRUE(done.has_value());
      EXPECT_FALSE(*done);
      EXPECT_EQ(llama.method->reset().error().kind, ErrorKind::invalid);
    }
    ASSERT_TRUE(*llama.method->finish(false));
    u32 stamp;
    std::memcpy(&stamp, llama.method->outputs()[0].bytes().data(), 4);
    EXPECT_EQ(stamp, submission);
  }
}

void expect_lost(const Status& status) {
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().kind, ErrorKind::device_lost) << status.error().to_string();
  EXPECT_NE(status.error().message.find("has not answered for 1 s"), std::string::npos) << status.error().to_string();
}

// Whether it is asked again and again, as in a browser, or waited for.
void expect_an_end(bool wait) {
  auto silent = std::make_shared<StampingDevice>();
  LoadOptions options;
  options.device = make_device(std::make_shared<graph::Context>(silent));
  options.answer_seconds = 1;
  Llama llama("rope_llama", options);
  ASSERT_TRUE(Llama::step(*llama.method, {1, 2}, 0).has_value());
  silent->answer_never();
  const i64 number = 2;
  const TensorView inputs[] = {{DType::i64, Shape{1, 1}, std::as_bytes(std::span(&number, 1))},
                               {DType::i64, Shape{1}, std::as_bytes(std::span(&number, 1))}};
  ASSERT_TRUE(llama.method->begin(inputs).has_value());
  Result<bool> done = false;
  while (done && !*done) done = llama.method->finish(wait);
  expect_lost(no_value(done));
  expect_lost(no_value(Llama::step(*llama.method, {3}, 3)));
  expect_lost(llama.method->reset());
}

TEST(Faults, AGpuThatNeverAnswersIsLost) { expect_an_end(true); }
TEST(Faults, AGpuThatNeverAnswersWhoeverAsksIsLost) { expect_an_end(false); }

}  // namespace
}  // namespace pteron::test
