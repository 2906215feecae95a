// What attention reads and writes, where kernels bind it in this order.
@group(0) @binding(1) var<storage, read> q: array<q_store>;
@group(0) @binding(2) var<storage, read> k: array<k_store>;
@group(0) @binding(3) var<storage, read> v: array<v_store>;
@group(0) @binding(4) var<storage, read> mask: array<mask_store>;
@group(0) @binding(5) var<storage, read_write> y: array<y_store>;
