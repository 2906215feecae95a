// Attention (snippets/attention.wgsl) with few queries, for GPUs: a workgroup of 64 threads has one (batch, head, query,
// split). For every 64 keys each thread makes the score of one; the workgroup finds their maximum and sum (online
// softmax), and each thread adds up its share of the values' elements.
//! use grid nan attention group_tree
const SHARE = (VALUE_D + SIZE - 1u) / SIZE;  // elements of the result per thread
var<workgroup> query_chunks: array<vec4f, CHUNKS>;
var<workgroup> scores: array<f32, SIZE>;

fn score_of(key: u32, k_base: u32, mask_at: u32) -> f32 {
  let at = k_base + key * p.k.z;
  var sum = 0.0;
  for (var c = 0u; c < CHUNKS; c++) {
    sum += dot(query_chunks[c], k_four(at + 4u * c, D - 4u * c));
  }
  if (HAS_MASK) {
    sum += mask_get(mask_at + key * p.mask.w);
  }
  return sum;
}

@compute @workgroup_size(SIZE)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let group = group_index(wid, nwg);
  let split = group % p.splits;
  let query = group / p.splits % p.queries;
  let head = group / p.splits / p.queries % p.heads;
  let batch = group / p.splits / p.queries / p.heads;
  if (batch >= p.batches) {
    return;
  }
  let q_base = batch * p.q.x + head * p.q.y + query * p.q.z;
  for (var c = lid; c < CHUNKS; c += SIZE) {
    var chunk = vec4f();
    for (var i = 0u; i < min(4u, D - 4u * c); i++) {
      chunk[i] = q_get(q_base + 4u * c + i) * p.scale;
    }
    query_chunks[c] = chunk;
  }
  workgroupBarrier();
  let kv_head = head / p.heads_per_kv;
  let k_base = batch * p.k.x + kv_head * p.k.y;
  let v_base = batch * p.v.x + kv_head * p.v.y;
  let mask_at = batch * p.mask.x + head * p.mask.y + query * p.mask.z;
  let end = end_of(split, query);

  var top = LOWEST;
  var sum = 0.0;
  var acc = array<f32, SHARE>();
  for (var first = split * p.split_keys; first < end; first += SIZE) {
    let key = first + lid;
    var score = LOWEST;
    if (key < end) {
      score = score_of(key, k_base, mask_at);
    }
    let new_top = max(top, largest(score, lid));
    let keep = exp(top - new_top);
    top = new_top;
    var weight = 0.0;
    if (key < end) {
      weight = weights(vec4f(score - new_top)).x;
    }
    scores[lid] = weight;
    sum = sum * keep + total(weight, lid);
    for (var s = 0u; s < SHARE; s++) {
      let d = min(s * SIZE + lid, VALUE_D - 1u);
      var value = acc[s] * keep;
      for (var i = 0u; i < min(SIZE, end - first); i++) {
        value += scores[i] * v_get(v_base + (first + i) * p.v.z + d);
      }
      acc[s] = value;
    }
  }
  if (lid == 0u) {
    put_statistics(batch, head, query, split, top, sum);
  }
  for (var d = lid; d < VALUE_D; d += SIZE) {
    put_value(batch, head, query, split, d, acc[d / SIZE], sum);
  }
}
