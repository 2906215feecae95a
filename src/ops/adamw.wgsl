// One step of AdamW, in place. One thread per element.
//! use grid
struct Params {
  count: u32,
  rate: f32,
  beta1: f32,
  beta2: f32,
  eps: f32,
  keep: f32,         // 1 − rate · weight decay
  correction1: f32,  // 1 − beta1 ^ step
  correction2: f32,
  gain1: f32,        // 1 − beta1
  gain2: f32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> value: array<value_store>;
@group(0) @binding(2) var<storage, read_write> m: array<m_store>;
@group(0) @binding(3) var<storage, read_write> v: array<v_store>;
@group(0) @binding(4) var<storage, read> grad: array<grad_store>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let i = group_index(wid, nwg) * 64u + lid;
  if (i >= p.count) {
    return;
  }
  let g = grad_get(i);
  let mean = m_get(i) * p.beta1 + g * p.gain1;
  let square = v_get(i) * p.beta2 + g * g * p.gain2;
  let step = mean / p.correction1 / (sqrt(square / p.correction2) + p.eps);
  m[i] = m_store(mean);
  v[i] = v_store(square);
  value[i] = value_store(value_get(i) * p.keep - p.rate * step);
}
