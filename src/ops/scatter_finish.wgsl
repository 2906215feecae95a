// Writes the result: what came to its slot, or else what was there before. One thread for four neighbours.
//! variadic
//! use grid divide nan scatter walk
fn result(i: u32, old: V) -> V {
  if (HOW == OVERWRITE) {
    let last = slots[i];
    if (last == 0u) {
      return old;
    }
    return source_at(walk(2u, last - 1u));
  }
  let came = slots[2u * i + 1u];
  if (came == 0u) {
    return old;
  }
  var v = bitcast<V>(slots[2u * i]);
  if (WITH_OLD) {
    v = join(old, v);
  }
  if (HOW == MEAN) {
    let all = V(came + select(0u, 1u, WITH_OLD));
    let quotient = v / all;
    // Of integers it is rounded down.
    v = select(quotient, quotient - V(1), !REAL && quotient * all > v);
  }
  return v;
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let q = group_index(wid, nwg) * 64u + lid;
  if (q * 4u >= p.count) {
    return;
  }
  let old = x_quad(q);
  var v: vec4<y_val>;
  for (var k = 0u; k < 4u && q * 4u + k < p.count; k++) {
    v[k] = y_val(result(q * 4u + k, V(old[k])));
  }
  y_put(q, v);
}
