// From the least to the greatest value. Zero must be a quantised value exactly, so it always lies between them.
fn choose(range: vec2f) -> Qparams {
  let scale = max((range.y - range.x) / (p.high - p.low), p.eps);
  return Qparams(scale, clamp(p.low - round(range.x / scale), p.low, p.high));
}
