// A thread's walk over keys, four at a time, for HEADS heads that share them, with running maxima, sums and weighted
// values (online softmax). The kernel gives k_chunk and v_chunk: four elements of a key or value that starts at `at`.
const LOWEST = -3.4028234663852886e38;

struct Walk {
  q: array<vec4f, HEADS * CHUNKS>,
  top: array<f32, HEADS>,
  sum: array<f32, HEADS>,
  acc: array<vec4f, HEADS * VALUE_CHUNKS>,
}

fn begin_walk(walk: ptr<function, Walk>, batch: u32, first_head: u32, query: u32) {
  for (var h = 0u; h < HEADS; h++) {
    let base = batch * p.q.x + (first_head + h) * p.q.y + query * p.q.z;
    for (var d = 0u; d < D; d++) {
      (*walk).q[h * CHUNKS + d / 4u][d % 4u] = q_get(base + d) * p.scale;
    }
    (*walk).top[h] = LOWEST;
  }
}

// Keys `keys`, of which those that exist count; they and their values start at k_at and v_at.
fn take_keys(walk: ptr<function, Walk>, keys: vec4u, exists: vec4<bool>, k_at: vec4u, v_at: vec4u, mask_base: u32) {
  var scores = array<vec4f, HEADS>();
  for (var c = 0u; c < CHUNKS; c++) {
    let at = k_at + 4u * c;
    let left = D - 4u * c;
    let k4 = mat4x4f(k_chunk(at.x, left), k_chunk(at.y, left), k_chunk(at.z, left), k_chunk(at.w, left));
    for (var h = 0u; h < HEADS; h++) {
      scores[h] += (*walk).q[h * CHUNKS + c] * k4;
    }
  }
  var weight = array<vec4f, HEADS>();
  var keep = array<f32, HEADS>();
  for (var h = 0u; h < HEADS; h++) {
    if (HAS_MASK) {
      let at = mask_base + h * p.mask.y + keys * p.mask.w;
      scores[h] += vec4f(mask_get(at.x), mask_get(at.y), mask_get(at.z), mask_get(at.w));
    }
    let s = select(vec4f(LOWEST), scores[h], exists);
    let top = (*walk).top[h];
    let new_top = max(max(top, max(s.x, s.y)), max(s.z, s.w));
    keep[h] = exp(top - new_top);
    weight[h] = select(vec4f(), weights(s - new_top), exists);
    (*walk).sum[h] = (*walk).sum[h] * keep[h] + weight[h].x + weight[h].y + weight[h].z + weight[h].w;
    (*walk).top[h] = new_top;
  }
  for (var c = 0u; c < VALUE_CHUNKS; c++) {
    let at = v_at + 4u * c;
    let v4 = mat4x4f(v_chunk(at.x), v_chunk(at.y), v_chunk(at.z), v_chunk(at.w));
    for (var h = 0u; h < HEADS; h++) {
      (*walk).acc[h * VALUE_CHUNKS + c] = (*walk).acc[h * VALUE_CHUNKS + c] * keep[h] + v4 * weight[h];
    }
  }
}

fn end_walk(walk: ptr<function, Walk>, batch: u32, first_head: u32, query: u32, split: u32) {
  for (var h = 0u; h < HEADS; h++) {
    put_statistics(batch, first_head + h, query, split, (*walk).top[h], (*walk).sum[h]);
    for (var d = 0u; d < VALUE_D; d++) {
      put_value(batch, first_head + h, query, split, d, (*walk).acc[h * VALUE_CHUNKS + d / 4u][d % 4u], (*walk).sum[h]);
    }
  }
}
