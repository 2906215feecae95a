// Where four neighbouring results of a convolution take their values for one tap of its filter. VOLUME: there is a third
// axis, z, in front of the others.
struct Spots {
  z: vec4i,
  y: vec4i,
  x: vec4i,
}

struct Sources {
  at: vec4u,           // in a plane of the image
  inside: vec4<bool>,  // false: padding
}

fn spots(column: u32) -> Spots {
  let i = vec4u(column) + vec4u(0u, 1u, 2u, 3u);
  let y = i / p.out_width;
  let x = i - y * p.out_width;
  if (VOLUME) {
    let z = y / p.out_height;
    return Spots(vec4i(z), vec4i(y - z * p.out_height), vec4i(x));
  }
  return Spots(vec4i(), vec4i(y), vec4i(x));
}

// One axis. TRANSPOSED: an input at i reaches the outputs i · stride − pad + tap · dilation.
fn axis_source(result: vec4i, tap: u32, stride: u32, pad: i32, dilation: i32) -> vec4i {
  if (TRANSPOSED) {
    let reached = result + vec4i(pad - i32(tap) * dilation);
    let i = reached / i32(stride);
    return select(vec4i(-1), i, (reached >= vec4i(0)) & (i * i32(stride) == reached));
  }
  return result * i32(stride) + vec4i(i32(tap) * dilation - pad);
}

fn within(at: vec4i, size: u32) -> vec4<bool> {
  return (at >= vec4i(0)) & (at < vec4i(i32(size)));
}

fn sources(at: Spots, section_y: u32, tap_x: u32) -> Sources {
  let tap_y = select(section_y, section_y % p.taps_y, VOLUME);
  let y = axis_source(at.y, tap_y, p.stride_y, p.pad_y, p.dilation_y);
  let x = axis_source(at.x, tap_x, p.stride_x, p.pad_x, p.dilation_x);
  var inside = within(y, p.in_height) & within(x, p.in_width);
  var row = vec4u(y);
  if (VOLUME) {
    let z = axis_source(at.z, section_y / p.taps_y, p.stride_z, p.pad_z, p.dilation_z);
    inside = inside & within(z, p.in_depth);
    row += vec4u(z) * p.in_height;
  }
  return Sources(select(vec4u(0u), row * p.in_width + vec4u(x), inside), inside);
}
