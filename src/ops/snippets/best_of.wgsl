// The largest of what 256 threads have found, the first one if several are: a tree in workgroup memory, whose root is
// best[0] at place[0]. NOWHERE: a thread found nothing.
const SIZE = 256u;
const NOWHERE = 0xFFFFFFFFu;
var<workgroup> best: array<f32, SIZE>;
var<workgroup> place: array<u32, SIZE>;

fn pick_best(value: f32, at: u32, lid: u32) {
  best[lid] = value;
  place[lid] = at;
  workgroupBarrier();
  for (var step = SIZE / 2u; step > 0u; step /= 2u) {
    if (lid < step) {
      let o = lid + step;
      if (place[o] != NOWHERE &&
          (place[lid] == NOWHERE || best[o] > best[lid] || (best[o] == best[lid] && place[o] < place[lid]))) {
        best[lid] = best[o];
        place[lid] = place[o];
      }
    }
    workgroupBarrier();
  }
}
