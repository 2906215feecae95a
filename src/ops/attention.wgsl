// y = softmax(q·kᵀ·scale + mask)·v, without ever storing the scores. One thread per (batch, HEADS heads that share
// their keys, query, split): it walks the keys of its split once, four at a time, keeping the running maxima, sums and
// weighted values (online softmax). With one split it writes the answer; with several it writes partial results that
// attention_merge puts together. Heads share keys in groups (head / (heads / kv_heads)). CAUSAL: query s sees keys up
// to s + offset.
//! use grid nan
struct Params {
  count: u32,       // batch · heads / HEADS · queries · splits
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
@group(0) @binding(3) var<storage, read> v: array<v_store>;
@group(0) @binding(4) var<storage, read> mask: array<mask_store>;
@group(0) @binding(5) var<storage, read_write> y: array<y_store>;

const LOWEST = -3.4028234663852886e38;
const CHUNKS = (D + 3u) / 4u;
const VALUE_CHUNKS = (VALUE_D + 3u) / 4u;

// Four elements of a head from i on, of which `left` exist.
fn k_chunk(i: u32, left: u32) -> vec4f {
  if (D % 4u == 0u) {
    return vec4f(k_quad(i / 4u));
  }
  let v = vec4f(f32(k_get(i)), f32(k_get(i + 1u)), f32(k_get(i + 2u)), f32(k_get(i + 3u)));
  return select(vec4f(), v, vec4u(0u, 1u, 2u, 3u) < vec4u(left));
}
fn v_chunk(i: u32) -> vec4f {
  if (VALUE_D % 4u == 0u) {
    return vec4f(v_quad(i / 4u));
  }
  return vec4f(f32(v_get(i)), f32(v_get(i + 1u)), f32(v_get(i + 2u)), f32(v_get(i + 3u)));
}
// exp(v), also on drivers whose exp loses a NaN.
fn weights(v: vec4f) -> vec4f {
  return select(exp(v), v, vec4<bool>(is_nan(v.x), is_nan(v.y), is_nan(v.z), is_nan(v.w)));
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

  var qs = array<vec4f, HEADS * CHUNKS>();
  for (var h = 0u; h < HEADS; h++) {
    let q_base = batch * p.q.x + (first_head + h) * p.q.y + query * p.q.z;
    for (var d = 0u; d < D; d++) {
      qs[h * CHUNKS + d / 4u][d % 4u] = q_get(q_base + d) * p.scale;
    }
  }
  let k_base = batch * p.k.x + kv_head * p.k.y;
  let v_base = batch * p.v.x + kv_head * p.v.y;
  let first = split * p.split_keys;
  var last = min(first + p.split_keys, p.keys);
  if (CAUSAL) {
    last = min(last, query + p.offset + 1u);
  }

  var top = array<f32, HEADS>();
  for (var h = 0u; h < HEADS; h++) {
    top[h] = LOWEST;
  }
  var sum = array<f32, HEADS>();
  var acc = array<vec4f, HEADS * VALUE_CHUNKS>();
  for (var key = first; key < last; key += 4u) {
    let wanted = vec4u(key, key + 1u, key + 2u, key + 3u);
    let exists = wanted < vec4u(last);
    let keys = min(wanted, vec4u(last - 1u));
    let k_at = k_base + keys * p.k.z;
    var scores = array<vec4f, HEADS>();
    for (var c = 0u; c < CHUNKS; c++) {
      let at = k_at + 4u * c;
      let left = D - 4u * c;
      let k4 = mat4x4f(k_chunk(at.x, left), k_chunk(at.y, left), k_chunk(at.z, left), k_chunk(at.w, left));
      for (var h = 0u; h < HEADS; h++) {
        scores[h] += qs[h * CHUNKS + c] * k4;
      }
    }
    var weight = array<vec4f, HEADS>();
    var keep = array<f32, HEADS>();
    for (var h = 0u; h < HEADS; h++) {
      if (HAS_MASK) {
        let at = batch * p.mask.x + (first_head + h) * p.mask.y + query * p.mask.z + keys * p.mask.w;
        scores[h] += vec4f(mask_get(at.x), mask_get(at.y), mask_get(at.z), mask_get(at.w));
      }
      let s = select(vec4f(LOWEST), scores[h], exists);
      let new_top = max(max(top[h], max(s.x, s.y)), max(s.z, s.w));
      keep[h] = exp(top[h] - new_top);
      weight[h] = select(vec4f(), weights(s - new_top), exists);
      sum[h] = sum[h] * keep[h] + weight[h].x + weight[h].y + weight[h].z + weight[h].w;
      top[h] = new_top;
    }
    let v_at = v_base + keys * p.v.z;
    for (var c = 0u; c < VALUE_CHUNKS; c++) {
      let at = v_at + 4u * c;
      let v4 = mat4x4f(v_chunk(at.x), v_chunk(at.y), v_chunk(at.z), v_chunk(at.w));
      for (var h = 0u; h < HEADS; h++) {
        acc[h * VALUE_CHUNKS + c] = acc[h * VALUE_CHUNKS + c] * keep[h] + v4 * weight[h];
      }
    }
  }
  for (var h = 0u; h < HEADS; h++) {
    let head = first_head + h;
    if (PARTIAL) {
      let base = (((batch * p.heads + head) * p.queries + query) * p.splits + split) * (VALUE_D + 2u);
      y[base] = y_store(top[h]);
      y[base + 1u] = y_store(sum[h]);
      for (var d = 0u; d < VALUE_D; d++) {
        y[base + 2u + d] = y_store(acc[h * VALUE_CHUNKS + d / 4u][d % 4u]);
      }
    } else {
      let base = batch * p.y.x + head * p.y.y + query * p.y.z;
      for (var d = 0u; d < VALUE_D; d++) {
        y[base + d] = y_store(select(acc[h * VALUE_CHUNKS + d / 4u][d % 4u] / sum[h], 0.0, p.keys == 0u));
      }
    }
  }
}
