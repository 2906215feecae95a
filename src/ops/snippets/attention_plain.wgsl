// Queries as they come; all keys and values lie in memory.
const TURNED = false;
struct Rotation {
  none: u32,
}
fn rotation_at(chunk: u32) -> Rotation {
  return Rotation();
}
fn query_four(batch: u32, head: u32, query: u32, chunk: u32, left: u32, r: Rotation) -> vec4f {
  return q_four(batch * p.q.x + head * p.q.y + query * p.q.z + chunk, left);
}
fn own_key(batch: u32, kv_head: u32, chunk: u32, r: Rotation) -> vec4f {
  return vec4f();
}
fn own_value(batch: u32, kv_head: u32, chunk: u32) -> vec4f {
  return vec4f();
}
fn keep_key(base: u32, chunk: u32, key: vec4f) {}
fn keep_value(base: u32, chunk: u32, value: vec4f) {}
fn mask_of(at: u32, keys: vec4u) -> vec4f {
  let i = at + keys * p.mask.w;
  return vec4f(mask_get(i.x), mask_get(i.y), mask_get(i.z), mask_get(i.w));
}
