// A convolution whose filters look at one channel each (depth 1), where loads are dear: software adapters. A thread makes a
// strip, eight neighbours in a line of one channel's results. What a tap looks at is what the tap in front of it looked
// at, moved by a pixel, so that it takes one new value for all eight. The last strip of a line lies over the one in front
// of it and makes the same numbers. APART: the stride along x, 1 or 2; there is no dilation along x.
//! variadic
//! use grid gemm
const STRIP = 8u;
struct Strip {
  low: V4,
  high: V4,
}
struct Line {
  at: u32,  // its first pixel
  inside: bool,
}

fn line_of(batch: u32, y: i32) -> Line {
  let inside = (y >= 0) & (y < i32(p.in_height));
  return Line(batch * p.b_batch + select(0u, u32(y), inside) * p.in_width, inside);
}

// Without &&, which branches: SwiftShader's compiler takes twice as long for each branch in a row, and 25 pixels never end.
fn pixel(line: Line, x: i32) -> V {
  let inside = line.inside & (x >= 0) & (x < i32(p.in_width));
  return select(V(), V(b_get(line.at + select(0u, u32(x), inside))), inside);
}

fn four_pixels(line: Line, x: i32) -> V4 {
  let next = i32(APART);
  return V4(pixel(line, x), pixel(line, x + next), pixel(line, x + 2 * next), pixel(line, x + 3 * next));
}

fn strip_at(line: Line, x: i32) -> Strip {
  return Strip(four_pixels(line, x), four_pixels(line, x + 4 * i32(APART)));
}

fn moved(strip: Strip, last: V) -> Strip {
  return Strip(V4(strip.low.yzw, strip.high.x), V4(strip.high.yzw, last));
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let strips = (p.out_width + STRIP - 1u) / STRIP;
  let index = group_index(wid, nwg) * 64u + lid;
  let line_index = index / strips;
  let plane = line_index / p.out_height;
  let batch = plane / p.rows;
  if (batch >= p.batches) {
    return;
  }
  let row = plane - batch * p.rows;
  let out_y = line_index - plane * p.out_height;
  let out_x = min((index - line_index * strips) * STRIP, p.out_width - STRIP);
  let x = i32(out_x * APART) - p.pad_x;
  var low: V4;
  var high: V4;
  for (var sy = 0u; sy < p.sections_y; sy++) {
    let line = line_of(batch, i32(out_y * p.stride_y) + i32(sy) * p.dilation_y - p.pad_y);
    var strip = strip_at(line, x);
    var between: Strip;  // the pixels that a stride of 2 leaves out
    if (APART == 2u) {
      between = strip_at(line, x + 1);
    }
    for (var sx = 0u; sx < p.sections_x; sx++) {
      let weight = a_one(a_begin(batch, row, section_of(sy, sx)), 0u);
      low += strip.low * weight;
      high += strip.high * weight;
      let next = moved(strip, pixel(line, x + i32(STRIP * APART + sx)));
      if (APART == 2u) {
        strip = between;
        between = next;
      } else {
        strip = next;
      }
    }
  }
  let column = out_y * p.out_width + out_x;
  put(batch, row, column, low);
  put(batch, row, column + 4u, high);
}
