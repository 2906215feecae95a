// The zero point comes from whichever end has the smaller error.
fn choose(range: vec2f) -> Qparams {
  let scale = max((range.y - range.x) / (p.high - p.low), p.eps);
  let ends = range / scale;
  let zero = select(p.high - ends.y, p.low - ends.x, p.low + ends.x + (p.high + ends.y) > 0.0);
  return Qparams(scale, round(clamp(zero, p.low, p.high)));
}
