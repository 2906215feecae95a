// Where four neighbouring results of a convolution take their values for one tap of its filter.
struct Spots {
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
  return Spots(vec4i(y), vec4i(i - y * p.out_width));
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

fn sources(at: Spots, tap_y: u32, tap_x: u32) -> Sources {
  let y = axis_source(at.y, tap_y, p.stride_y, p.pad_y, p.dilation_y);
  let x = axis_source(at.x, tap_x, p.stride_x, p.pad_x, p.dilation_x);
  let inside = (y >= vec4i(0)) & (x >= vec4i(0)) & (y < vec4i(i32(p.in_height))) & (x < vec4i(i32(p.in_width)));
  return Sources(select(vec4u(0u), vec4u(y) * p.in_width + vec4u(x), inside), inside);
}
