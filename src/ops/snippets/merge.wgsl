// What the kernels that put the splits of attention together are given, and bind.
struct Params {
  rows: u32,     // batch · heads · queries
  chunks: u32,   // of a value
  splits: u32,
  heads: u32,
  queries: u32,
  batch_stride: u32,
  head_stride: u32,
  query_stride: u32,
  dim: u32,      // of a value
  rounds: u32,   // of 64 splits, for a workgroup
  quiet: u32,    // 1: a query that sees no key has zeros as its answer, else NaN
}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> records: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> y: array<y_store>;
