// y = softmax(q·kᵀ·scale + mask)·v, without ever storing the scores. One thread per (batch, head, query, split): it
// walks the keys of its split once, four at a time, keeping the running maximum, sum and weighted values (online
// softmax). With one split it writes the answer; with several it writes partial results that attention_merge puts
// together. Heads share keys in groups (head / (heads / kv_heads)). CAUSAL: query s sees keys up to s + offset.
//! use grid nan
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
const CHUNKS = (D + 3u) / 4u;
const VALUE_CHUNKS = (VALUE_D + 3u) / 4u;

// Four elements of a head from i on, of which `left` exist.
fn k_chunk(i: u32, left: u32) -> vec4f {
  let v = vec4f(f32(k[i]), f32(k[i + 1u]), f32(k[i + 2u]), f32(k[i + 3u]));
  if (D % 4u == 0u) {
    return v;
  }
  return select(vec4f(), v, vec4u(0u, 1u, 2u, 3u) < vec4u(left));
}
fn v_chunk(i: u32) -> vec4f {
  return vec4f(f32(v[i]), f32(v[i + 1u]), f32(v[i + 2u]), f32(v[i + 3u]));
}
// exp(v), also on drivers whose exp loses a NaN.
fn weights(v: vec4f) -> vec4f {
  return select(exp(v), v, vec4<bool>(is_nan(v.x), is_nan(v.y), is_nan(v.z), is_nan(v.w)));
}

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

  var qs: array<vec4f, CHUNKS>;
  let q_base = batch * p.q.x + head * p.q.y + query * p.q.z;
  for (var d = 0u; d < D; d++) {
    qs[d / 4u][d % 4u] = q_get(q_base + d) * p.scale;
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
  var acc: array<vec4f, VALUE_CHUNKS>;
  for (var key = first; key < last; key += 4u) {
    let wanted = vec4u(key, key + 1u, key + 2u, key + 3u);
    let exists = wanted < vec4u(last);
    let keys = min(wanted, vec4u(last - 1u));
    let k_at = k_base + keys * p.k.z;
    var scores = vec4f();
    for (var c = 0u; c < CHUNKS; c++) {
      let q4 = qs[c];
      let at = k_at + 4u * c;
      let left = D - 4u * c;
      scores += vec4f(dot(q4, k_chunk(at.x, left)), dot(q4, k_chunk(at.y, left)), dot(q4, k_chunk(at.z, left)),
                      dot(q4, k_chunk(at.w, left)));
    }
    if (HAS_MASK) {
      let at = mask_base + keys * p.mask.w;
      scores += vec4f(mask_get(at.x), mask_get(at.y), mask_get(at.z), mask_get(at.w));
    }
    scores = select(vec4f(LOWEST), scores, exists);
    let new_top = max(max(top, max(scores.x, scores.y)), max(scores.z, scores.w));
    let keep = exp(top - new_top);
    let weight = select(vec4f(), weights(scores - new_top), exists);
    sum = sum * keep + weight.x + weight.y + weight.z + weight.w;
    let v_at = v_base + keys * p.v.z;
    for (var c = 0u; c < VALUE_CHUNKS; c++) {
      let at = v_at + 4u * c;
      acc[c] = acc[c] * keep + weight.x * v_chunk(at.x) + weight.y * v_chunk(at.y) + weight.z * v_chunk(at.z) +
               weight.w * v_chunk(at.w);
    }
    top = new_top;
  }
  if (PARTIAL) {
    let base = index * (VALUE_D + 2u);
    y[base] = y_store(top);
    y[base + 1u] = y_store(sum);
    for (var d = 0u; d < VALUE_D; d++) {
      y[base + 2u + d] = y_store(acc[d / 4u][d % 4u]);
    }
  } else {
    let base = batch * p.y.x + head * p.y.y + query * p.y.z;
    for (var d = 0u; d < VALUE_D; d++) {
      y[base + d] = y_store(select(acc[d / 4u][d % 4u] / sum, 0.0, p.keys == 0u));
    }
  }
}
