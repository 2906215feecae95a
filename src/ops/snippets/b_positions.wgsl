// B's columns are the positions of a convolution's result, its k the channels of an image that conv_positions.wgsl has
// laid out: channels last, margins included, four channels of a position in one load. Places count quads; p.b_step is
// how many a position has. VOLUME: there is a third axis, z, in front of the others.
alias BPlace = vec4u;
alias BColumns = vec4u;

fn b_place(batch: u32, column: u32) -> BPlace {
  let i = min(vec4u(column) + vec4u(0u, 1u, 2u, 3u), vec4u(p.columns - 1u));
  let line = i / p.out_width;
  var y = line * p.stride_y;
  if (VOLUME) {
    let z = line / p.out_height;
    y = z * (p.stride_z * p.in_height) + (line - z * p.out_height) * p.stride_y;
  }
  let x = (i - line * p.out_width) * p.stride_x;
  return vec4u(batch * p.b_batch) + (y * p.in_width + x) * p.b_step;
}

fn b_begin(place: BPlace, section_y: u32, tap_x: u32) -> BColumns {
  var y = section_y * u32(p.dilation_y);
  if (VOLUME) {
    y = section_y / p.taps_y * u32(p.dilation_z) * p.in_height + section_y % p.taps_y * u32(p.dilation_y);
  }
  return place + vec4u((y * p.in_width + tap_x * u32(p.dilation_x)) * p.b_step);
}

fn b_load(at: BColumns, step: u32) -> Block {
  let i = at + vec4u(step);
  return transposed(Block(V4(b_quad(i.x)), V4(b_quad(i.y)), V4(b_quad(i.z)), V4(b_quad(i.w))));
}
