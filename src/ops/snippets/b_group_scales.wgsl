// The scales of four columns of 4-bit weights, in a group of k.
fn b_scales(column: u32, group: u32) -> vec4f {
  let first = group * p.scale_stride;
  let n = min(vec4u(column) + vec4u(0u, 1u, 2u, 3u), vec4u(p.width - 1u));
  if (B_SCALE_QUADS) {
    return b_scale_quad((first + n.x) / 4u);
  }
  return vec4f(b_scale_get(first + n.x), b_scale_get(first + n.y), b_scale_get(first + n.z), b_scale_get(first + n.w));
}
