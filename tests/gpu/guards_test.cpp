// SPDX-License-Identifier: BSD-3-Clause
// Guards behind results find kernels that write too far.
#include "gpu/native/native.h"
#include "gpu/one_op.h"
#include "runtime/device_inside.h"
#include "support/forwarding_device.h"

namespace pteron::test {
namespace {

// Makes the copying kernel write one quad more than it should.
class Careless : public ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  Result<std::unique_ptr<PipelineBatch>> compile(std::vector<gpu::PipelineSpec> specs) override {
    for (gpu::PipelineSpec& spec : specs)
      if (const size_t at = spec.source.find("i < p.quads"); at != std::string::npos)
        spec.source.replace(at, 11, "i <= p.quads");
    return ForwardingDevice::compile(std::move(specs));
  }
};

Device careless_device() {
  auto opened = gpu::open_device();
  if (!opened) throw std::runtime_error(opened.error().to_string());
  return make_device(std::make_shared<graph::Context>(std::make_shared<Careless>(*std::move(opened))));
}

std::string outcome(const Device& device, bool guards) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {12})), y = b.tensor(DType::f32, {12});
  b.op("aten.clone.default", {x, b.null(), y});
  b.output(y);
  LoadOptions options;
  options.device = device;
  options.guards = guards;
  options.disabled_passes = {"alias-copies"};
  auto program = Program::load(b.program(), options);
  if (!program) return program.error().to_string();
  auto method = program->method();
  if (!method) return method.error().to_string();
  auto outputs = method->execute({counting<f32>(DType::f32, {12})});
  if (!outputs) return outputs.error().to_string();
  return values<f32>((*outputs)[0])[11] == 11 ? "right" : "wrong";
}

TEST(Guards, LetCorrectKernelsPass) { EXPECT_EQ(outcome(device(), true), "right"); }

TEST(Guards, NameTheOpThatWritesBehindItsResult) {
  const std::string message = outcome(careless_device(), true);
  EXPECT_MENTIONS(message, "aten.clone.default");
  EXPECT_MENTIONS(message, "a kernel wrote 0 bytes behind its result");
}

}  // namespace
}  // namespace pteron::test
