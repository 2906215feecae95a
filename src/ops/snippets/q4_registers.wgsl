// A 4-bit linear (q4_linear) in registers: one thread computes TM rows (one, two, four or eight) of a lane. It walks the
// depth once, a word (eight k) of each column at a time, and scales each group's partial sum. No barrier, no workgroup
// memory: what counts is that x and the unpacked weights are reused in registers. Rows have names, because not every
// compiler keeps an array in registers. The kernel gives four_rows.

// A word of four rows of x, each a column here: its first and its second four k.
struct Four {
  low: mat4x4f,
  high: mat4x4f,
}

// A word of a lane's columns.
struct Word {
  low0: mat4x4f,
  high0: mat4x4f,
  low1: mat4x4f,
  high1: mat4x4f,
}
fn word_of(at: Lane, word: u32) -> Word {
  let w0 = w[word_at(at.first, word)];
  let w1 = w[word_at(at.second, word)];
  return Word(unpack(w0), unpack(w0 >> vec4u(16u)), unpack(w1), unpack(w1 >> vec4u(16u)));
}

// What a group's sums are multiplied by.
struct Factors {
  scale0: vec4f,
  scale1: vec4f,
  correction0: vec4f,
  correction1: vec4f,
}
fn factors_of(at: Lane, group: u32) -> Factors {
  let at0 = scale_at(at.first, group);
  let scale0 = scale_quad(at0);
  let correction0 = f32(SHIFT) * scale0 + minimum_quad(at0);
  if (PLANES) {
    return Factors(scale0, vec4f(), correction0, vec4f());
  }
  let at1 = scale_at(at.second, group);
  let scale1 = scale_quad(at1);
  return Factors(scale0, scale1, correction0, f32(SHIFT) * scale1 + minimum_quad(at1));
}

// A row: the sums of the lane's two streams and, if CORRECTED, of x.
struct Sums {
  s0: vec4f,
  s1: vec4f,
  x: f32,
}
fn add_word(sums: Sums, weights: Word, a: vec4f, b: vec4f) -> Sums {
  let s0 = sums.s0 + weights.low0 * a + weights.high0 * b;
  let s1 = sums.s1 + weights.low1 * a + weights.high1 * b;
  var out = Sums(s0, s1, sums.x);
  if (CORRECTED) {
    out.x += dot(a + b, vec4f(1.0));
  }
  return out;
}
fn add_group(sums: Sums, group: Sums, by: Factors) -> Sums {
  var out: Sums;
  if (PLANES) {
    out.s0 = sums.s0 + (16.0 * group.s0 + group.s1) * by.scale0;
  } else {
    out.s0 = sums.s0 + group.s0 * by.scale0;
    out.s1 = sums.s1 + group.s1 * by.scale1;
  }
  if (CORRECTED) {
    out.s0 += group.x * by.correction0;
    if (!PLANES) {
      out.s1 += group.x * by.correction1;
    }
  }
  return out;
}

fn squares_of_x() -> f32 {
  var sum = 0.0;
  for (var i = 0u; i < p.words * 2u; i++) {
    let v = raw4(0u, i);
    sum += dot(v, v);
  }
  return sum;
}

// `own` is what the kernel's four_rows wants to know of the thread.
fn run(index: u32, own: u32) {
  let lane = index % p.lanes;
  let row = (index / p.lanes) * TM;
  let at = lane_at(lane);

  var all0 = Sums();
  var all1 = Sums();
  var all2 = Sums();
  var all3 = Sums();
  var all4 = Sums();
  var all5 = Sums();
  var all6 = Sums();
  var all7 = Sums();
  for (var g = 0u; g < p.groups; g++) {
    var group0 = Sums();
    var group1 = Sums();
    var group2 = Sums();
    var group3 = Sums();
    var group4 = Sums();
    var group5 = Sums();
    var group6 = Sums();
    var group7 = Sums();
    let end = min((g + 1u) * p.group_words, p.words);
    for (var word = g * p.group_words; word < end; word++) {
      let weights = word_of(at, word);
      let x0 = four_rows(row, word, own);
      group0 = add_word(group0, weights, x0.low[0], x0.high[0]);
      if (TM > 1u) {
        group1 = add_word(group1, weights, x0.low[1], x0.high[1]);
      }
      if (TM > 2u) {
        group2 = add_word(group2, weights, x0.low[2], x0.high[2]);
        group3 = add_word(group3, weights, x0.low[3], x0.high[3]);
      }
      if (TM > 4u) {
        let x1 = four_rows(row + 4u, word, own);
        group4 = add_word(group4, weights, x1.low[0], x1.high[0]);
        group5 = add_word(group5, weights, x1.low[1], x1.high[1]);
        group6 = add_word(group6, weights, x1.low[2], x1.high[2]);
        group7 = add_word(group7, weights, x1.low[3], x1.high[3]);
      }
    }
    let factors = factors_of(at, g);
    all0 = add_group(all0, group0, factors);
    if (TM > 1u) {
      all1 = add_group(all1, group1, factors);
    }
    if (TM > 2u) {
      all2 = add_group(all2, group2, factors);
      all3 = add_group(all3, group3, factors);
    }
    if (TM > 4u) {
      all4 = add_group(all4, group4, factors);
      all5 = add_group(all5, group5, factors);
      all6 = add_group(all6, group6, factors);
      all7 = add_group(all7, group7, factors);
    }
  }

  var rms = 1.0;
  if (NORM) {
    rms = inverse_rms(squares_of_x());
  }
  finish(lane, row, all0.s0 * rms, all0.s1 * rms);
  if (TM > 1u) {
    finish(lane, row + 1u, all1.s0 * rms, all1.s1 * rms);
  }
  if (TM > 2u) {
    finish(lane, row + 2u, all2.s0 * rms, all2.s1 * rms);
    finish(lane, row + 3u, all3.s0 * rms, all3.s1 * rms);
  }
  if (TM > 4u) {
    finish(lane, row + 4u, all4.s0 * rms, all4.s1 * rms);
    finish(lane, row + 5u, all5.s0 * rms, all5.s1 * rms);
    finish(lane, row + 6u, all6.s0 * rms, all6.s1 * rms);
    finish(lane, row + 7u, all7.s0 * rms, all7.s1 * rms);
  }
}
