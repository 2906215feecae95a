// Splits of attention as attention_put_splits.wgsl writes them.
fn statistic_at(row: u32, split: u32) -> vec2f {
  return records[(p.rows * p.chunks + row) * p.splits + split].xy;
}
fn value_at(row: u32, split: u32, chunk: u32) -> vec4f {
  return records[(split * p.rows + row) * p.chunks + chunk];
}
