// Attention (snippets/attention.wgsl) without barriers: one thread per (batch, HEADS heads that share their keys, query,
// split) walks the keys of its split once.
//! use grid nan attention attention_bindings attention_walk
fn k_chunk(at: u32, left: u32) -> vec4f {
  return k_four(at, left);
}
fn v_chunk(at: u32) -> vec4f {
  return v_four(at);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let index = group_index(wid, nwg) * WORKGROUP + lid;
  if (index >= p.count) {
    return;
  }
  let split = index % p.splits;
  let query = (index / p.splits) % p.queries;
  let first_head = (index / p.splits / p.queries) % (p.heads / HEADS) * HEADS;
  let batch = index / p.splits / p.queries / (p.heads / HEADS);
  let kv_head = first_head / p.heads_per_kv;
  let k_base = batch * p.k.x + kv_head * p.k.y;
  let v_base = batch * p.v.x + kv_head * p.v.y;
  let mask_base = batch * p.mask.x + first_head * p.mask.y + query * p.mask.z;
  let end = end_of(split, query);

  var walk = Walk();
  begin_walk(&walk, batch, first_head, query);
  for (var key = split * p.split_keys; key < end; key += 4u) {
    let wanted = vec4u(key, key + 1u, key + 2u, key + 3u);
    let keys = min(wanted, vec4u(end - 1u));
    take_keys(&walk, keys, wanted < vec4u(end), k_base + keys * p.k.z, v_base + keys * p.v.z, mask_base);
  }
  end_walk(&walk, batch, first_head, query, split);
}
