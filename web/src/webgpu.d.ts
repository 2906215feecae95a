// SPDX-License-Identifier: BSD-3-Clause
// Flags that TypeScript's own declarations of WebGPU leave out.
declare const GPUBufferUsage: Record<'MAP_READ' | 'COPY_SRC' | 'COPY_DST' | 'UNIFORM' | 'STORAGE' | 'QUERY_RESOLVE', number>;
declare const GPUMapMode: Record<'READ', number>;
declare const GPUShaderStage: Record<'COMPUTE', number>;
