fn source_at(i: u32) -> V {
  return V(source_get(i));
}
