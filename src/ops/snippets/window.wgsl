// Windows that slide over planes [.., H, W], the parameters `p` of a kernel. Pairs are (height, width).
struct Window {
  count: u32,  // of output elements
  number: f32,  // what else the kernel needs
  size: vec2u,  // of an input plane
  out: vec2u,
  kernel: vec2u,
  stride: vec2u,
  padding: vec2u,
  dilation: vec2u,
}
// Where the input plane of output element i starts.
fn window_plane(i: u32) -> u32 {
  return i / (p.out.x * p.out.y) * (p.size.x * p.size.y);
}
// The first position of its window, which may lie in the padding.
fn window_first(i: u32) -> vec2i {
  let at = vec2u((i / p.out.y) % p.out.x, i % p.out.y);
  return vec2i(at * p.stride) - vec2i(p.padding);
}
