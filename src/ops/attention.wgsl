// y = softmax(q·kᵀ·scale + mask)·v, without ever storing the scores. One thread per (batch, head, query, split): it
// walks the keys of its split once, keeping the running maximum, sum and weighted values (online softmax). With one
// split it writes the answer; with several it writes partial results that attention_merge puts together.
// Heads share keys in groups (head / (heads / kv_heads)). CAUSAL: query s sees keys up to s + offset.
//! use grid
struct Params {
  count: u32,       // batch · heads · queries · splits
  heads: u32,
  queries: u32,
  splits: u32,
  keys: u32,        // that exist
  split_keys: u32,
  heads_per_kv: u32,
  offset: u32,
  scale: f32,
  pad0: u32, pad1: u32, pad2: u32,
  q: vec4u,         // strides of batch, head, position; then unused
  k: vec4u,
  v: vec4u,
  y: vec4u,
  mask: vec4u,      // strides of batch, head, query, key
}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> q: array<q_store>;
@group(0) @binding(2) var<storage, read> k: array<k_store>;
@group(0) @binding(3) var<storage, read> v: array<k_store>;
@group(0) @binding(4) var<storage, read> mask: array<mask_store>;
@group(0) @binding(5) var<storage, read_write> y: array<y_store>;

const LOWEST = -3.4028234663852886e38;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let index = group_index(wid, nwg) * 64u + lid;
  if (index >= p.count) {
    return;
  }
  let split = index % p.splits;
  let query = (index / p.splits) % p.queries;
  let head = (index / p.splits / p.queries) % p.heads;
  let batch = index / p.splits / p.queries / p.heads;
  let kv_head = head / p.heads_per_kv;

  var qs: array<f32, D>;
  let q_base = batch * p.q.x + head * p.q.y + query * p.q.z;
  for (var d = 0u; d < D; d++) {
    qs[d] = q_get(q_base + d) * p.scale;
  }
  let k_base = batch * p.k.x + kv_head * p.k.y;
  let v_base = batch * p.v.x + kv_head * p.v.y;
  let mask_base = batch * p.mask.x + head * p.mask.y + query * p.mask.z;
  let first = split * p.split_keys;
  var last = min(first + p.split_keys, p.keys);
  if (CAUSAL) {
    last = min(last, query + p.offset + 1u);
  }

  var top = LOWEST;
  var sum = 0.0;
  var acc: array<f32, VALUE_D>;
  for (var key = first; key < last; key++) {
    var score = 0.0;
    for (var d = 0u; d < D; d++) {
      score += qs[d] * f32(k[k_base + key * p.k.z + d]);
    }
    if (HAS_MASK) {
      score += mask_get(mask_base + key * p.mask.w);
    }
    let new_top = max(top, max(score, LOWEST));
    let keep = exp(top - new_top);
    let weight = exp(score - new_top);
    sum = sum * keep + weight;
    for (var d = 0u; d < VALUE_D; d++) {
      acc[d] = acc[d] * keep + weight * f32(v[v_base + key * p.v.z + d]);
    }
    top = new_top;
  }
  if (PARTIAL) {
    let base = index * (VALUE_D + 2u);
    y[base] = y_store(top);
    y[base + 1u] = y_store(sum);
    for (var d = 0u; d < VALUE_D; d++) {
      y[base + 2u + d] = y_store(acc[d]);
    }
  } else {
    let base = batch * p.y.x + head * p.y.y + query * p.y.z;
    for (var d = 0u; d < VALUE_D; d++) {
      y[base + d] = y_store(select(acc[d] / sum, 0.0, p.keys == 0u));
    }
  }
}
