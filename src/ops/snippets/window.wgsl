// Windows that slide over volumes [.., D, H, W], the parameters `p` of a kernel. Images have a depth of 1, lines a height
// of 1 too. Triples are (depth, height, width); their fourth number means nothing.
struct Window {
  count: u32,  // of output elements
  number: f32,  // what else the kernel needs
  pad0: u32,
  pad1: u32,
  size: vec4u,  // of an input volume
  out: vec4u,
  kernel: vec4u,
  stride: vec4u,
  padding: vec4u,
  dilation: vec4u,
}
// Where the input volume of output element i starts.
fn window_volume(i: u32) -> u32 {
  return i / (p.out.x * p.out.y * p.out.z) * (p.size.x * p.size.y * p.size.z);
}
// The place of output element i.
fn window_place(i: u32) -> vec3u {
  let row = i / p.out.z;
  return vec3u(row / p.out.y % p.out.x, row % p.out.y, i % p.out.z);
}
// The first position of its window, which may lie in the padding.
fn window_first(place: vec3u) -> vec3i {
  return vec3i(place * p.stride.xyz) - vec3i(p.padding.xyz);
}
