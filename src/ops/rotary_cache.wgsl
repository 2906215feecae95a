// One step of attention before the scores: rotates the queries, rotates the keys into the key cache and copies the
// values into the value cache. One thread per pair of a query head, then of a key head, then per two elements of a
// value; elements beyond the rotated ones pass through as pairs (i, i + 1).
//! use grid rotate
struct Params {
  count: u32,        // threads
  q_threads: u32,
  k_threads: u32,
  half: u32,         // rotated pairs per head
  q_heads: u32,
  kv_heads: u32,
  positions: u32,    // S
  dim: u32,          // D, even
  first: u32,        // table row of position 0
  table_width: u32,
  start: u32,        // cache position of position 0
  capacity: u32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> q: array<q_store>;
@group(0) @binding(2) var<storage, read> k: array<k_store>;
@group(0) @binding(3) var<storage, read> v: array<v_store>;
@group(0) @binding(4) var<storage, read> cosines: array<cosines_store>;
@group(0) @binding(5) var<storage, read> sines: array<sines_store>;
@group(0) @binding(6) var<storage, read_write> y: array<y_store>;
@group(0) @binding(7) var<storage, read_write> k_cache: array<k_cache_store>;
@group(0) @binding(8) var<storage, read_write> v_cache: array<v_cache_store>;

fn elements(pair: u32) -> vec2u {
  return select(vec2u(2u * pair, 2u * pair + 1u), pair_at(pair, p.half), pair < p.half);
}

fn turned(v: vec2f, position: u32, pair: u32) -> vec2f {
  if (pair >= p.half) {
    return v;
  }
  return rotate(v, (p.first + position) * p.table_width, pair, p.half);
}

// Where element 0 of a head lies in a cache, for token `token` of [batch, positions].
fn cached(token: u32, head: u32) -> u32 {
  let batch = token / p.positions;
  return ((batch * p.capacity + p.start + token % p.positions) * p.kv_heads + head) * p.dim;
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let index = group_index(wid, nwg) * 64u + lid;
  if (index >= p.count) {
    return;
  }
  let pairs = p.dim / 2u;
  let pair = index % pairs;
  let at = elements(pair);
  if (index < p.q_threads) {
    let head = index / pairs;
    let base = head * p.dim;
    let token = head / p.q_heads;
    let r = turned(vec2f(q_get(base + at.x), q_get(base + at.y)), token % p.positions, pair);
    y[base + at.x] = y_store(r.x);
    y[base + at.y] = y_store(r.y);
    return;
  }
  let rest = (index - p.q_threads) % p.k_threads;
  let row = rest / pairs;
  let token = row / p.kv_heads;
  let to = cached(token, row % p.kv_heads);
  let base = row * p.dim;
  if (index < p.q_threads + p.k_threads) {
    let r = turned(vec2f(k_get(base + at.x), k_get(base + at.y)), token % p.positions, pair);
    k_cache[to + at.x] = k_cache_store(r.x);
    k_cache[to + at.y] = k_cache_store(r.y);
  } else {
    v_cache[to + at.x] = v_cache_store(v_get(base + at.x));
    v_cache[to + at.y] = v_cache_store(v_get(base + at.y));
  }
}
