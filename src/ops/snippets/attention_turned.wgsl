// One query that is rotated here, and whose own key and value, at position p.offset, are not in the caches yet: the key is
// rotated too, and the threads that need them write them there. Heads are multiples of four elements, and so are halves that
// rotate with each other.
const TURNED = true;
// What rotates four elements of a head, from `chunk` on: x · cosines + other · sines.
struct Rotation {
  cosines: vec4f,
  sines: vec4f,
}
// Elements behind those that rotate stay what they are. No branches, so that all loads are under way at once.
fn rotation_at(chunk: u32) -> Rotation {
  let rotated = 2u * p.turn.z;
  let inside = min(chunk, rotated - 4u);
  let at = p.turn.x * p.turn.y + select(inside, inside / 2u, INTERLEAVED);
  var cosines = vec4f(cosines_quad(at / 4u));
  var sines = vec4f(sines_quad(at / 4u));
  if (INTERLEAVED) {  // an angle for each pair
    let second = at % 4u != 0u;
    let c = select(cosines.xy, cosines.zw, second);
    let s = select(sines.xy, sines.zw, second);
    cosines = c.xxyy;
    sines = vec4f(-s.x, s.x, -s.y, s.y);
  } else {
    sines = select(sines, -sines, chunk < p.turn.z);
  }
  let rotates = chunk < rotated;
  return Rotation(select(vec4f(1.0), cosines, rotates), select(vec4f(), sines, rotates));
}
fn turned(v: vec4f, other: vec4f, r: Rotation) -> vec4f {
  return v * r.cosines + select(other, v.yxwz, INTERLEAVED) * r.sines;
}
// Where the elements are that those from `chunk` on rotate with if not INTERLEAVED.
fn other_of(chunk: u32) -> u32 {
  let half = p.turn.z;
  return select(chunk, select(chunk - half, chunk + half, chunk < half), !INTERLEAVED && chunk < 2u * half);
}

fn query_four(batch: u32, head: u32, query: u32, chunk: u32, left: u32, r: Rotation) -> vec4f {
  let base = batch * p.q.x + head * p.q.y;
  return turned(q_quad((base + chunk) / 4u), q_quad((base + other_of(chunk)) / 4u), r) * p.scale;
}
fn own_key(batch: u32, kv_head: u32, chunk: u32, r: Rotation) -> vec4f {
  let base = (batch * (p.heads / p.heads_per_kv) + kv_head) * D;
  return turned(new_k_quad((base + chunk) / 4u), new_k_quad((base + other_of(chunk)) / 4u), r);
}
fn own_value(batch: u32, kv_head: u32, chunk: u32) -> vec4f {
  return new_v_quad(((batch * (p.heads / p.heads_per_kv) + kv_head) * D + chunk) / 4u);
}
fn keep_key(base: u32, chunk: u32, key: vec4f) {
  k_put((base + p.offset * p.k.z + chunk) / 4u, key);
}
fn keep_value(base: u32, chunk: u32, value: vec4f) {
  v_put((base + p.offset * p.v.z + chunk) / 4u, value);
}
fn mask_of(at: u32, keys: vec4u) -> vec4f {
  return vec4f();
}
