// SPDX-License-Identifier: BSD-3-Clause
// Several threads on one device; also on one without a GPU, where the thread sanitizer sees all locks. docs/threads.md
// says which rule has which test.
#include "gpu/llama.h"
#include "gpu/native/native.h"
#include "runtime/device_inside.h"
#include "support/builder.h"
#include "support/on_threads.h"
#include "support/stamping_device.h"

#include <barrier>

namespace pteron::test {
namespace {

constexpr u32 width = 1000;

Program load(const GraphBuilder& graph, const Device& on) {
  LoadOptions options;
  options.device = on;
  return *Program::load(graph.program(), options);
}

// y = x + x
Program doubling(const Device& on) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {width})), y = b.tensor(DType::f32, {width});
  b.op("aten.add.Tensor", {x, x, b.integer(1), y});
  b.output(y);
  return load(b, on);
}

// y = x + x + …: other kernels for each number of terms.
Program sum_of(u32 terms, const Device& on) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {width}));
  u32 y = x;
  for (u32 i = 1; i < terms; ++i) {
    const u32 more = b.tensor(DType::f32, {width});
    b.op("aten.add.Tensor", {y, x, b.integer(1), more});
    y = more;
  }
  b.output(y);
  return load(b, on);
}

Tensor filled(f32 value) { return tensor_of<f32>(DType::f32, {width}, std::vector<f32>(width, value)); }

class Threads : public testing::TestWithParam<const char*> {
 protected:
  bool has_gpu() const { return GetParam() == std::string_view("Adapter"); }
  Device on = has_gpu() ? device() : make_device(std::make_shared<graph::Context>(std::make_shared<StampingDevice>()));

  // Without a GPU an output is the number of a submission.
  std::string check(const Result<std::span<const Tensor>>& outputs, f32 wanted) const {
    if (!outputs) return outputs.error().to_string();
    const std::span<const f32> values = (*outputs)[0].as<f32>();
    for (const f32 value : values)
      if (has_gpu() ? value != wanted : value == 0) return str(value, " instead of ", wanted);
    return "";
  }
  // A step that doubles.
  std::string run(Method& method, f32 value) const { return check(method.execute({filled(value)}), 2 * value); }
};

INSTANTIATE_TEST_SUITE_P(On, Threads, testing::Values("Adapter", "NoGpu"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(Threads, MethodsOfOneDeviceRunAtTheSameTime) {
  Program program = doubling(on);
  on_threads(4, [&](u32 t) {
    auto method = program.method();
    std::string problem;
    for (u32 step = 0; step < 60 && problem.empty(); ++step) problem = run(*method, f32(t * 1000 + step));
    return problem;
  });
}

TEST_P(Threads, SeveralThreadsMayLoadOneMethod) {
  for (u32 round = 0; round < 5; ++round) {
    Program program = doubling(on);
    on_threads(4, [&](u32 t) {
      auto method = program.method();
      return method ? run(*method, f32(t + 1)) : method.error().to_string();
    });
    EXPECT_EQ(on.usage().pipelines, 1u);
  }
}

TEST_P(Threads, ProgramsAreLoadedWhileOthersRun) {
  Program program = doubling(on);
  on_threads(4, [&](u32 t) {
    auto method = program.method();
    std::string problem;
    for (u32 round = 0; round < 6 && problem.empty(); ++round) {
      if (t < 2)
        for (u32 step = 0; step < 10 && problem.empty(); ++step) problem = run(*method, f32(step + 1));
      else
        problem = check(sum_of(t + round, on).method()->execute({filled(3)}), f32(3 * (t + round)));
    }
    return problem;
  });
}

TEST_P(Threads, AMethodMayGoWhileItsStepIsUnderWay) {
  Program program = doubling(on);
  on_threads(3, [&](u32 t) {
    std::string problem;
    auto steady = program.method();
    for (u32 step = 0; step < 30 && problem.empty(); ++step) {
      if (t == 0) {
        problem = run(*steady, 1);
        continue;
      }
      auto method = program.method();
      const Tensor x = filled(3);
      const TensorView inputs[] = {x};
      if (const Status begun = method->begin(inputs); !begun) problem = begun.error().to_string();
    }
    return problem;
  });
  auto method = program.method();
  EXPECT_EQ(run(*method, 5), "");
}

// They may have shared a working memory before.
TEST_P(Threads, AClonedMethodRunsBesideTheOneThatItCameFrom) {
  Program program = doubling(on);
  std::vector<Method> methods;
  methods.push_back(*program.method());
  EXPECT_EQ(run(methods[0], 1), "");
  methods.push_back(*methods[0].clone());
  on_threads(2, [&](u32 t) {
    std::string problem;
    for (u32 step = 0; step < 60 && problem.empty(); ++step) problem = run(methods[t], f32(1000 * t + step + 1));
    return problem;
  });
}

// Each thread begins a step and finishes the one that its neighbour has begun.
TEST_P(Threads, AMethodMayMoveToAnotherThreadBetweenCalls) {
  constexpr u32 count = 3;
  Program program = doubling(on);
  std::vector<Method> methods;
  std::vector<Tensor> inputs;
  for (u32 t = 0; t < count; ++t) {
    methods.push_back(*program.method());
    inputs.push_back(filled(f32(t + 1)));
  }
  std::barrier turn(count);
  on_threads(count, [&](u32 t) {
    std::string problem;
    for (u32 step = 0; step < 10; ++step) {
      const u32 mine = (t + step) % count, next = (mine + 1) % count;
      const TensorView given[] = {inputs[mine]};
      if (const Status begun = methods[mine].begin(given); !begun) problem = begun.error().to_string();
      turn.arrive_and_wait();
      const auto finished = methods[next].finish();
      if (!finished)
        problem = finished.error().to_string();
      else if (problem.empty())
        problem = check(methods[next].outputs(), f32(2 * (next + 1)));
      turn.arrive_and_wait();
    }
    return problem;
  });
}

TEST_P(Threads, ProgramsAndDevicesMayGoBeforeTheirMethods) {
  on_threads(3, [&](u32 t) {
    std::optional<Device> mine = on;
    std::optional<Program> program = doubling(*mine);
    mine.reset();
    auto method = program->method();
    program.reset();
    return run(*method, f32(t + 1));
  });
}

// Nobody waits for kernels that were not begun.
TEST_P(Threads, ALoadIsCancelledByAnotherThreadWhileOthersRun) {
  Program program = doubling(on);
  std::latch loading(1), stop(1);
  on_threads(3, [&](u32 t) -> std::string {
    if (t == 0) {
      loading.wait();
      stop.count_down();
      return "";
    }
    if (t == 1) {
      auto method = program.method();
      std::string problem;
      while (!stop.try_wait() && problem.empty()) problem = run(*method, 2);
      return problem;
    }
    GraphBuilder b;
    const u32 x = b.input(b.tensor(DType::f32, {width})), y = b.tensor(DType::f32, {width});
    b.op("aten.add.Tensor", {x, b.constant<f32>(DType::f32, {width}, std::vector<f32>(width, 1)), b.integer(1), y});
    b.output(y);
    LoadOptions options{.device = on};
    options.progress = [&](const Progress&) {
      loading.count_down();
      stop.wait();
      return false;
    };
    auto cancelled = Program::load(b.program(), options)->method();
    return cancelled ? "it was loaded" : cancelled.error().kind == ErrorKind::cancelled ? "" : "another error";
  });
}

TEST_P(Threads, BatchesRunBesideEachOtherAndTheirMethodsBetweenSteps) {
  constexpr i64 turns = 4;
  LoadOptions options;
  options.device = on;
  Llama llama("rope_llama", options);
  std::array<std::vector<f32>, 2> answers;
  on_threads(2, [&](u32 t) -> std::string {
    auto batch = llama.program->batch();
    std::vector<Method> methods;
    methods.reserve(3);
    for (u32 i = 0; i < 3; ++i) methods.push_back(*llama.program->method());
    for (i64 turn = 0; turn < turns; ++turn) {
      const i64 token = 7 + turn, position = 2 * turn;
      const TensorView inputs[] = {{DType::i64, Shape{1, 1}, std::as_bytes(std::span(&token, 1))},
                                   {DType::i64, Shape{1}, std::as_bytes(std::span(&position, 1))}};
      std::vector<Batch::Lane> lanes;
      lanes.reserve(methods.size());
      for (Method& method : methods) lanes.push_back({.method = &method, .inputs = inputs});
      if (const Status begun = batch->begin(lanes); !begun) return begun.error().to_string();
      if (const auto finished = batch->finish(); !finished) return finished.error().to_string();
      std::string problem;
      std::jthread elsewhere([&] {
        for (Method& method : methods)
          if (const auto outputs = Llama::step(method, {11 + turn}, position + 1); !outputs)
            problem = outputs.error().to_string();
      });
      elsewhere.join();
      if (!problem.empty()) return problem;
    }
    const std::span<const f32> logits = methods[2].outputs()[0].as<f32>();
    answers[t].assign(logits.begin(), logits.end());
    return "";
  });
  if (has_gpu()) EXPECT_EQ(answers[0], answers[1]);
}

TEST(ThreadsOfADevice, ALoadThatIsCancelledCompilesNoFurther) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {width}));
  for (const char* name : {"aten.relu.default", "aten.sigmoid.default", "aten.tanh.default", "aten.exp.default",
                           "aten.sin.default", "aten.cos.default", "aten.abs.default", "aten.neg.default"}) {
    const u32 y = b.tensor(DType::f32, {width});
    b.op(name, {x, y});
    b.output(y);
  }
  const Device fresh = *Device::open({});
  LoadOptions options{.device = fresh};
  options.progress = [](const Progress&) { return false; };
  auto program = *Program::load(b.program(), options);
  const auto method = program.method();
  ASSERT_FALSE(method.has_value());
  EXPECT_EQ(method.error().kind, ErrorKind::cancelled);
  EXPECT_EQ(fresh.usage().pipelines, 0u);
  EXPECT_LT(fresh.usage().creates, 8u);
}

size_t threads_of_this_process() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return size_t(std::distance(begin(tasks), end(tasks)));
}

TEST(ThreadsOfADevice, ALoadLeavesNoneBehind) {
  Program first = sum_of(3, device());  // the driver starts its own
  auto method = first.method();
  const size_t before = threads_of_this_process();
  Program program = sum_of(20, device());
  ASSERT_TRUE(program.method().has_value());
  EXPECT_EQ(threads_of_this_process(), before);
}

TEST(ThreadsOfADevice, AllGetTheOneThatIsShared) {
  std::vector<std::optional<Device>> shared(4);
  on_threads(4, [&](u32 t) {
    auto opened = Device::shared({});
    if (!opened) return opened.error().to_string();
    shared[t] = *opened;
    return std::string();
  });
  for (const auto& device : shared) EXPECT_EQ(context_of(*device), context_of(*shared[0]));
}

// Nothing waits for ever, and nothing ends the process.
TEST(ThreadsOfADevice, ItsLossIsAnErrorOnEachOfThem) {
  constexpr u32 count = 3;
  const Device fresh = *Device::open({});
  Program program = doubling(fresh);
  std::latch all_run(count);
  on_threads(count + 1, [&](u32 t) -> std::string {
    if (t == count) {
      all_run.wait();
      gpu::destroy_underlying_device(context_of(fresh)->device());
      return "";
    }
    auto method = program.method();
    for (u32 step = 0;; ++step) {
      if (step == 5) all_run.count_down();
      const auto outputs = method->execute({filled(1)});
      if (!outputs) return outputs.error().kind == ErrorKind::device_lost ? "" : outputs.error().to_string();
    }
  });
  const auto late = program.method();
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().kind, ErrorKind::device_lost);
}

}  // namespace
}  // namespace pteron::test
