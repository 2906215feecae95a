// Splits of attention as attention_put.wgsl and attention_put_quads.wgsl write them.
fn statistic_at(row: u32, split: u32) -> vec2f {
  return records[(row * p.splits + split) * (p.chunks + 1u)].xy;
}
fn value_at(row: u32, split: u32, chunk: u32) -> vec4f {
  return records[(row * p.splits + split) * (p.chunks + 1u) + 1u + chunk];
}
