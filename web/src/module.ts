// SPDX-License-Identifier: BSD-3-Clause
// The WebAssembly module: its exports (src/wasm/abi.h), its memory, its errors.
import { PteronError, type ErrorKind } from './errors.ts';
import { GpuPort } from './gpu.ts';
import { link } from './link.ts';
import { wasiImports } from './wasi.ts';

/** Pointers into the module's memory; 0 is none. */
export type Handle = number;
/** −1: an error is in the engine's text. */
export type Answer = number;
export const Answer = { failed: -1, no: 0, ok: 1 } as const;

export interface Exports {
  pteron_allocate(bytes: number): number;
  pteron_free(at: number): void;

  pteron_engine_create(): Handle;
  pteron_engine_release(engine: Handle): void;
  pteron_engine_text(engine: Handle): number;
  pteron_engine_text_size(engine: Handle): number;
  pteron_engine_open(engine: Handle, options: number, length: number): Answer;
  pteron_engine_check(engine: Handle): Answer;
  pteron_engine_describe(engine: Handle): Answer;
  pteron_engine_usage(engine: Handle): Answer;

  pteron_program_begin(engine: Handle, options: number, length: number): Handle;
  pteron_program_release(program: Handle): void;
  pteron_program_next(program: Handle): number;
  pteron_program_buffer(program: Handle, size: number): number;
  pteron_program_supply(program: Handle, size: number): Answer;
  pteron_program_poll(program: Handle): Answer;
  pteron_program_describe(program: Handle): Answer;
  pteron_program_locate(program: Handle, key: number, length: number): number;
  pteron_program_begin_method(program: Handle, options: number, length: number): Answer;
  pteron_program_cancel_method(program: Handle): void;
  pteron_program_finish_method(program: Handle): Handle;

  pteron_program_language(program: Handle): Answer;
  pteron_program_report(program: Handle, name: number, length: number): Answer;

  // of the module for language models
  pteron_chat_create(program: Handle, tokenizer: number, bytes: number, template: number, length: number): Handle;
  pteron_chat_release(chat: Handle): void;
  pteron_chat_describe(chat: Handle): Answer;
  pteron_chat_start(chat: Handle, request: number, length: number): Answer;
  pteron_chat_begin(chat: Handle): Answer;
  pteron_chat_finish(chat: Handle): Answer;
  pteron_chat_piece(chat: Handle): Answer;
  pteron_chat_cancel(chat: Handle): Answer;
  pteron_chat_summary(chat: Handle): Answer;
  pteron_chat_reset(chat: Handle): Answer;
  pteron_chat_profile(chat: Handle, on: number): void;
  pteron_chat_times(chat: Handle): Answer;

  pteron_method_release(method: Handle): void;
  pteron_method_describe(method: Handle): Answer;
  pteron_method_buffer(method: Handle, bytes: number): number;
  pteron_method_begin(method: Handle, inputs: number, outputs: number): Answer;
  pteron_method_finish(method: Handle): Answer;
  pteron_method_outputs(method: Handle): number;
  pteron_method_reset(method: Handle): Answer;
  pteron_method_rewind(method: Handle, position: number): Answer;
  pteron_method_clone(method: Handle): Handle;
  pteron_method_stats(method: Handle): Answer;
  pteron_method_profile(method: Handle, on: number): void;
  pteron_method_times(method: Handle): Answer;
}

/** What an engine disposes of before itself. */
export interface Part {
  dispose(): void;
}

export type WasmSource = string | URL | Response | BufferSource | WebAssembly.Module;

async function compile(source: WasmSource): Promise<WebAssembly.Module> {
  if (source instanceof WebAssembly.Module) return source;
  if (typeof source !== 'string' && !(source instanceof URL) && !(source instanceof Response))
    return WebAssembly.compile(source);
  const response = source instanceof Response ? source : await fetch(source);
  if (!response.ok)
    throw new PteronError('not found', `the engine can't be fetched from ${response.url}: the server answers ${response.status}`);
  // Streaming wants the right content type; not every server gives it.
  const type = response.headers.get('content-type') ?? '';
  return type.startsWith('application/wasm')
    ? WebAssembly.compileStreaming(response)
    : WebAssembly.compile(await response.arrayBuffer());
}

export class Module {
  readonly call: Exports;
  readonly port: GpuPort;
  readonly #module: WebAssembly.Module;
  readonly #exports: WebAssembly.Exports;
  readonly #memory: WebAssembly.Memory;
  readonly #engine: Handle;
  readonly #language: WasmSource;
  #linked: Promise<void> | undefined;
  #broken: PteronError | undefined;

  /** `language` is the part for language models, which is fetched when it is needed. */
  static async load(source: WasmSource, language: WasmSource, device: GPUDevice): Promise<Module> {
    return new Module(await compile(source), language, device);
  }

  private constructor(module: WebAssembly.Module, language: WasmSource, device: GPUDevice) {
    this.#module = module;
    this.#language = language;
    this.port = new GpuPort(device, device.adapterInfo, () => this.#memory.buffer as ArrayBuffer);
    const instance = new WebAssembly.Instance(module, {
      pteron_gpu: this.port.imports(),
      wasi_snapshot_preview1: wasiImports(() => this.#memory.buffer as ArrayBuffer),
    });
    this.#exports = instance.exports;
    this.#memory = instance.exports['memory'] as WebAssembly.Memory;
    this.call = this.#guarded(instance.exports) as Exports;
    (instance.exports['_initialize'] as () => void)();
    this.#engine = this.call.pteron_engine_create();
  }

  /** Loads the part for language models, unless it is there. */
  async needLanguage(): Promise<void> {
    this.#linked ??= this.#linkLanguage();
    return this.#linked;
  }

  async #linkLanguage(): Promise<void> {
    try {
      const part = await compile(this.#language);
      Object.assign(this.call, this.#guarded(link(part, this.#module, this.#exports, this.call.pteron_allocate)));
    } catch (error) {
      this.#linked = undefined; // the next call tries again
      throw error;
    }
  }

  #guarded(exports: WebAssembly.Exports): Partial<Exports> {
    const functions = Object.entries(exports).filter(([name, value]) => name.startsWith('pteron_') && typeof value === 'function');
    return Object.fromEntries(functions.map(([name, value]) => [name, this.#guard(value as (...args: number[]) => number)]));
  }

  // What stops the module (memory that can't grow, a bug) leaves it in no state to go on.
  #guard(wasm: (...args: number[]) => number): (...args: number[]) => number {
    return (...args) => {
      if (this.#broken) throw this.#broken;
      try {
        return wasm(...args);
      } catch (cause) {
        const why = cause instanceof Error ? cause.message : String(cause);
        this.#broken = new PteronError('internal', `the engine stopped and can't go on; create a new one (${why})`, { cause });
        throw this.#broken;
      }
    };
  }

  get engine(): Handle {
    return this.#engine;
  }

  /** Whether it is beyond use. */
  get stopped(): boolean {
    return this.#broken !== undefined;
  }

  /** Calls a function that releases something, unless the module is beyond that. */
  release(free: (handle: Handle) => void, handle: Handle): void {
    if (!this.#broken) free(handle);
  }

  dispose(): void {
    this.release(this.call.pteron_engine_release, this.#engine);
    this.port.close();
  }

  bytes(at: number, size: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#memory.buffer as ArrayBuffer, at, size);
  }
  view(at: number): DataView {
    return new DataView(this.#memory.buffer, at);
  }

  /** Calls `use` with a copy of the text, or of bytes, in the module's memory. */
  withText<T>(text: string, use: (at: number, size: number) => T): T {
    return this.withBytes(new TextEncoder().encode(text), use);
  }
  withBytes<T>(bytes: Uint8Array, use: (at: number, size: number) => T): T {
    const at = this.call.pteron_allocate(Math.max(bytes.length, 1));
    if (at === 0) throw new PteronError('out of memory', `the engine has no memory for ${bytes.length} bytes`);
    try {
      this.bytes(at, bytes.length).set(bytes);
      return use(at, bytes.length);
    } finally {
      this.call.pteron_free(at);
    }
  }

  /** What the last call described. */
  json<T>(answer: Answer): T {
    this.check(answer);
    return JSON.parse(this.#text()) as T;
  }

  /** Throws the error of a call that failed. */
  check(answer: Answer): boolean {
    if (answer === Answer.failed) throw this.#error();
    return answer === Answer.ok;
  }

  /** The same for calls that answer with an object. */
  handle(handle: Handle): Handle {
    if (handle === 0) throw this.#error();
    return handle;
  }

  #text(): string {
    const size = this.call.pteron_engine_text_size(this.#engine);
    return new TextDecoder().decode(this.bytes(this.call.pteron_engine_text(this.#engine), size));
  }

  #error(): PteronError {
    const { kind, message } = JSON.parse(this.#text()) as { kind: ErrorKind; message: string };
    return new PteronError(kind, message);
  }
}
