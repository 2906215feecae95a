// SPDX-License-Identifier: BSD-3-Clause
// How far off a result may be is found by experiment: the interpreter runs again with every rounding pushed to its
// limit, up or down, or at random also to somewhere on the way, and what an output then moves by is what an engine's
// may.
#pragma once

#include <pteron/types.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace pteron::reference {

class Noise {
 public:
  enum Kind { none, up, down, random };
  explicit Noise(Kind kind = none, u64 seed = 0) : kind_(kind), state_(seed) {}

  // A value whose terms add up to `scale` in magnitude, off by up to `steps` times half a unit of f32's last place of
  // those.
  f64 operator()(f64 value, f64 scale, f64 steps) {
    if (kind_ == none || !std::isfinite(value)) return value;
    // Terms that overflow on their own may make everything infinite, although they cancel out.
    if (scale > f64(std::numeric_limits<f32>::max())) return sign() * INFINITY;
    // Numbers below the smallest normal one may become 0.
    const f64 least = value != 0 && std::abs(value) < 0x1p-102 ? 0x1p-126 : 0;
    const f64 most = std::max(steps * scale * 0x1p-24, least), off = sign() * part() * most;
    // What may have either sign may as well be 0, by which something may be divided.
    if (kind_ == random && most >= std::abs(value) && sign() < 0) return 0;
    return std::isfinite(off) ? value + off : value;
  }
  // What storing a result in half precision may do to it.
  f64 halved(f64 value) { return kind_ == none || !std::isfinite(value) ? value : value * (1 + sign() * 0x1p-11); }
  f64 between(f64 low, f64 high) { return kind_ == none || sign() < 0 ? low : high; }

 private:
  f64 sign() {
    if (kind_ != random) return kind_ == up ? 1 : -1;
    return draw() >> 63 ? 1 : -1;
  }
  // How far to the limit.
  f64 part() {
    if (kind_ != random) return 1;
    const u64 z = draw();
    return z >> 63 ? 1 : f64(z << 1 >> 11) * 0x1p-53;
  }
  u64 draw() {
    state_ += 0x9e3779b97f4a7c15u;
    u64 z = (state_ ^ state_ >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z;
  }
  Kind kind_;
  u64 state_;
};

}  // namespace pteron::reference
