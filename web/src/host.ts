// SPDX-License-Identifier: BSD-3-Clause
// What runs models, on this thread or behind a worker's port: every call takes one request that can be cloned, and answers
// once; what happens meanwhile is emitted.
import type { CacheOptions } from './cache.ts';
import type { ChatMessage, ChatOptions, ChatPiece, ChatResult } from './chat.ts';
import type { EngineInfo, EngineOptions, Usage } from './engine.ts';
import type { Epilogue, MethodInfo, MethodReport, Progress } from './program.ts';
import type { OpTime } from './method.ts';
import type { Tensor } from './tensor.ts';

export interface LoadRequest {
  /** The `.pte`, then `.ptd` files: where they are, or themselves. */
  files: (string | Blob)[];
  tokenizer?: string | Blob;
  chatTemplate?: string;
  method: string;
  cache: CacheOptions | false;
  epilogues?: Epilogue[];
  disabledPasses?: string[];
}

/** What a language model can do. */
export interface LanguageInfo {
  vocabulary: number;
  contextTokens: number;
  /** Whether `chat` works: it needs a tokenizer and a template. */
  chat: boolean;
  /** Why not. */
  problem?: string;
}

/** What is known about a model once it is loaded. */
export interface ModelInfo {
  name: string;
  bytes: number;
  methods: readonly MethodInfo[];
  method: MethodInfo;
  report: MethodReport;
  /** If it is one. */
  language?: LanguageInfo;
}

export interface ModelStats {
  usage: Usage;
  /** Time on the GPU per op of the last run, if it was profiled. */
  profile: OpTime[];
}

export interface Context<Event = never> {
  signal?: AbortSignal | undefined;
  emit?: ((event: Event) => void) | undefined;
}

export interface Host {
  open(request: Omit<EngineOptions, 'device'>): Promise<EngineInfo>;
  load(request: LoadRequest, context: Context<Progress>): Promise<{ model: number; info: ModelInfo }>;
  run(request: { model: number; inputs: readonly Tensor[]; outputs?: number[] }): Promise<Tensor[]>;
  chat(
    request: { model: number; messages: readonly ChatMessage[]; options: ChatOptions },
    context: Context<ChatPiece>,
  ): Promise<ChatResult>;
  reset(request: { model: number }): Promise<void>;
  stats(request: { model: number }): Promise<ModelStats>;
  profile(request: { model: number; on: boolean }): Promise<void>;
  unload(request: { model: number }): Promise<void>;
  close(request: object): Promise<void>;
}
