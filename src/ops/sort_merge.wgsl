// Merges neighbouring runs of p.run ordered elements of each row. One thread per element: it goes as far back as its
// own run and the other one have elements in front of it. Of equal ones those of the first run come first.
//! use grid
struct Params {
  count: u32,
  length: u32,
  stride: u32,
  run: u32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<vec2u>;
@group(0) @binding(2) var<storage, read_write> y: array<vec2u>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let i = group_index(wid, nwg) * 64u + lid;
  if (i >= p.count) {
    return;
  }
  let start = i / p.length * p.length;
  let place = i - start;
  let mine = x[i];
  let run = place / p.run;
  let second = (run & 1u) != 0u;
  let other = select(run + 1u, run - 1u, second) * p.run;
  // How many of the other run come first.
  var low = min(other, p.length);
  var high = min(low + p.run, p.length);
  let begin = low;
  while (low < high) {
    let middle = low + (high - low) / 2u;
    let key = x[start + middle].x;
    if (key < mine.x || (key == mine.x && second)) {
      low = middle + 1u;
    } else {
      high = middle;
    }
  }
  let pair = (run & ~1u) * p.run;
  y[start + pair + (place - run * p.run) + (low - begin)] = mine;
}
