// How attention_merge writes four elements, of which the last ones may not exist.
fn put_result(at: u32, chunk: u32, v: vec4f) {
  for (var i = 0u; i < 4u; i++) {
    if (chunk * 4u + i < p.dim) {
      y[at + chunk * 4u + i] = y_store(v[i]);
    }
  }
}
