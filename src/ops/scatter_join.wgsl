// Brings elements to the slot of their place. One thread per element of the source: it leaves its number plus one if it
// is the highest (OVERWRITE), or joins what is there, in the first word of the slot, and counts, in the second.
//! variadic
//! use grid divide nan scatter walk
fn place_of(value: i32) -> u32 {
  let place = select(value, value + i32(p.size), NEGATIVE && value < 0);
  if (place < 0 || u32(place) >= p.size) {
    faults[2u * p.fault + 1u] = bitcast<u32>(value);
    faults[2u * p.fault] = 1u;
    return 0u;
  }
  return u32(place);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) lid: u32) {
  let i = group_index(wid, nwg) * 64u + lid;
  if (i >= p.source_count) {
    return;
  }
  let target_at = walk(0u, i) + place_of(index[walk(1u, i)]) * p.stride;
  if (HOW == OVERWRITE) {
    atomicMax(&slots[target_at], i + 1u);
    return;
  }
  let mine = source_at(walk(2u, i));
  atomicAdd(&slots[2u * target_at + 1u], 1u);
  var seen = atomicLoad(&slots[2u * target_at]);
  loop {
    let joined = bitcast<u32>(join(bitcast<V>(seen), mine));
    let exchange = atomicCompareExchangeWeak(&slots[2u * target_at], seen, joined);
    if (exchange.exchanged) {
      break;
    }
    seen = exchange.old_value;
  }
}
