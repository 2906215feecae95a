// Attention (snippets/attention.wgsl) with many queries, for GPUs: a workgroup has WORKGROUP neighbouring queries of one
// head and one split, a thread one of them. The threads copy TILE keys and values at a time into workgroup memory and
// walk them there. Tiles that no query of the workgroup sees are skipped.
// All loops count, to constants or to numbers of tiles.
//! ends
//! use grid nan attention attention_bindings attention_walk
var<workgroup> k_tile: array<vec4f, TILE * CHUNKS>;
var<workgroup> v_tile: array<vec4f, TILE * VALUE_CHUNKS>;

fn k_chunk(at: u32, left: u32) -> vec4f {
  return k_tile[at / 4u];
}
fn v_chunk(at: u32) -> vec4f {
  return v_tile[at / 4u];
}

fn stage(first: u32, count: u32, k_base: u32, v_base: u32, lid: u32) {
  for (var i = lid; i < TILE * CHUNKS; i += WORKGROUP) {
    let c = i % CHUNKS;
    let key = first + min(i / CHUNKS, count - 1u);
    k_tile[i] = k_four(k_base + key * p.k.z + 4u * c, D - 4u * c);
  }
  for (var i = lid; i < TILE * VALUE_CHUNKS; i += WORKGROUP) {
    let key = first + min(i / VALUE_CHUNKS, count - 1u);
    v_tile[i] = v_four(v_base + key * p.v.z + 4u * (i % VALUE_CHUNKS));
  }
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let query_tiles = (p.queries + WORKGROUP - 1u) / WORKGROUP;
  let group = group_index(wid, nwg);
  let split = group % p.splits;
  let first_query = group / p.splits % query_tiles * WORKGROUP;
  let head = group / p.splits / query_tiles % p.heads;
  let batch = group / p.splits / query_tiles / p.heads;
  if (batch >= p.batches) {
    return;
  }
  let query = first_query + lid;
  let read_query = min(query, p.queries - 1u);  // threads that overhang help to copy
  let kv_head = head / p.heads_per_kv;
  let k_base = batch * p.k.x + kv_head * p.k.y;
  let v_base = batch * p.v.x + kv_head * p.v.y;
  let mask_base = batch * p.mask.x + head * p.mask.y + read_query * p.mask.z;
  let last_end = end_of(split, min(first_query + WORKGROUP, p.queries) - 1u);
  let end = end_of(split, read_query);

  var walk = Walk();
  begin_walk(&walk, batch, head, read_query);
  let start = split * p.split_keys;
  let tiles = (max(last_end, start) - start + TILE - 1u) / TILE;
  for (var tile = 0u; tile < tiles; tile++) {
    let first = start + tile * TILE;
    stage(first, min(TILE, last_end - first), k_base, v_base, lid);
    workgroupBarrier();
    let rounds = (min(first + TILE, max(end, first)) - first + 3u) / 4u;
    for (var round = 0u; round < rounds; round++) {
      let key = first + round * 4u;
      let wanted = vec4u(key, key + 1u, key + 2u, key + 3u);
      let keys = min(wanted, vec4u(end - 1u));
      let place = keys - first;
      take_keys(&walk, keys, wanted < vec4u(end), place * (CHUNKS * 4u), place * (VALUE_CHUNKS * 4u), mask_base);
    }
    workgroupBarrier();
  }
  if (query < p.queries) {
    end_walk(&walk, batch, head, query, split);
  }
}
