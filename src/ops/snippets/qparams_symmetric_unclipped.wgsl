// The same on both sides of zero, as coarse as neither end is cut off.
fn choose(range: vec2f) -> Qparams {
  let scale = max(max(range.x / p.low, range.y / p.high), p.eps);
  return Qparams(scale, trunc((p.high + p.low + 1.0) / 2.0));
}
