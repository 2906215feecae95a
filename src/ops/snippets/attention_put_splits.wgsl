// How attention leaves the results of one query in SPLITS splits, for a kernel that puts them together while it reads them
// (VALUE_D is a multiple of 4): the values of all heads, split by split; then, of each split of each head, a maximum, a sum and two
// words of nothing. Neighbouring threads write side by side.
fn put_statistics(batch: u32, head: u32, query: u32, split: u32, top: f32, sum: f32) {
  y_put((p.heads * VALUE_CHUNKS + head) * SPLITS + split, vec4f(top, sum, 0.0, 0.0));
}
fn put_four(batch: u32, head: u32, query: u32, split: u32, chunk: u32, value: vec4f, sum: f32) {
  y_put((split * p.heads + head) * VALUE_CHUNKS + chunk, value);
}
