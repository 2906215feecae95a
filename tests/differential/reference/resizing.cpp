// SPDX-License-Identifier: BSD-3-Clause
// Lines, images and volumes of another size.
#include "differential/reference/interpreter.h"

#include <algorithm>
#include <cmath>

namespace pteron::reference {
namespace {

enum class Mode { nearest, centre, linear, cubic };

Mode mode_of(const std::string& name) {
  if (name.find("exact") != std::string::npos) return Mode::centre;
  if (name.find("nearest") != std::string::npos) return Mode::nearest;
  return name.find("cubic") != std::string::npos ? Mode::cubic : Mode::linear;
}

// An element that counts along one axis, and how much.
struct Share {
  i64 at;
  f64 weight;
};

f64 cubic(f64 d) {
  constexpr f64 a = -0.75;
  d = std::abs(d);
  return d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
}

struct Axis {
  i64 in, out;
  f64 scale;  // that is given, or 0
  bool align, image;

  f64 step(Mode mode) const {
    if (align) return out > 1 ? f64(f32(in - 1) / f32(out - 1)) : 0;
    if (mode == Mode::nearest && image && (out == in || out == 2 * in)) return f64(in) / f64(out);
    return scale > 0 ? f64(f32(1 / scale)) : f64(f32(in) / f32(out));
  }
  std::vector<Share> shares(Call& op, Mode mode, i64 o) const {
    const f64 s = step(mode);
    const auto inside = [&](f64 at) { return i64(std::clamp(at, 0.0, f64(in - 1))); };
    if (mode == Mode::nearest) return {{inside(std::floor(f64(f32(o) * f32(s)))), 1}};
    if (mode == Mode::centre) return {{inside(std::floor(f64((f32(o) + 0.5f) * f32(s)))), 1}};
    f64 at = align ? f64(o) * s : (f64(o) + 0.5) * s - 0.5;
    // A position is computed in f32, so that other elements may count where it meets one exactly.
    at = op.noisy(at, std::abs(at) + 1, 2);
    if (mode == Mode::linear) at = std::max(at, 0.0);
    const f64 base = std::floor(at), t = at - base;
    if (mode == Mode::linear) return {{inside(base), 1 - t}, {inside(base + 1), t}};
    std::vector<Share> out_shares;  // which are differences of larger numbers
    for (int k = -1; k <= 2; ++k) out_shares.push_back({inside(base + k), op.noisy(cubic(t - k), 2, 4)});
    return out_shares;
  }
};

// op.vec(x, sizes?, [align,] scales?) or op(x, sizes, [align,] scale?, …)
void resize(Call& op) {
  const Array& x = op.tensor(0);
  const Mode mode = mode_of(op.name());
  const bool aligns = mode == Mode::linear || mode == Mode::cubic;
  const u32 first = aligns ? 3 : 2;
  const size_t axes = size_t(x.rank()) - 2;
  const Dims sizes = op.ints(1);
  std::vector<f64> scales(axes, 0);
  for (size_t i = 0; i < axes; ++i)
    if (!op.name().ends_with(".vec")) scales[i] = op.number_or(first + u32(i), 0);
  if (op.name().ends_with(".vec") && !op.is_null(first)) scales = op.numbers(first);
  Dims dims = x.dims;
  std::vector<Axis> axis(axes);
  for (size_t i = 0; i < axes; ++i) {
    const i64 in = x.dims[i + 2], out = sizes.empty() ? i64(std::floor(f64(in) * scales[i])) : sizes[i];
    axis[i] = {in, out, scales[i], aligns && op.flag_or(2, false), axes == 2};
    dims[i + 2] = out;
  }
  Array y = op.make(dims);
  each(dims, [&](const Dims& index, i64 i) {
    std::vector<std::vector<Share>> shares;
    for (size_t a = 0; a < axes; ++a) shares.push_back(axis[a].shares(op, mode, index[a + 2]));
    f64 total = 0, scale = 0;
    const auto visit = [&](const auto& self, Dims from, size_t a, f64 weight) -> void {
      if (a == axes) {
        const f64 term = at(x, from) * weight;
        total += term, scale += std::abs(term);
        return;
      }
      for (const Share& share : shares[a]) {
        from[a + 2] = share.at;
        self(self, from, a + 1, weight * share.weight);
      }
    };
    visit(visit, index, 0, 1);
    y.data[size_t(i)] = aligns ? op.noisy(total, scale, 64) : total;
  });
  op.give(std::move(y));
}

constexpr OpRule rules[] = {
    {"aten.upsample_nearest1d.vec", resize},        {"aten.upsample_nearest2d.vec", resize},
    {"aten.upsample_nearest3d.vec", resize},        {"aten._upsample_nearest_exact1d.vec", resize},
    {"aten._upsample_nearest_exact2d.vec", resize}, {"aten._upsample_nearest_exact3d.vec", resize},
    {"aten.upsample_linear1d.vec", resize},         {"aten.upsample_bilinear2d.vec", resize},
    {"aten.upsample_trilinear3d.vec", resize},      {"aten.upsample_bicubic2d.vec", resize},
    {"aten.upsample_nearest1d.default", resize},    {"aten.upsample_nearest2d.default", resize},
    {"aten.upsample_nearest3d.default", resize},    {"aten.upsample_linear1d.default", resize},
    {"aten.upsample_bilinear2d.default", resize},   {"aten.upsample_trilinear3d.default", resize},
    {"aten.upsample_bicubic2d.default", resize},
};

}  // namespace

extern const OpRules resizing_rules = rules;

}  // namespace pteron::reference
