// How attention writes the results of a query, one element at a time: y, or (PARTIAL) a record of a split: maximum, sum, two
// words of nothing, then the values.
fn record(batch: u32, head: u32, query: u32, split: u32) -> u32 {
  return (((batch * p.heads + head) * p.queries + query) * p.splits + split) * (VALUE_CHUNKS * 4u + 4u);
}
fn put_statistics(batch: u32, head: u32, query: u32, split: u32, top: f32, sum: f32) {
  if (PARTIAL) {
    let at = record(batch, head, query, split);
    y[at] = y_store(top);
    y[at + 1u] = y_store(sum);
  }
}
fn put_value(batch: u32, head: u32, query: u32, split: u32, d: u32, value: f32, sum: f32) {
  if (PARTIAL) {
    y[record(batch, head, query, split) + 4u + d] = y_store(value);
  } else {
    let at = batch * p.y.x + head * p.y.y + query * p.y.z + d;
    y[at] = y_store(select(value / sum, 0.0, p.keys == 0u || (p.quiet == 1u && sum == 0.0)));
  }
}
fn put_four(batch: u32, head: u32, query: u32, split: u32, chunk: u32, value: vec4f, sum: f32) {
  for (var i = 0u; i < 4u; i++) {
    if (chunk * 4u + i < VALUE_D) {
      put_value(batch, head, query, split, chunk * 4u + i, value[i], sum);
    }
  }
}
