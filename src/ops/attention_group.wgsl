// Attention (snippets/attention.wgsl) with few queries, for GPUs: a workgroup has one (batch, HEADS heads that share their
// keys, query, split), which is one or a few tiles of SIZE / 4 keys. Sixteen neighbouring threads have the same four keys and read
// them side by side, four elements each; SIZE / 16 such groups make a tile. All loads of keys and values are under way before the
// first is used; how queries come, and a key that is not in memory yet, is up to snippets (attention_plain.wgsl,
// attention_turned.wgsl). Products are added up through workgroup memory; then each group goes on with its own maximum, sum and
// weighted values (online softmax), and only the end joins the groups. Loops count to constants or to p.tiles.
//! variadic
//! ends
//! use grid nan attention attention_join
const KEYS = 4u;  // of a group
const TILE = GROUPS * KEYS;
const SHARE = (CHUNKS + LANES - 1u) / LANES;  // chunks of a thread
const VALUE_SHARE = (VALUE_CHUNKS + LANES - 1u) / LANES;
var<workgroup> quarters: array<array<array<vec4f, 4u>, HEADS>, GROUPS>;

struct Online {
  top: array<f32, HEADS>,
  sum: array<f32, HEADS>,
  acc: array<vec4f, HEADS * VALUE_SHARE>,
}

// The scores of a group's keys: sixteen partial products each, added up in two steps.
fn add_products(products: array<vec4f, HEADS>, lid: u32) -> array<vec4f, HEADS> {
  let lane = lid % LANES;
  let group = lid / LANES;
  for (var h = 0u; h < HEADS; h++) {
    parts[h][group][lane] = products[h];
  }
  workgroupBarrier();
  if (lane < HEADS * 4u) {
    var four: array<vec4f, 4u>;
    for (var i = 0u; i < 4u; i++) {
      four[i] = parts[lane / 4u][group][lane % 4u * 4u + i];
    }
    quarters[group][lane / 4u][lane % 4u] = (four[0] + four[1]) + (four[2] + four[3]);
  }
  workgroupBarrier();
  var four: array<array<vec4f, 4u>, HEADS>;
  for (var h = 0u; h < HEADS; h++) {
    for (var i = 0u; i < 4u; i++) {
      four[h][i] = quarters[group][h][i];
    }
  }
  var out = array<vec4f, HEADS>();
  for (var h = 0u; h < HEADS; h++) {
    out[h] = (four[h][0] + four[h][1]) + (four[h][2] + four[h][3]);
  }
  return out;
}

// Column i of a matrix replaced where `which` says so.
fn replaced(m: mat4x4f, v: vec4f, which: vec4<bool>) -> mat4x4f {
  return mat4x4f(select(m[0], v, which.x), select(m[1], v, which.y), select(m[2], v, which.z), select(m[3], v, which.w));
}

@compute @workgroup_size(SIZE)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let index = group_index(wid, nwg);
  let split = index % p.splits;
  let query = index / p.splits % p.queries;
  let first_head = index / p.splits / p.queries % (p.heads / HEADS) * HEADS;
  let batch = index / p.splits / p.queries / (p.heads / HEADS);
  if (batch >= p.batches) {
    return;
  }
  let lane = lid % LANES;
  let kv_head = first_head / p.heads_per_kv;
  let k_base = batch * p.k.x + kv_head * p.k.y;
  let v_base = batch * p.v.x + kv_head * p.v.y;
  let mask_base = batch * p.mask.x + first_head * p.mask.y + query * p.mask.z;
  let end = end_of(split, query);

  // Chunks behind the last one count nothing, and are loaded from where there is one.
  var queries = array<vec4f, HEADS * SHARE>();
  var own_keys = array<vec4f, SHARE>();
  var own_values = array<vec4f, VALUE_SHARE>();
  for (var s = 0u; s < SHARE; s++) {
    let inside = s * LANES + lane < CHUNKS;
    let chunk = 4u * select(0u, s * LANES + lane, inside);
    let rotation = rotation_at(chunk);
    for (var h = 0u; h < HEADS; h++) {
      queries[h * SHARE + s] = select(vec4f(), query_four(batch, first_head + h, query, chunk, D - chunk, rotation), inside);
    }
    own_keys[s] = own_key(batch, kv_head, chunk, rotation);
  }
  for (var s = 0u; s < VALUE_SHARE; s++) {
    own_values[s] = own_value(batch, kv_head, 4u * min(s * LANES + lane, VALUE_CHUNKS - 1u));
  }

  var online = Online();
  for (var h = 0u; h < HEADS; h++) {
    online.top[h] = LOWEST;
  }
  for (var tile = 0u; tile < p.tiles; tile++) {
    let wanted = split * p.split_keys + tile * TILE + lid / LANES + vec4u(0u, GROUPS, 2u * GROUPS, 3u * GROUPS);
    let exists = wanted < vec4u(end);
    let keys = min(wanted, vec4u(max(end, 1u) - 1u));
    let own = keys == vec4u(p.offset);
    var values = array<mat4x4f, VALUE_SHARE>();
    var products = array<vec4f, HEADS>();
    for (var s = 0u; s < VALUE_SHARE; s++) {
      let at = v_base + keys * p.v.z + 4u * min(s * LANES + lane, VALUE_CHUNKS - 1u);
      values[s] = mat4x4f(v_four(at.x), v_four(at.y), v_four(at.z), v_four(at.w));
    }
    for (var s = 0u; s < SHARE; s++) {
      let chunk = 4u * (s * LANES + lane);
      let inside = chunk < D;
      let at = k_base + keys * p.k.z + select(0u, chunk, inside);
      let left = select(4u, D - chunk, inside);
      var k4 = mat4x4f(k_four(at.x, left), k_four(at.y, left), k_four(at.z, left), k_four(at.w, left));
      if (TURNED) {
        k4 = replaced(k4, own_keys[s], own);
      }
      for (var h = 0u; h < HEADS; h++) {
        products[h] += queries[h * SHARE + s] * k4;
      }
    }
    for (var s = 0u; s < VALUE_SHARE; s++) {
      if (TURNED) {
        values[s] = replaced(values[s], own_values[s], own);
      }
    }
    var scores = add_products(products, lid);
    for (var h = 0u; h < HEADS; h++) {
      if (HAS_MASK) {
        scores[h] += mask_of(mask_base + h * p.mask.y, keys);
      }
      let score = select(vec4f(LOWEST), scores[h], exists);
      let top = max(max(online.top[h], max(score.x, score.y)), max(score.z, score.w));
      let keep = exp(online.top[h] - top);
      let weight = select(vec4f(), weights(score - top), exists);
      online.top[h] = top;
      online.sum[h] = online.sum[h] * keep + dot(weight, vec4f(1.0));
      for (var s = 0u; s < VALUE_SHARE; s++) {
        online.acc[h * VALUE_SHARE + s] = online.acc[h * VALUE_SHARE + s] * keep + values[s] * weight;
      }
    }
  }

  if (TURNED && lid < LANES && first_head % p.heads_per_kv == 0u && split * p.split_keys <= p.offset && p.offset < end) {
    for (var s = 0u; s < SHARE; s++) {
      if (s * LANES + lane < CHUNKS) {
        keep_key(k_base, 4u * (s * LANES + lane), own_keys[s]);
      }
    }
    for (var s = 0u; s < VALUE_SHARE; s++) {
      if (s * LANES + lane < VALUE_CHUNKS) {
        keep_value(v_base, 4u * (s * LANES + lane), own_values[s]);
      }
    }
  }
  for (var s = 0u; s < VALUE_SHARE; s++) {
    workgroupBarrier();  // what was there has been read by all
    for (var h = 0u; h < HEADS; h++) {
      parts[h][lid / LANES][lane] = online.acc[h * VALUE_SHARE + s];
      if (lane == 0u) {
        statistics[h][lid / LANES] = vec2f(online.top[h], online.sum[h]);
      }
    }
    workgroupBarrier();
    let chunk = s * LANES + lane;
    if (lid < HEADS * LANES && chunk < VALUE_CHUNKS) {
      let head = lid / LANES;
      let joined = join(head, lane);
      put_four(batch, first_head + head, query, split, chunk, joined.value, joined.sum);
      if (chunk == 0u) {
        put_statistics(batch, first_head + head, query, split, joined.top, joined.sum);
      }
    }
  }
}
