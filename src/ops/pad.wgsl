// y is x between margins: coordinate c along an axis is c − low in x. Where that is outside of the axis's window, MARGIN
// says what is there: a constant, what lies as far on the other side of the edge, the edge itself, or, around the other
// end, x again. One thread for four neighbours of y.
//! use grid divide
struct Params {
  count: u32,
  rank: u32,
  value: y_val,
  pad: u32,
  dims: array<vec4u, 2>,
  inverses: array<vec4u, 2>,
  strides: array<vec4u, 2>,
  lows: array<vec4u, 2>,
  windows: array<vec4u, 2>,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<x_store>;
@group(0) @binding(2) var<storage, read_write> y: array<y_store>;

const MIRROR = 1u;
const EDGE = 2u;
const WRAP = 3u;

// The coordinate in x; beyond the window only if there is a constant.
fn source(c: u32, low: u32, window: u32) -> u32 {
  let at = i32(c - low);
  let last = i32(window) - 1;
  if (MARGIN == MIRROR) {
    return u32(last - abs(last - abs(at)));
  }
  if (MARGIN == EDGE) {
    return u32(clamp(at, 0, last));
  }
  return u32(select(at, at + last + 1, MARGIN == WRAP && at < 0));
}

// Where a row of y begins in x, and how long it is there.
fn row_in_x(row: u32) -> vec2u {
  var rest = row;
  var offset = 0u;
  var inside = true;
  for (var axis = 1u; axis < p.rank; axis++) {
    let parts = divide(rest, p.dims[axis / 4u][axis % 4u], p.inverses[axis / 4u][axis % 4u]);
    let window = p.windows[axis / 4u][axis % 4u];
    let at = source(parts.y, p.lows[axis / 4u][axis % 4u], window);
    inside = inside && at < window;
    offset += at * p.strides[axis / 4u][axis % 4u];
    rest = parts.x;
  }
  return vec2u(offset, select(0u, p.windows[0].x, inside));
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let q = group_index(wid, nwg) * 64u + lid;
  if (q * 4u >= p.count) {
    return;
  }
  var parts = divide(q * 4u, p.dims[0].x, p.inverses[0].x);
  var row = row_in_x(parts.x);
  var v = vec4<y_val>(p.value);
  for (var k = 0u; k < 4u; k++) {
    let at = source(parts.y, p.lows[0].x, p.windows[0].x);
    if (at < row.y) {
      v[k] = x_get(row.x + at);
    }
    parts.y++;
    if (parts.y == p.dims[0].x) {
      parts = vec2u(parts.x + 1u, 0u);
      row = row_in_x(parts.x);
    }
  }
  y_put(q, v);
}
