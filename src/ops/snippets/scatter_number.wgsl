// A number stands for the source.
fn source_at(i: u32) -> V {
  return bitcast<V>(p.number);
}
