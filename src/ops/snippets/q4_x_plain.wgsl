// x of a row as it lies in memory, four elements at a time.
const AHEAD = 4u;  // words of weights that are loaded along with x
struct Chunk {
  value: vec4f,
}
fn load_x(chunk: u32) -> Chunk {
  return Chunk(vec4f(x[chunk]));
}
fn load_ahead(lid: u32) {}
fn prepare_x(lid: u32) {}
fn value_of(x: Chunk, chunk: u32) -> vec4f {
  return x.value;
}
