// Distances between rows of a and rows of b, in batches: the p-norm of their difference. One thread per distance. PAIRS:
// a and b are one, and of its pairs only those with a smaller first row count, in order. NORM: 0 counts elements that
// differ, 1 and 2 are the usual norms, 3 is the largest difference, 4 any other power p.power.
//! use grid nan
struct Params {
  count: u32,
  a_rows: u32,
  b_rows: u32,
  width: u32,
  power: f32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> a: array<a_store>;
@group(0) @binding(2) var<storage, read> b: array<b_store>;
@group(0) @binding(3) var<storage, read_write> y: array<y_store>;

// The rows of pair i: row r has a_rows − 1 − r pairs. Found by halving, for the product is exact and a root is not.
fn pair_of(i: u32) -> vec2u {
  var low = 0u;
  var high = p.a_rows;
  while (high - low > 1u) {
    let middle = (low + high) / 2u;
    if (pairs_before(middle) <= i) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return vec2u(low, low + 1u + i - pairs_before(low));
}
fn pairs_before(row: u32) -> u32 {
  return row * (p.a_rows - 1u) - row * (row - min(row, 1u)) / 2u;
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let i = group_index(wid, nwg) * 64u + lid;
  if (i >= p.count) {
    return;
  }
  var rows = vec2u(i / p.b_rows, i / (p.a_rows * p.b_rows) * p.b_rows + i % p.b_rows);
  if (PAIRS) {
    rows = pair_of(i);
  }
  var total = 0.0;
  for (var k = 0u; k < p.width; k++) {
    let d = abs(a_get(rows.x * p.width + k) - b_get(rows.y * p.width + k));
    if (NORM == 0u) {
      total += select(1.0, 0.0, d == 0.0);
    } else if (NORM == 1u) {
      total += d;
    } else if (NORM == 2u) {
      total += d * d;
    } else if (NORM == 3u) {
      total = select(max(total, d), d, is_nan(d) || is_nan(total));
    } else {
      total += select(pow(d, p.power), 0.0, d == 0.0);
    }
  }
  if (NORM == 2u) {
    total = sqrt(total);
  } else if (NORM == 4u) {
    total = select(pow(total, 1.0 / p.power), 0.0, total == 0.0);
  }
  y[i] = y_store(total);
}
