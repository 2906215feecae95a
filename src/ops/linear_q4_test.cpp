// SPDX-License-Identifier: BSD-3-Clause
// 4-bit linears as GPUs run them, one row and several: depths that workgroups share out evenly and not, in one round
// and in many. Against loops in double precision.
#include "gpu/run_graph.h"

#include <cmath>

namespace pteron::test {
namespace {

struct Case {
  u32 depth, columns, group = 32;
  bool norm = false, gate = false;
};

struct Weights {
  std::vector<u8> codes;
  std::vector<f32> scales;
  Weights(const Case& c, u32 seed) : scales(noise(u64(c.depth) / c.group * c.columns, seed)) {
    for (f32 v : noise(u64(c.columns) * c.depth / 2, seed + 1)) codes.push_back(u8(i32(v * 127) + 128));
    for (f32& v : scales) v /= std::sqrt(f32(c.depth)) * 4;
  }
  f64 at(const Case& c, u32 column, u32 k) const {
    const u32 byte = codes[column * c.depth / 2 + k / 2], code = k % 2 == 0 ? byte & 15 : byte >> 4;
    return (f64(code) - 8) * scales[k / c.group * c.columns + column];
  }
};

struct Layer {
  Case c;
  u32 rows;
  std::vector<f32> x, norm;
  Weights first, second;
  Layer(const Case& of, u32 n)
      : c(of), rows(n), x(noise(u64(n) * of.depth, 1)), norm(noise(of.depth, 2)), first(of, 3), second(of, 5) {}

  GraphBuilder graph() const {
    GraphBuilder b;
    const Shape in{rows, c.depth}, out{rows, c.columns};
    const auto linear = [&](u32 of, const Weights& w) {
      const u32 y = b.tensor(DType::f32, out);
      b.op("et_vk.linear_q4gsw.default",
           {of, b.constant<u8>(DType::u8, {c.columns, c.depth / 2}, w.codes),
            b.constant<f32>(DType::f32, {c.depth / c.group, c.columns}, w.scales), b.integer(c.group), b.null(), y});
      return y;
    };
    u32 x0 = b.input(b.tensor(DType::f32, in));
    if (c.norm) {
      const u32 y = b.tensor(DType::f32, in);
      b.op("et_vk.rms_norm.default", {x0, b.constant<f32>(DType::f32, {c.depth}, norm), b.number(1e-5), y});
      x0 = y;
    }
    u32 y = linear(x0, first);
    if (c.gate) {
      const u32 up = linear(x0, second), sigmoid = b.tensor(DType::f32, out), silu = b.tensor(DType::f32, out),
                product = b.tensor(DType::f32, out);
      b.op("aten.sigmoid.default", {y, sigmoid});
      b.op("aten.mul.Tensor", {y, sigmoid, silu});
      b.op("aten.mul.Tensor", {silu, up, product});
      y = product;
    }
    b.output(y);
    return b;
  }

  std::vector<f64> expected() const {
    std::vector<f64> out;
    for (u32 r = 0; r < rows; ++r) {
      const auto begin = x.begin() + std::ptrdiff_t(r) * c.depth;
      std::vector<f64> row(begin, begin + c.depth);
      f64 squares = 0;
      for (f64 v : row) squares += v * v;
      for (u32 k = 0; c.norm && k < c.depth; ++k) row[k] *= norm[k] / std::sqrt(squares / c.depth + 1e-5);
      const auto sum = [&](const Weights& w, u32 column) {
        f64 total = 0;
        for (u32 k = 0; k < c.depth; ++k) total += row[k] * w.at(c, column, k);
        return total;
      };
      for (u32 n = 0; n < c.columns; ++n) {
        const f64 y = sum(first, n);
        out.push_back(c.gate ? y / (1 + std::exp(-y)) * sum(second, n) : y);
      }
    }
    return out;
  }
};

// One row, tiles of four and of eight, with rows that are left over.
void expect_rows(const Case& c) {
  for (const u32 rows : {1u, 3u, 11u}) {
    SCOPED_TRACE(str("depth ", c.depth, ", rows ", rows));
    const Layer layer(c, rows);
    GraphRun run(layer.graph(), device_of_type(gpu::AdapterType::discrete));
    expect_close(run.first({floats({rows, c.depth}, layer.x)}), layer.expected(), 1e-4);
  }
}

TEST(LinearQ4, SharesOutAnyDepthOnGpus) {
  expect_rows({.depth = 576, .columns = 64});
  expect_rows({.depth = 1536, .columns = 40});
  for (u32 words : {5u, 52u, 97u}) expect_rows({.depth = 8 * words, .columns = 36, .group = 8});
}
TEST(LinearQ4, NormalisesAnyDepthOnGpus) {
  for (u32 words : {25u, 97u}) expect_rows({.depth = 8 * words, .columns = 64, .group = 8, .norm = true});
}
// Two sums for each thread and many threads: what a workgroup keeps must not be more than WebGPU promises, which the
// test `tint` checks of all kernels that tests compile.
TEST(LinearQ4, GateAndUpProjectionsFitAWorkgroup) {
  expect_rows({.depth = 576, .columns = 64, .norm = true, .gate = true});
  expect_rows({.depth = 2048, .columns = 64, .gate = true});
  expect_rows({.depth = 2048, .columns = 64, .norm = true, .gate = true});
}

}  // namespace
}  // namespace pteron::test
