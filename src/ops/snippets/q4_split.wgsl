// A 4-bit linear with few rows, for GPUs: a workgroup makes LANES lanes of one row. Its SIZE threads share out the words
// of the depth, LANES neighbours on a word, and the kernel's `reduce` adds up what they have.
struct Sums {
  v0: vec4f,
  v1: vec4f,
  squares: f32,  // of x
}
fn add(a: Sums, b: Sums) -> Sums {
  return Sums(a.v0 + b.v0, a.v1 + b.v1, a.squares + b.squares);
}

fn sums_of(word: u32, row: u32, at: Lane) -> Sums {
  let a = x4(row, word * 2u);
  let b = x4(row, word * 2u + 1u);
  let w0 = w[word_at(at.first, word)];
  let w1 = w[word_at(at.second, word)];
  let group = word / p.group_words;
  let at0 = scale_at(at.first, group);
  let at1 = scale_at(at.second, group);
  var sums = Sums();
  sums.v0 = (unpack(w0) * a + unpack(w0 >> vec4u(16u)) * b) * scales[at0];
  sums.v1 = (unpack(w1) * a + unpack(w1 >> vec4u(16u)) * b) * scales[at1];
  if (CORRECTED) {
    let total = dot(a + b, vec4f(1.0));
    sums.v0 += total * correction_at(at0);
    if (!PLANES) {
      sums.v1 += total * correction_at(at1);
    }
  }
  if (NORM) {
    let raw_a = raw4(row, word * 2u);
    let raw_b = raw4(row, word * 2u + 1u);
    sums.squares = dot(raw_a, raw_a) + dot(raw_b, raw_b);
  }
  return sums;
}

@compute @workgroup_size(SIZE)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let groups_per_row = (p.lanes + LANES - 1u) / LANES;
  let group = group_index(wid, nwg);
  let row = group / groups_per_row;
  if (row >= p.rows) {
    return;
  }
  let lane = group % groups_per_row * LANES + lid % LANES;
  let at = lane_at(min(lane, p.lanes - 1u));
  var mine = Sums();
  for (var word = lid / LANES; word < p.words; word += SIZE / LANES) {
    mine = add(mine, sums_of(word, row, at));
  }
  let all = reduce(mine, lid);
  if (lid < LANES && lane < p.lanes) {
    var rms = 1.0;
    if (NORM) {
      rms = inverse_rms(all.squares);
    }
    finish(lane, row, all.v0 * rms, all.v1 * rms);
  }
}
