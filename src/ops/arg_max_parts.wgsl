// The largest element of each part of one row, the first one if several are, for GPUs: a workgroup has 1,024 neighbouring
// elements, a thread four of them. Writes its value and index; arg_max_join picks from those.
//! ends
//! use grid best_of
struct Params { first: u32, width: u32, parts: u32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<x_store>;
@group(0) @binding(2) var<storage, read_write> y: array<vec2u>;

@compute @workgroup_size(SIZE)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let part = group_index(wid, nwg);
  if (part >= p.parts) {
    return;
  }
  let i = part * 4u * SIZE + lid + vec4u(0u, SIZE, 2u * SIZE, 3u * SIZE);
  let last = p.width - 1u;
  let at = p.first + min(i, vec4u(last));
  let v = vec4f(f32(x_get(at.x)), f32(x_get(at.y)), f32(x_get(at.z)), f32(x_get(at.w)));
  var value = v.x;
  var found = select(NOWHERE, i.x, i.x <= last);
  for (var c = 1u; c < 4u; c++) {
    if (i[c] <= last && v[c] > value) {
      value = v[c];
      found = i[c];
    }
  }
  pick_best(value, found, lid);
  if (lid == 0u) {
    y[part] = vec2u(bitcast<u32>(best[0]), place[0]);
  }
}
