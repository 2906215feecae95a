// Another kernel reads the source.
fn source_at(i: u32) -> V {
  return V();
}
