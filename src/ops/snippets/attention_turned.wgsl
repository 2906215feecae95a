// One query that is rotated here, and whose own key and value, at position p.offset, are not in the caches yet: the key is
// rotated too, and the threads that need them write them there. Heads are multiples of four elements, and so are halves that
// rotate with each other.
const TURNED = true;
fn angle_at(i: u32) -> vec2f {
  let at = p.turn.x * p.turn.y + i;
  return vec2f(cosines_get(at), sines_get(at));
}
// Four elements of a head from `chunk` on; `other` are those that they rotate with if not INTERLEAVED.
fn turned(v: vec4f, other: vec4f, chunk: u32) -> vec4f {
  let half = p.turn.z;
  if (chunk >= 2u * half) {
    return v;
  }
  if (INTERLEAVED) {
    let a = angle_at(chunk / 2u);
    let b = angle_at(chunk / 2u + 1u);
    return vec4f(v.x * a.x - v.y * a.y, v.y * a.x + v.x * a.y, v.z * b.x - v.w * b.y, v.w * b.x + v.z * b.y);
  }
  let a = angle_at(chunk);
  let b = angle_at(chunk + 1u);
  let c = angle_at(chunk + 2u);
  let d = angle_at(chunk + 3u);
  let sign = select(1.0, -1.0, chunk < half);
  return v * vec4f(a.x, b.x, c.x, d.x) + sign * other * vec4f(a.y, b.y, c.y, d.y);
}
// Where the elements are that those from `chunk` on rotate with.
fn other_of(chunk: u32) -> u32 {
  let half = p.turn.z;
  return select(chunk, select(chunk - half, chunk + half, chunk < half), !INTERLEAVED && chunk < 2u * half);
}

fn query_four(batch: u32, head: u32, query: u32, chunk: u32, left: u32) -> vec4f {
  let base = batch * p.q.x + head * p.q.y;
  return turned(q_quad((base + chunk) / 4u), q_quad((base + other_of(chunk)) / 4u), chunk) * p.scale;
}
fn own_key(batch: u32, kv_head: u32, chunk: u32, writes: bool) -> vec4f {
  let base = (batch * (p.heads / p.heads_per_kv) + kv_head) * D;
  let v = turned(new_k_quad((base + chunk) / 4u), new_k_quad((base + other_of(chunk)) / 4u), chunk);
  if (writes) {
    k_put((batch * p.k.x + kv_head * p.k.y + p.offset * p.k.z + chunk) / 4u, v);
  }
  return v;
}
fn own_value(batch: u32, kv_head: u32, chunk: u32, writes: bool) -> vec4f {
  let v = new_v_quad(((batch * (p.heads / p.heads_per_kv) + kv_head) * D + chunk) / 4u);
  if (writes) {
    v_put((batch * p.v.x + kv_head * p.v.y + p.offset * p.v.z + chunk) / 4u, v);
  }
  return v;
}
fn mask_of(at: u32, keys: vec4u) -> vec4f {
  return vec4f();
}
