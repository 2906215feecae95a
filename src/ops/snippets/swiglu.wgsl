fn swiglu(gate: vec4f, up: vec4f) -> vec4f {
  return gate / (1.0 + exp(-gate)) * up;
}
