// SPDX-License-Identifier: BSD-3-Clause
import { ChatSession } from './chat.ts';
import { PteronError } from './errors.ts';
import type { LanguageInfo } from './host.ts';
import { Method } from './method.ts';
import { Answer, type Handle, type Module, type Part } from './module.ts';
import type { Source } from './source.ts';
import type { DType } from './tensor.ts';

export interface ValueInfo {
  /** False: a number, given as a tensor of rank 0. */
  tensor: boolean;
  dtype: DType;
  /** Upper bounds if dynamic. */
  shape: number[];
  dynamic: boolean;
}

export interface MethodInfo {
  name: string;
  inputs: ValueInfo[];
  outputs: ValueInfo[];
}

/** What a method takes on the GPU, in bytes, and which ops it has. */
export interface MethodReport {
  ops: { name: string; count: number }[];
  dispatches: number;
  pipelines: number;
  memory: { weights: number; state: number; activations: number; parameters: number; staging: number; total: number };
}

/** Shortens an output on the GPU: where the largest element is; the k largest, then where they are; log Σ exp. */
export interface Epilogue {
  kind: 'argMax' | 'topK' | 'logSumExp';
  output?: number;
  k?: number;
  /** Of the last row of the output only (default), or of every row. */
  rows?: 'last' | 'all';
}

export interface MethodOptions {
  /** Each adds an output behind the method's own, or two (topK). */
  epilogues?: Epilogue[];
}

export interface Progress {
  phase: 'download' | 'program' | 'weights' | 'pipelines';
  /** Bytes; of pipelines: how many. */
  done: number;
  /** 0: not known yet, of a stream. */
  total: number;
}

export interface LoadOptions {
  disabledPasses?: string[];
  onProgress?: (progress: Progress) => void;
  /** Stops loading of the program and of its methods. */
  signal?: AbortSignal;
}

const Need = { nothing: 0, data: 1, pipelines: 2 } as const;
const phases = ['program', 'weights', 'pipelines'] as const;

interface NeedRecord {
  kind: number;
  source: number;
  offset: number;
  size: number;
  progress: Progress;
}

/** A program whose methods can be loaded. */
export class Program implements Disposable {
  readonly #module: Module;
  readonly #parts: Set<Part>;
  readonly #files: readonly Source[];
  readonly #options: LoadOptions;
  #handle: Handle;
  #loading: Promise<unknown> = Promise.resolve();
  #told: Progress | undefined;
  #description: { methods: MethodInfo[]; constants: Record<string, number[]> } = { methods: [], constants: {} };

  /** For Engine. */
  static async open(
    module: Module, parts: Set<Part>, files: readonly Source[], options: LoadOptions,
  ): Promise<Program> {
    const program = new Program(module, parts, files, options);
    try {
      await program.#feed();
      program.#description = module.json(module.call.pteron_program_describe(program.#handle));
      return program;
    } catch (error) {
      program.dispose();
      throw error;
    }
  }

  private constructor(module: Module, parts: Set<Part>, files: readonly Source[], options: LoadOptions) {
    this.#module = module;
    this.#parts = parts;
    this.#files = files;
    this.#options = options;
    const wanted = JSON.stringify({
      files: files.map(({ name, size }) => ({ name, size })),
      disabledPasses: options.disabledPasses ?? [],
    });
    this.#handle = module.withText(wanted, (at, size) =>
      module.handle(module.call.pteron_program_begin(module.engine, at, size)));
    parts.add(this);
  }

  get methods(): readonly MethodInfo[] {
    return this.#description.methods;
  }

  /** The values of a constant method such as get_vocab_size, or nothing. */
  constant(name: string): readonly number[] | undefined {
    return this.#description.constants[name];
  }

  /** Bytes stored beside the program under a key, e.g. a tokenizer. */
  async namedData(key: string): Promise<Uint8Array> {
    this.#check();
    const { call } = this.#module;
    const at = this.#module.withText(key, (text, size) =>
      this.#module.handle(call.pteron_program_locate(this.#handle, text, size)));
    const { source, offset, size } = this.#record(at);
    return this.#read(source, offset, size);
  }

  /** Loads a method, or makes another one of what is loaded: all but the state is shared. */
  async method(name = 'forward', options: MethodOptions = {}): Promise<Method> {
    const after = this.#loading; // one at a time
    const loaded = (async () => {
      await after.catch(() => undefined);
      return this.#load(name, options);
    })();
    this.#loading = loaded;
    return loaded;
  }

  /** What it is as a language model and what it is best loaded with; nothing if it is none. */
  language(): (Omit<LanguageInfo, 'chat'> & { methodOptions: MethodOptions }) | undefined {
    this.#check();
    const answer = this.#module.call.pteron_program_language(this.#handle);
    return answer === Answer.ok ? this.#module.json(answer) : undefined;
  }

  /** Of a method that is loaded. */
  report(name: string): MethodReport {
    this.#check();
    const { call } = this.#module;
    return this.#module.withText(name, (at, size) => this.#module.json(call.pteron_program_report(this.#handle, at, size)));
  }

  /** Loads what conversations need of the engine; `chat` does, too. */
  async prepareChat(): Promise<void> {
    await this.#module.needLanguage();
  }

  /** A conversation, when the method 'forward' is loaded with the options that `language` names. */
  async chat(tokenizer: Uint8Array, template: string): Promise<ChatSession> {
    await this.prepareChat();
    this.#check();
    const { call } = this.#module;
    const handle = this.#module.withBytes(tokenizer, (bytes, count) =>
      this.#module.withText(template, (text, length) =>
        this.#module.handle(call.pteron_chat_create(this.#handle, bytes, count, text, length))));
    return new ChatSession(this.#module, this.#parts, handle);
  }

  dispose(): void {
    if (this.#handle === 0) return;
    this.#module.release(this.#module.call.pteron_program_release, this.#handle);
    this.#handle = 0;
    this.#parts.delete(this);
  }
  [Symbol.dispose](): void {
    this.dispose();
  }

  async #load(name: string, options: MethodOptions): Promise<Method> {
    this.#check();
    const module = this.#module;
    const wanted = JSON.stringify({ name, ...options });
    module.withText(wanted, (at, size) => module.check(module.call.pteron_program_begin_method(this.#handle, at, size)));
    try {
      await this.#feed();
      await this.#settle();
      const method = new Method(module, this.#parts, module.handle(module.call.pteron_program_finish_method(this.#handle)));
      await this.#settle().catch((error: unknown) => {
        method.dispose();
        throw error;
      });
      return method;
    } catch (error) {
      if (this.#handle !== 0) module.call.pteron_program_cancel_method(this.#handle);
      throw error;
    }
  }

  /** Errors of what was created on the GPU arrive later: waits for them. */
  async #settle(): Promise<void> {
    await this.#module.port.watch.settle();
    this.#check();
    this.#module.check(this.#module.call.pteron_engine_check(this.#module.engine));
  }

  /** Gives what is asked for until nothing is. */
  async #feed(): Promise<void> {
    const { call, port } = this.#module;
    for (;;) {
      this.#check();
      const need = this.#record(call.pteron_program_next(this.#handle));
      this.#tell(need.kind === Need.nothing ? undefined : need.progress);
      if (need.kind === Need.nothing) return;
      if (need.kind === Need.data) {
        const at = this.#module.handle(call.pteron_program_buffer(this.#handle, need.size));
        const bytes = await this.#read(need.source, need.offset, need.size);
        this.#check();
        this.#module.bytes(at, bytes.length).set(bytes);
        this.#module.check(call.pteron_program_supply(this.#handle, bytes.length));
        await port.drain();
      } else {
        await port.watch.change();
        this.#check();
        this.#module.check(call.pteron_program_poll(this.#handle));
      }
    }
  }

  /** Progress, or that there is nothing left to do. A phase is complete when something else follows. */
  #tell(progress: Progress | undefined): void {
    const { onProgress } = this.#options;
    if (this.#told && this.#told.phase !== progress?.phase && this.#told.done < this.#told.total)
      onProgress?.({ ...this.#told, done: this.#told.total });
    this.#told = progress?.total ? progress : undefined;
    if (this.#told) onProgress?.(this.#told);
  }

  async #read(source: number, offset: number, size: number): Promise<Uint8Array> {
    const file = this.#files[source] as Source;
    const bytes = await file.read(offset, size);
    if (bytes.length !== size)
      throw new PteronError('invalid', `${file.name} gave ${bytes.length} bytes at ${offset} instead of ${size}`);
    return bytes;
  }

  #record(at: number): NeedRecord {
    const view = this.#module.view(at);
    return {
      kind: view.getUint32(0, true),
      source: view.getFloat64(8, true),
      offset: view.getFloat64(16, true),
      size: view.getFloat64(24, true),
      progress: {
        phase: phases[view.getUint32(4, true)] ?? 'program',
        done: view.getFloat64(32, true),
        total: view.getFloat64(40, true),
      },
    };
  }

  #check(): void {
    if (this.#handle === 0) throw new PteronError('cancelled', 'the program has been disposed of');
    if (this.#options.signal?.aborted) throw new PteronError('cancelled', 'loading was cancelled');
  }
}
