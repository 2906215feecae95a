// SPDX-License-Identifier: BSD-3-Clause
// The way in: models that are loaded from anywhere, run and talked to; in a worker unless the page brings its own device.
import type { CacheOptions } from './cache.ts';
import { Answer } from './answer.ts';
import type { ChatMessage, ChatOptions } from './chat.ts';
import type { EngineInfo, EngineOptions } from './engine.ts';
import { PteronError } from './errors.ts';
import type { Host, ModelInfo, ModelStats } from './host.ts';
import { LocalHost } from './local.ts';
import type { WasmSource } from './module.ts';
import type { Epilogue, Progress } from './program.ts';
import { connect } from './remote.ts';
import { absolute } from './source.ts';
import type { Tensor } from './tensor.ts';

export interface PteronOptions extends EngineOptions {
  /** Run in a module worker: the default, unless there is a device. A function makes it, for bundlers. */
  worker?: boolean | (() => Worker);
}

/** Where a file comes from. */
export type ModelFile = string | URL | Blob | ReadableStream<Uint8Array> | BufferSource;

export interface ModelOptions {
  onProgress?: (progress: Progress) => void;
  /** Stops loading. */
  signal?: AbortSignal;
  /** Keep files that come from a URL in the browser (default). */
  cache?: boolean | CacheOptions;
  /** `.ptd` files with external constants. */
  data?: ModelFile[];
  /** For chat, unless the program carries them: a tokenizer.json, tokenizer.model or tiktoken file; a Jinja template. */
  tokenizer?: ModelFile;
  chatTemplate?: string;
  /** Which method to run; 'forward' unless given. */
  method?: string;
  epilogues?: Epilogue[];
  disabledPasses?: string[];
}

type Watching = Pick<ModelOptions, 'onProgress' | 'signal'>;

/** A stream is a blob when it has ended: it is read in another order, and browsers keep large blobs on disk. */
async function collect(stream: ReadableStream<Uint8Array>, { onProgress, signal }: Watching): Promise<Blob> {
  const reader = stream.getReader();
  const stop = (): void => void reader.cancel().catch(() => undefined);
  signal?.addEventListener('abort', stop, { once: true });
  let done = 0;
  let failure: unknown;
  const counted = new ReadableStream<Uint8Array>({
    async pull(to) {
      const piece = await reader.read().catch((error: unknown) => void (failure = error));
      if (!piece?.value || signal?.aborted) return to.close();
      done += piece.value.length;
      onProgress?.({ phase: 'download', done, total: 0 });
      to.enqueue(piece.value);
    },
  });
  const blob = await new Response(counted).blob();
  signal?.removeEventListener('abort', stop);
  if (signal?.aborted) throw new PteronError('cancelled', 'loading was cancelled');
  if (failure === undefined) return blob;
  const why = failure instanceof Error ? failure.message : String(failure);
  throw new PteronError('invalid', `the stream broke off behind byte ${done}: ${why}`, { cause: failure });
}

async function cloneable(file: ModelFile, watching: Watching): Promise<string | Blob> {
  if (typeof file === 'string' || file instanceof URL) return absolute(file);
  if (file instanceof ReadableStream) return collect(file, watching);
  return file instanceof Blob ? file : new Blob([file]);
}

async function cloneableWasm(wasm: WasmSource): Promise<WasmSource> {
  if (typeof wasm === 'string' || wasm instanceof URL) return absolute(wasm);
  return wasm instanceof Response ? wasm.arrayBuffer() : wasm;
}

export class Pteron implements Disposable {
  /** The GPU and what can be run on it. */
  readonly info: EngineInfo;
  /** Resolves if the worker stops by itself, with the reason; models are gone then and a new Pteron is needed. */
  readonly stopped: Promise<PteronError>;
  readonly #host: Host;
  readonly #end: () => void;
  #disposed = false;

  static async create(options: PteronOptions = {}): Promise<Pteron> {
    const { device, worker = !device && 'Worker' in globalThis, ...rest } = options;
    if (device && worker)
      throw new PteronError('invalid', 'a device of the page can not be used in a worker; leave one of them out');
    if (!worker) return Pteron.#here(this, options);
    try {
      return await Pteron.#inWorker(this, worker, rest);
    } catch (error) {
      // Some browsers have WebGPU in pages, but not in workers.
      if (!(error instanceof PteronError) || error.kind !== 'unsupported' || !navigator.gpu) throw error;
      return Pteron.#here(this, rest);
    }
  }

  static async #here(type: typeof Pteron, options: EngineOptions): Promise<Pteron> {
    const host = new LocalHost();
    return new type(host, await host.open(options), () => void host.close(), new Promise(() => undefined));
  }

  static async #inWorker(type: typeof Pteron, make: true | (() => Worker), options: EngineOptions): Promise<Pteron> {
    const worker =
      typeof make === 'function'
        ? make()
        : new Worker(new URL(/* @vite-ignore */ 'worker.js', import.meta.url), { type: 'module', name: 'pteron' });
    const { host, stop } = connect(worker);
    const stopped = new Promise<PteronError>((resolve) =>
      worker.addEventListener('error', (event) => {
        event.preventDefault();
        const why = event.message || 'its script could not be loaded';
        const error = new PteronError('internal', `the worker stopped: ${why}; create a new Pteron`);
        worker.terminate();
        stop(error);
        resolve(error);
      }));
    const end = (): void => {
      stop(new PteronError('cancelled', 'Pteron has been disposed of'));
      worker.terminate();
    };
    try {
      const { wasm, languageWasm, ...rest } = options;
      const request = {
        ...rest,
        ...(wasm && { wasm: await cloneableWasm(wasm) }),
        ...(languageWasm && { languageWasm: await cloneableWasm(languageWasm) }),
      };
      return new type(host, await host.open(request), end, stopped);
    } catch (error) {
      end();
      throw error;
    }
  }

  protected constructor(host: Host, info: EngineInfo, end: () => void, stopped: Promise<PteronError>) {
    this.#host = host;
    this.info = info;
    this.#end = end;
    this.stopped = stopped;
  }

  /** Loads a program from where it is. Weights are streamed to the GPU. */
  async load(file: ModelFile, options: ModelOptions = {}): Promise<Model> {
    if (this.#disposed) throw new PteronError('invalid', 'Pteron has been disposed of');
    const { onProgress, signal, cache = true, data = [], tokenizer, method = 'forward', ...rest } = options;
    const watching = { ...(onProgress && { onProgress }), ...(signal && { signal }) };
    const files = await Promise.all([file, ...data].map((each) => cloneable(each, watching)));
    const request = {
      files,
      method,
      cache: cache === true ? {} : cache,
      ...(tokenizer && { tokenizer: await cloneable(tokenizer, {}) }),
      ...(rest.chatTemplate !== undefined && { chatTemplate: rest.chatTemplate }),
      ...(rest.epilogues && { epilogues: rest.epilogues }),
      ...(rest.disabledPasses && { disabledPasses: rest.disabledPasses }),
    };
    const { model, info } = await this.#host.load(request, { signal, emit: onProgress });
    return new Model(this.#host, model, info);
  }

  /** Releases every model with all that it has on the GPU. */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#end();
  }
  [Symbol.dispose](): void {
    this.dispose();
  }
}

/** A loaded program. */
export class Model implements Disposable {
  readonly info: ModelInfo;
  readonly #host: Host;
  readonly #model: number;

  /** For Pteron. */
  constructor(host: Host, model: number, info: ModelInfo) {
    this.#host = host;
    this.#model = model;
    this.info = info;
  }

  /** Runs the method once. With `outputs` only those are computed and given. */
  run(inputs: readonly Tensor[], outputs?: number[]): Promise<Tensor[]> {
    return this.#host.run({ model: this.#model, inputs, ...(outputs && { outputs }) });
  }

  /** Answers the last message. Iterate over the pieces, or await `result`. Aborting ends the answer where it is. */
  chat(messages: readonly ChatMessage[], { signal, ...options }: ChatOptions & { signal?: AbortSignal } = {}): Answer {
    const request = { model: this.#model, messages: messages.map(({ role, content }) => ({ role, content })), options };
    return new Answer((context) => this.#host.chat(request, context), signal);
  }

  /** State as in the file; the conversation is forgotten. */
  reset(): Promise<void> {
    return this.#host.reset({ model: this.#model });
  }

  stats(): Promise<ModelStats> {
    return this.#host.stats({ model: this.#model });
  }

  /** Measures the time of each op from now on, which takes time itself. */
  profile(on: boolean): Promise<void> {
    return this.#host.profile({ model: this.#model, on });
  }

  dispose(): void {
    this.#host.unload({ model: this.#model }).catch(() => undefined);
  }
  [Symbol.dispose](): void {
    this.dispose();
  }
}
