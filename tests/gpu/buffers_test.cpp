// SPDX-License-Identifier: BSD-3-Clause
// Memory of buffers that are not needed any more.
#include "base/os.h"
#include "gpu/environment.h"
#include "gpu/native/native.h"
#include "runtime/device_inside.h"

namespace pteron::test {
namespace {

// A conversation's caches may end before the commands that were recorded for its next step do.
TEST(Buffers, GiveTheirMemoryBackAlsoIfRecordedCommandsNameThem) {
  constexpr u64 size = 64 << 20, rounds = 10;
  gpu::Device& port = context_of(device())->device();
  const auto kept = port.create_buffer(64, gpu::BufferUse::gpu, "kept");
  ASSERT_TRUE(kept.has_value());
  std::vector<gpu::Commands> recorded;
  const u64 before = os::resident_bytes();
  for (u64 round = 0; round < rounds; ++round) {
    auto buffer = port.create_buffer(size, gpu::BufferUse::gpu, "large");
    ASSERT_TRUE(buffer.has_value()) << buffer.error().to_string();
    const gpu::Fill fill{buffer->id(), 0, size};
    ASSERT_TRUE(port.submit({.fills = {&fill, 1}}).has_value());
    ASSERT_TRUE(port.wait_idle().has_value());
    const gpu::Copy copy{buffer->id(), 0, kept->id(), 0, 64};
    auto commands = port.record({.copies_before = {&copy, 1}});
    ASSERT_TRUE(commands.has_value()) << commands.error().to_string();
    recorded.push_back(std::move(*commands));
    buffer->reset();
    ASSERT_TRUE(port.wait_idle().has_value());
  }
  EXPECT_LT(os::resident_bytes(), before + 4 * size);  // the device keeps a block for what comes next
}

// What was recorded for a step that never comes.
TEST(Recordings, AreLetGoAlsoIfNobodySubmitsThem) {
  const auto port = *gpu::open_device({});
  const auto source = *port->create_buffer(64, gpu::BufferUse::gpu, "source");
  const auto target = *port->create_buffer(64, gpu::BufferUse::gpu, "target");
  const gpu::Copy copy{source.id(), 0, target.id(), 0, 64};
  for (u32 i = 0; i < 3; ++i) {
    auto commands = port->record({.copies_before = {&copy, 1}});
    ASSERT_TRUE(commands.has_value()) << commands.error().to_string();
    EXPECT_EQ(gpu::objects_of(*port).recordings, 1u);
    if (i == 1) EXPECT_TRUE(port->submit(*std::move(commands)).has_value());
  }
  EXPECT_EQ(gpu::objects_of(*port).recordings, 0u);
}

}  // namespace
}  // namespace pteron::test
