// Attention (snippets/attention.wgsl) where loads are dear and lanes can hand each other values: software adapters, whose
// subgroups have at least four lanes. Four neighbouring lanes are a team: it has one (batch, HEADS heads that share their
// keys, query, split) and walks its keys once, four at a time. A lane has SHARE chunks of four elements that lie side by side,
// of queries, keys and results: nothing is loaded twice, and eight lanes wait for as many lines of memory at once. Products are
// added up by broadcasts. While a tile of keys is computed, the next one is on its way: a load of one element, for which a
// software adapter needs few instructions, touches each of its lines. A workgroup is two teams, in one subgroup or in two. How
// queries come, and a key that is not in memory yet, is up to snippets (attention_plain.wgsl, attention_turned.wgsl).
//! enable subgroups
//! variadic
//! ends
//! use grid nan attention
const LOWEST = -3.4028234663852886e38;
const TEAM = 4u;
const SHARE = (CHUNKS + TEAM - 1u) / TEAM;  // chunks of a lane
const VALUE_SHARE = (VALUE_CHUNKS + TEAM - 1u) / TEAM;
const LINES = (CHUNKS + LINE - 1u) / LINE;  // of a key, LINE chunks each
const VALUE_LINES = (VALUE_CHUNKS + LINE - 1u) / LINE;

struct Place {
  batch: u32,
  first_head: u32,
  query: u32,
  split: u32,
  start: u32,  // its keys
  end: u32,
}
fn place_of(index: u32) -> Place {
  let groups = p.heads / HEADS;
  let first_head = index % groups * HEADS;
  let split = index / groups % p.splits;
  let query = index / groups / p.splits % p.queries;
  let batch = index / groups / p.splits / p.queries;
  return Place(batch, first_head, query, split, split * p.split_keys, end_of(split, query));
}
// Four keys each.
fn tiles_of(at: Place) -> u32 {
  return (max(at.end, at.start) - at.start + 3u) / 4u;
}

// Which lane of which team this is.
struct Member {
  lane: u32,
  second: bool,    // the second team
  together: bool,  // both teams are in one subgroup
}
// Of the second team nothing counts where it is in another subgroup; but all lanes must ask.
fn team_sum(v: vec4f, member: Member) -> vec4f {
  let first = (subgroupBroadcast(v, 0u) + subgroupBroadcast(v, 1u)) + (subgroupBroadcast(v, 2u) + subgroupBroadcast(v, 3u));
  let second = (subgroupBroadcast(v, 4u) + subgroupBroadcast(v, 5u)) + (subgroupBroadcast(v, 6u) + subgroupBroadcast(v, 7u));
  return select(first, second, member.second && member.together);
}

// Loads an element of each line of four keys, and of their values.
fn touch(at: Place, tile: u32, k_base: u32, v_base: u32, lane: u32) -> f32 {
  let last = max(at.end, 1u) - 1u;
  var out = 0.0;
  for (var i = 0u; i < LINES; i++) {
    let line = i * TEAM + lane;
    let key = min(at.start + tile + line / LINES, last);
    out = max(out, f32(k_get(k_base + key * p.k.z + line % LINES * (4u * LINE))));
  }
  for (var i = 0u; i < VALUE_LINES; i++) {
    let line = i * TEAM + lane;
    let key = min(at.start + tile + line / VALUE_LINES, last);
    out = max(out, f32(v_get(v_base + key * p.v.z + line % VALUE_LINES * (4u * LINE))));
  }
  return out;
}

// Column i of a matrix replaced where `which` says so.
fn replaced(m: mat4x4f, v: vec4f, which: vec4<bool>) -> mat4x4f {
  return mat4x4f(select(m[0], v, which.x), select(m[1], v, which.y), select(m[2], v, which.z), select(m[3], v, which.w));
}

@compute @workgroup_size(8)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32,
        @builtin(subgroup_invocation_id) own: u32, @builtin(subgroup_size) lanes: u32) {
  let first = group_index(wid, nwg) * 2u;
  if (first >= p.count) {
    return;
  }
  let together = lanes >= 8u;
  let member = Member(own % TEAM, select(lid, own, together) >= TEAM, together);
  // A last team without work does that of the other one, and keeps it to itself.
  let second = min(first + 1u, p.count - 1u);
  let tiles = max(tiles_of(place_of(first)), tiles_of(place_of(second)));
  let at = place_of(select(first, second, member.second));
  let writes = !member.second || second != first;
  let kv_head = at.first_head / p.heads_per_kv;
  let k_base = at.batch * p.k.x + kv_head * p.k.y;
  let v_base = at.batch * p.v.x + kv_head * p.v.y;
  let mask_base = at.batch * p.mask.x + at.first_head * p.mask.y + at.query * p.mask.z;

  // Chunks behind the last one count nothing, and are loaded from where there is one.
  var queries = array<vec4f, HEADS * SHARE>();
  var own_keys = array<vec4f, SHARE>();
  var own_values = array<vec4f, VALUE_SHARE>();
  for (var s = 0u; s < SHARE; s++) {
    let inside = member.lane * SHARE + s < CHUNKS;
    let chunk = 4u * select(0u, member.lane * SHARE + s, inside);
    let rotation = rotation_at(chunk);
    for (var h = 0u; h < HEADS; h++) {
      queries[h * SHARE + s] =
          select(vec4f(), query_four(at.batch, at.first_head + h, at.query, chunk, D - chunk, rotation), inside);
    }
    own_keys[s] = own_key(at.batch, kv_head, chunk, rotation);
  }
  for (var s = 0u; s < VALUE_SHARE; s++) {
    own_values[s] = own_value(at.batch, kv_head, 4u * min(member.lane * VALUE_SHARE + s, VALUE_CHUNKS - 1u));
  }

  var top = array<f32, HEADS>();
  var sum = array<f32, HEADS>();
  var acc = array<vec4f, HEADS * VALUE_SHARE>();
  for (var h = 0u; h < HEADS; h++) {
    top[h] = LOWEST;
  }
  let least = f32(p.splits);
  var touched = least;
  for (var tile = 0u; tile < tiles; tile++) {
    let wanted = at.start + 4u * tile + vec4u(0u, 1u, 2u, 3u);
    let exists = wanted < vec4u(at.end);
    let keys = min(wanted, vec4u(max(at.end, 1u) - 1u));
    let is_own = keys == vec4u(p.offset);
    touched = max(touched, touch(at, 4u * tile + 4u, k_base, v_base, member.lane));
    var weight = array<vec4f, HEADS>();
    for (var s = 0u; s < SHARE; s++) {
      let chunk = 4u * (member.lane * SHARE + s);
      let inside = chunk < D;
      let place = k_base + keys * p.k.z + select(0u, chunk, inside);
      let left = select(4u, D - chunk, inside);
      var k4 = mat4x4f(k_four(place.x, left), k_four(place.y, left), k_four(place.z, left), k_four(place.w, left));
      if (TURNED) {
        k4 = replaced(k4, own_keys[s], is_own);
      }
      for (var h = 0u; h < HEADS; h++) {
        weight[h] += select(vec4f(), queries[h * SHARE + s] * k4, inside);  // 0 times infinity would be NaN
      }
    }
    var keep = array<f32, HEADS>();
    for (var h = 0u; h < HEADS; h++) {
      var score = team_sum(weight[h], member);
      if (HAS_MASK) {
        score += mask_of(mask_base + h * p.mask.y, keys);
      }
      score = select(vec4f(LOWEST), score, exists);
      let new_top = max(max(top[h], max(score.x, score.y)), max(score.z, score.w));
      keep[h] = exp(top[h] - new_top);
      weight[h] = select(vec4f(), weights(score - new_top), exists);
      sum[h] = sum[h] * keep[h] + dot(weight[h], vec4f(1.0));
      top[h] = new_top;
    }
    for (var s = 0u; s < VALUE_SHARE; s++) {
      let place = v_base + keys * p.v.z + 4u * min(member.lane * VALUE_SHARE + s, VALUE_CHUNKS - 1u);
      var v4 = mat4x4f(v_four(place.x), v_four(place.y), v_four(place.z), v_four(place.w));
      if (TURNED) {
        v4 = replaced(v4, own_values[s], is_own);
      }
      for (var h = 0u; h < HEADS; h++) {
        acc[h * VALUE_SHARE + s] = acc[h * VALUE_SHARE + s] * keep[h] + v4 * weight[h];
      }
    }
  }

  if (!writes || touched < least) {  // it never is, which compilers don't know
    return;
  }
  if (TURNED && at.first_head % p.heads_per_kv == 0u && at.start <= p.offset && p.offset < at.end) {
    for (var s = 0u; s < SHARE; s++) {
      if (member.lane * SHARE + s < CHUNKS) {
        keep_key(k_base, 4u * (member.lane * SHARE + s), own_keys[s]);
      }
    }
    for (var s = 0u; s < VALUE_SHARE; s++) {
      if (member.lane * VALUE_SHARE + s < VALUE_CHUNKS) {
        keep_value(v_base, 4u * (member.lane * VALUE_SHARE + s), own_values[s]);
      }
    }
  }
  for (var h = 0u; h < HEADS; h++) {
    if (member.lane == 0u) {
      put_statistics(at.batch, at.first_head + h, at.query, at.split, top[h], sum[h]);
    }
    for (var s = 0u; s < VALUE_SHARE; s++) {
      if (member.lane * VALUE_SHARE + s < VALUE_CHUNKS) {
        put_four(at.batch, at.first_head + h, at.query, at.split, member.lane * VALUE_SHARE + s, acc[h * VALUE_SHARE + s], sum[h]);
      }
    }
  }
}
