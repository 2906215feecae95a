// A walk through a tensor: element i of a row-major space of sizes p.dims lies at walk_base + Σ coordinate · stride,
// modulo 2³². Axes are listed innermost first, AXIS_VECTORS · 4 of them at most, p.rank (at least 1) of them in use.
// p.inverses holds what `divide` needs; p.strides holds a list for each tensor that is walked through.
fn walk_row(list: u32, row: u32) -> u32 {
  var rest = row;
  var offset = walk_base(list);
  for (var axis = 1u; axis < p.rank; axis++) {
    let parts = divide(rest, p.dims[axis / 4u][axis % 4u], p.inverses[axis / 4u][axis % 4u]);
    offset += parts.y * p.strides[list * AXIS_VECTORS + axis / 4u][axis % 4u];
    rest = parts.x;
  }
  return offset;
}

// The step from one element of a row to the next.
fn walk_step(list: u32) -> u32 {
  return p.strides[list * AXIS_VECTORS].x;
}

fn walk(list: u32, i: u32) -> u32 {
  let parts = divide(i, p.dims[0].x, p.inverses[0].x);
  return walk_row(list, parts.x) + parts.y * walk_step(list);
}

// Where elements first … first + 3 lie.
fn walk4(list: u32, first: u32) -> vec4u {
  let size = p.dims[0].x;
  let step = walk_step(list);
  var parts = divide(first, size, p.inverses[0].x);
  var start = walk_row(list, parts.x);
  var at = vec4u(start + parts.y * step);
  for (var k = 1u; k < 4u; k++) {
    parts.y++;
    if (parts.y == size) {
      parts = vec2u(parts.x + 1u, 0u);
      start = walk_row(list, parts.x);
    }
    at[k] = start + parts.y * step;
  }
  return at;
}
