// SPDX-License-Identifier: BSD-3-Clause
export { Model, Pteron, type ModelFile, type ModelOptions, type PteronOptions } from './pteron.ts';
export type { Answer } from './answer.ts';
export { ModelCache, type CachedFile, type CacheOptions } from './cache.ts';
export type { ChatMessage, ChatOptions, ChatPiece, ChatResult } from './chat.ts';
export { Engine, openDevice, type EngineInfo, type EngineOptions, type Usage } from './engine.ts';
export { PteronError, type ErrorKind } from './errors.ts';
export type { LanguageInfo, ModelInfo, ModelStats } from './host.ts';
export { Method, type MethodStats, type OpTime } from './method.ts';
export {
  Program, type Epilogue, type LoadOptions, type MethodInfo, type MethodOptions, type MethodReport, type Progress,
  type ValueInfo,
} from './program.ts';
export { fromBlob, fromBytes, fromUrl, type Source } from './source.ts';
export { numbers, tensor, type DType, type Tensor, type TensorData } from './tensor.ts';
