// The same on both sides of zero.
fn choose(range: vec2f) -> Qparams {
  let scale = max(max(-range.x, range.y) / ((p.high - p.low) / 2.0), p.eps);
  return Qparams(scale, trunc((p.high + p.low + 1.0) / 2.0));
}
