// A 4-bit linear (snippets/q4_linear.wgsl) in registers: one thread computes TM rows of a lane. It walks the depth
// once, a word (eight k) of each column at a time, and scales each group's partial sum. No barrier, no workgroup memory:
// what counts is that x and the unpacked weights are reused in registers. x is a uniform where only one row is read.
//! variadic
//! use grid q4_linear
alias Tile = array<vec4f, TM>;

fn squares_of_x() -> f32 {
  var sum = 0.0;
  for (var i = 0u; i < p.words * 2u; i++) {
    let v = raw4(0u, i);
    sum += dot(v, v);
  }
  return sum;
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let index = group_index(wid, nwg) * 64u + lid;
  if (index >= p.count) {
    return;
  }
  let lane = index % p.lanes;
  let row = (index / p.lanes) * TM;
  let at = lane_at(lane);

  var acc0 = Tile();
  var acc1 = Tile();
  for (var g = 0u; g < p.groups; g++) {
    var sum0 = Tile();
    var sum1 = Tile();
    var totals = array<f32, TM>();
    let end = min((g + 1u) * p.group_words, p.words);
    for (var word = g * p.group_words; word < end; word++) {
      let w0 = w[word_at(at.first, word)];
      let w1 = w[word_at(at.second, word)];
      let low0 = unpack(w0);
      let high0 = unpack(w0 >> vec4u(16u));
      let low1 = unpack(w1);
      let high1 = unpack(w1 >> vec4u(16u));
      for (var m = 0u; m < TM; m++) {
        let r = min(row + m, p.rows - 1u);
        let a = x4(r, word * 2u);
        let b = x4(r, word * 2u + 1u);
        sum0[m] += low0 * a + high0 * b;
        sum1[m] += low1 * a + high1 * b;
        if (CORRECTED) {
          totals[m] += dot(a + b, vec4f(1.0));
        }
      }
    }
    let at0 = scale_at(at.first, g);
    let at1 = scale_at(at.second, g);
    let scale0 = scales[at0];
    let scale1 = scales[at1];
    for (var m = 0u; m < TM; m++) {
      acc0[m] += sum0[m] * scale0;
      acc1[m] += sum1[m] * scale1;
      if (CORRECTED) {
        acc0[m] += totals[m] * correction_at(at0);
        if (!PLANES) {
          acc1[m] += totals[m] * correction_at(at1);
        }
      }
    }
  }

  var rms = 1.0;
  if (NORM) {
    rms = inverse_rms(squares_of_x());
  }
  for (var m = 0u; m < TM; m++) {
    finish(lane, row + m, acc0[m] * rms, acc1[m] * rms);
  }
}
