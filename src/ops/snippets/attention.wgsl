// What the kernels of attention share: y = softmax(q·kᵀ·scale + mask)·v, without ever storing all scores. Keys are walked
// in splits; with one split a kernel writes the answer, with several (PARTIAL) it writes a maximum, a sum and weighted
// values that attention_merge puts together (snippets/attention_put*.wgsl). Heads share keys in groups (head / heads_per_kv). CAUSAL: query s sees
// keys up to s + offset.
struct Params {
  count: u32,       // threads of one query each, where that is how the work is divided
  heads: u32,
  queries: u32,
  splits: u32,
  keys: u32,        // that exist
  split_keys: u32,
  heads_per_kv: u32,
  offset: u32,
  scale: f32,
  batches: u32,
  tiles: u32,       // of a split, where kernels say so
  quiet: u32,       // 1: a query that sees no key has zeros as its answer, else NaN
  q: vec4u,         // strides of batch, head, position; then unused
  k: vec4u,
  v: vec4u,
  y: vec4u,
  mask: vec4u,      // strides of batch, head, query, key
  turn: vec4u,      // row of the rotary tables, their width, rotated pairs of a head; where attention rotates by itself
}
@group(0) @binding(0) var<uniform> p: Params;

const CHUNKS = (D + 3u) / 4u;
const VALUE_CHUNKS = (VALUE_D + 3u) / 4u;

// Four elements of a head from i on, of which `left` exist; the others are 0.
fn k_four(i: u32, left: u32) -> vec4f {
  if (D % 4u == 0u) {
    return vec4f(k_quad(i / 4u));
  }
  let v = vec4f(f32(k_get(i)), f32(k_get(i + 1u)), f32(k_get(i + 2u)), f32(k_get(i + 3u)));
  return select(vec4f(), v, vec4u(0u, 1u, 2u, 3u) < vec4u(left));
}
fn q_four(i: u32, left: u32) -> vec4f {
  if (D % 4u == 0u) {
    return q_quad(i / 4u) * p.scale;
  }
  let v = vec4f(q_get(i), q_get(i + 1u), q_get(i + 2u), q_get(i + 3u)) * p.scale;
  return select(vec4f(), v, vec4u(0u, 1u, 2u, 3u) < vec4u(left));
}
fn v_four(i: u32) -> vec4f {
  if (VALUE_D % 4u == 0u) {
    return vec4f(v_quad(i / 4u));
  }
  return vec4f(f32(v_get(i)), f32(v_get(i + 1u)), f32(v_get(i + 2u)), f32(v_get(i + 3u)));
}
// exp(v), also on drivers whose exp loses a NaN.
fn weights(v: vec4f) -> vec4f {
  return select(exp(v), v, vec4<bool>(is_nan(v.x), is_nan(v.y), is_nan(v.z), is_nan(v.w)));
}

// The first key behind those that a query sees of a split.
fn end_of(split: u32, query: u32) -> u32 {
  let end = min((split + 1u) * p.split_keys, p.keys);
  return select(end, min(end, query + p.offset + 1u), CAUSAL);
}
