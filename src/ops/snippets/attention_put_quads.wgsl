// How attention writes the results of a query, four elements at a time (VALUE_D is a multiple of 4): y, or (PARTIAL) a record
// of a split: maximum, sum, two words of nothing, then the values.
fn record(batch: u32, head: u32, query: u32, split: u32) -> u32 {
  return (((batch * p.heads + head) * p.queries + query) * p.splits + split) * (VALUE_CHUNKS + 1u);
}
fn put_statistics(batch: u32, head: u32, query: u32, split: u32, top: f32, sum: f32) {
  if (PARTIAL) {
    y_put(record(batch, head, query, split), vec4f(top, sum, 0.0, 0.0));
  }
}
fn put_four(batch: u32, head: u32, query: u32, split: u32, chunk: u32, value: vec4f, sum: f32) {
  if (PARTIAL) {
    y_put(record(batch, head, query, split) + 1u + chunk, value);
  } else {
    let at = (batch * p.y.x + head * p.y.y + query * p.y.z) / 4u + chunk;
    y_put(at, select(value / sum, vec4f(), p.keys == 0u || (p.quiet == 1u && sum == 0.0)));
  }
}
