// SPDX-License-Identifier: BSD-3-Clause
export { Engine, openDevice, type EngineInfo, type EngineOptions, type Usage } from './engine.ts';
export { PteronError, type ErrorKind } from './errors.ts';
export { Method, type MethodStats } from './method.ts';
export { Program, type LoadOptions, type MethodInfo, type Progress, type ValueInfo } from './program.ts';
export { fromBlob, fromBytes, fromUrl, type Source } from './source.ts';
export { tensor, type DType, type Tensor, type TensorData } from './tensor.ts';
