// How attention_merge writes four elements, of values that are whole quads.
fn put_result(at: u32, chunk: u32, v: vec4f) {
  y_put(at / 4u + chunk, v);
}
