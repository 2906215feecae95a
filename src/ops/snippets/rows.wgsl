// Rows of a tensor whose elements are joined to one State each. The kernel gives
//   alias State, fn nothing(phase) -> State, fn join(phase, a, b) -> State and
//   fn visit(phase, at, i, pivot) -> State: what element i of the row, which is element `at` of the tensor, contributes.
// `phase` tells several reductions of one row apart; `pivot` is what an earlier one found. The specialisation adds
// ACROSS and ALONG (numbers of axes), LANES (threads per row) and one of the snippets row_per_thread, row_per_group.
struct RowAxes {
  sizes: vec4u,  // innermost first
  strides: vec4u,
}
struct Rows {
  count: u32,
  length: u32,
  pad0: u32,
  pad1: u32,
  across: RowAxes,
  along: RowAxes,
}

fn row_walk(axes: RowAxes, count: u32, i: u32) -> u32 {
  var at = 0u;
  var rest = i;
  for (var d = 0u; d + 1u < count; d++) {
    at += (rest % axes.sizes[d]) * axes.strides[d];
    rest /= axes.sizes[d];
  }
  return select(at, at + rest * axes.strides[max(count, 1u) - 1u], count > 0u);
}
// Where a row starts.
fn row_start(row: u32) -> u32 {
  return row_walk(p.rows.across, ACROSS, row);
}
// Where its element i is, from there.
fn row_offset(i: u32) -> u32 {
  return row_walk(p.rows.along, ALONG, i);
}

// Long sums are sums of blocks of blocks: rounding errors grow with the depth, not with the length.
const BLOCK = 64u * LANES;
fn reduce_row(phase: u32, start: u32, pivot: f32, lid: u32) -> State {
  let length = p.rows.length;
  var total = nothing(phase);
  for (var a = row_lane(lid); a < length; a += 64u * BLOCK) {
    var outer = nothing(phase);
    for (var b = a; b < min(length, a + 64u * BLOCK); b += BLOCK) {
      var inner = nothing(phase);
      let end = min(length, b + BLOCK);
      for (var i = b; i < end; i += 4u * LANES) {
        inner = join(phase, inner, visit(phase, start + row_offset(i), i, pivot));
        if (i + LANES < end) {
          inner = join(phase, inner, visit(phase, start + row_offset(i + LANES), i + LANES, pivot));
        }
        if (i + 2u * LANES < end) {
          inner = join(phase, inner, visit(phase, start + row_offset(i + 2u * LANES), i + 2u * LANES, pivot));
        }
        if (i + 3u * LANES < end) {
          inner = join(phase, inner, visit(phase, start + row_offset(i + 3u * LANES), i + 3u * LANES, pivot));
        }
      }
      outer = join(phase, outer, inner);
    }
    total = join(phase, total, outer);
  }
  return row_total(phase, total, lid);
}
