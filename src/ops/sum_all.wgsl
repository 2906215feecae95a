// y = Σ x, by one workgroup whose threads stride over x.
struct Params { count: u32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<y_store>;

const SIZE = 64u;
var<workgroup> partial: array<f32, SIZE>;

@compute @workgroup_size(SIZE)
fn main(@builtin(local_invocation_index) lid: u32) {
  var sum = 0.0;
  for (var i = lid; i < p.count; i += SIZE) {
    sum += x[i];
  }
  partial[lid] = sum;
  workgroupBarrier();
  for (var span = SIZE / 2u; span > 0u; span /= 2u) {
    if (lid < span) {
      partial[lid] += partial[lid + span];
    }
    workgroupBarrier();
  }
  if (lid == 0u) {
    y[0] = y_store(partial[0]);
  }
}
