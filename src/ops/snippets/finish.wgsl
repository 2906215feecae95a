// What becomes of a row of four sums: scaled, biased, clamped, quantised. CHANNEL_ROWS: scale and bias belong to rows (the
// channels of a convolution), else to columns. What is not bound is a function that returns 1 or 0.
fn per_channel(batch: u32, row: u32, column: u32) -> vec4u {
  if (CHANNEL_ROWS) {
    return vec4u((batch % p.a_batches) * p.rows + row);
  }
  return min(vec4u(p.first_column + column) + vec4u(0u, 1u, 2u, 3u), vec4u(p.width - 1u));
}

fn finish(batch: u32, row: u32, column: u32, sum: V4) -> vec4f {
  let c = per_channel(batch, row, column);
  var v = vec4f(sum) * (p.factor * row_scale_get(row)) *
          vec4f(scale_get(c.x), scale_get(c.y), scale_get(c.z), scale_get(c.w));
  v += vec4f(bias_get(c.x), bias_get(c.y), bias_get(c.z), bias_get(c.w));
  let s = vec4u(row * p.addend_row) + c * p.addend_column;
  v += p.beta * vec4f(f32(addend_get(s.x)), f32(addend_get(s.y)), f32(addend_get(s.z)), f32(addend_get(s.w)));
  if (CLAMPED) {
    let no_number = (bitcast<vec4u>(v) & vec4u(0x7fffffffu)) > vec4u(0x7f800000u);
    v = select(min(max(v, vec4f(p.low)), vec4f(p.high)), v, no_number);
  }
  if (QUANTIZED) {
    v = clamp(round(v * p.inverse_scale) + p.zero, vec4f(-128.0), vec4f(127.0));
  }
  return v;
}
