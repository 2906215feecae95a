// How attention leaves the results of one query in SPLITS splits, for a kernel that puts them together while it reads them: for
// each four elements of a head (VALUE_D is a multiple of 4) those of all splits; behind the last head maximum, sum and two words
// of nothing, of each split of each head.
fn put_statistics(batch: u32, head: u32, query: u32, split: u32, top: f32, sum: f32) {
  y_put((p.heads * VALUE_CHUNKS + head) * SPLITS + split, vec4f(top, sum, 0.0, 0.0));
}
fn put_four(batch: u32, head: u32, query: u32, split: u32, chunk: u32, value: vec4f, sum: f32) {
  y_put((head * VALUE_CHUNKS + chunk) * SPLITS + split, value);
}
