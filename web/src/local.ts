// SPDX-License-Identifier: BSD-3-Clause
// Runs models on this thread. A device that is lost is opened again and its models are loaded again, from the cache where
// they are in it; an answer that was under way goes on. A module that stopped is replaced at the next call.
import { ModelCache } from './cache.ts';
import type { ChatMessage, ChatOptions, ChatPiece, ChatResult, ChatSession } from './chat.ts';
import { Engine, type EngineInfo, type EngineOptions } from './engine.ts';
import { PteronError } from './errors.ts';
import type { Context, Host, LanguageInfo, LoadRequest, ModelInfo, ModelStats } from './host.ts';
import type { Method } from './method.ts';
import type { Program, Progress } from './program.ts';
import { fromBlob, fromUrl, observed, type Source } from './source.ts';
import type { Tensor } from './tensor.ts';

/** A model on the GPU. */
interface Parts {
  program: Program;
  info: ModelInfo;
  method?: Method; // made when it is first run, if the model is a language model
  chat?: ChatSession;
}

interface Loaded {
  request: LoadRequest;
  parts: Promise<Parts> | undefined; // nothing: the engine was lost
  /** Of the method that is run: whether it is as in the file, has been changed by runs, or was lost since. */
  state: 'fresh' | 'used' | 'gone';
  profiling: boolean;
  answering: boolean;
}

const isLost = (error: unknown): boolean => error instanceof PteronError && error.kind === 'device lost';

async function openSource(file: string | Blob, cache: LoadRequest['cache'], signal?: AbortSignal): Promise<Source> {
  if (file instanceof Blob) return fromBlob(file);
  const init = signal ? { signal } : {};
  return cache && 'caches' in globalThis ? new ModelCache(cache).open(file, init) : fromUrl(file, init);
}

async function readText(file: string | Blob, cache: LoadRequest['cache'], signal?: AbortSignal): Promise<Uint8Array> {
  const source = await openSource(file, cache, signal);
  return source.read(0, source.size);
}

export class LocalHost implements Host {
  readonly #models = new Map<number, Loaded>();
  #options: EngineOptions | undefined; // nothing: not open
  #engine: Promise<Engine> | undefined;
  #opened: Engine | undefined; // what #engine came to
  #last = 0;

  async open(options: EngineOptions): Promise<EngineInfo> {
    this.#options = options;
    return (await this.#ready()).info;
  }

  async load(request: LoadRequest, { signal, emit }: Context<Progress>): Promise<{ model: number; info: ModelInfo }> {
    const build = (): Promise<Parts> => this.#build(request, signal, emit);
    const parts = build().catch(async (error: unknown) => {
      if (!isLost(error)) throw error;
      await this.#recover(error);
      return build();
    });
    const { info } = await parts;
    this.#last += 1;
    this.#models.set(this.#last, { request, parts, state: 'fresh', profiling: false, answering: false });
    return { model: this.#last, info };
  }

  async run({ model, inputs, outputs }: { model: number; inputs: readonly Tensor[]; outputs?: number[] }): Promise<Tensor[]> {
    const loaded = this.#find(model);
    const engine = await this.#ready();
    try {
      return await this.#runOnce(loaded, inputs, outputs);
    } catch (error) {
      if (!isLost(error) || !engine.lost) throw error;
      await this.#recover(error);
      return this.#runOnce(loaded, inputs, outputs);
    }
  }

  async #runOnce(loaded: Loaded, inputs: readonly Tensor[], outputs?: number[]): Promise<Tensor[]> {
    const { info } = await this.#parts(loaded);
    if (loaded.state === 'gone') {
      loaded.state = 'fresh';
      const message = 'the GPU device was lost; the model has been loaded again, but its state is gone: start again';
      throw new PteronError('device lost', message);
    }
    const method = await this.#method(loaded);
    const before = loaded.state;
    if (info.report.memory.state > 0) loaded.state = 'used';
    try {
      return await method.run(inputs, outputs ?? [...info.method.outputs.keys()]);
    } catch (error) {
      if (isLost(error)) loaded.state = before; // what this run changed is not missed: it is run again
      throw error;
    }
  }

  async chat(
    { model, messages, options }: { model: number; messages: readonly ChatMessage[]; options: ChatOptions },
    { signal, emit }: Context<ChatPiece>,
  ): Promise<ChatResult> {
    const loaded = this.#find(model);
    if (loaded.answering) throw new PteronError('invalid', 'the model is already answering; await or abort that first');
    loaded.answering = true;
    try {
      return await this.#answer(loaded, messages, options, { signal, emit });
    } finally {
      loaded.answering = false;
    }
  }

  async reset({ model }: { model: number }): Promise<void> {
    const loaded = this.#find(model);
    const { method, chat } = await this.#parts(loaded);
    loaded.state = 'fresh';
    method?.reset();
    chat?.reset();
  }

  async stats({ model }: { model: number }): Promise<ModelStats> {
    const { method, chat } = await this.#parts(this.#find(model));
    return { usage: (await this.#ready()).usage(), profile: chat?.times() ?? method?.times() ?? [] };
  }

  async profile({ model, on }: { model: number; on: boolean }): Promise<void> {
    const loaded = this.#find(model);
    loaded.profiling = on;
    const { method, chat } = await this.#parts(loaded);
    method?.profile(on);
    chat?.profile(on);
  }

  async unload({ model }: { model: number }): Promise<void> {
    const loaded = this.#models.get(model);
    this.#models.delete(model);
    const parts = await loaded?.parts?.catch(() => undefined);
    parts?.chat?.dispose();
    parts?.method?.dispose();
    parts?.program.dispose();
  }

  async close(): Promise<void> {
    this.#options = undefined;
    this.#models.clear();
    await this.#engine?.catch(() => undefined);
    this.#discard();
  }

  /** The engine; what failed to open is tried again at the next call. */
  async #ready(): Promise<Engine> {
    if (!this.#options) throw new PteronError('invalid', 'the engine has been disposed of');
    if (this.#opened?.stopped) this.#discard();
    this.#engine ??= this.#open(this.#options);
    return this.#engine;
  }

  async #open(options: EngineOptions): Promise<Engine> {
    try {
      this.#opened = await Engine.create(options);
      return this.#opened;
    } catch (error) {
      this.#engine = undefined;
      throw error;
    }
  }

  /** Lets go of the engine. Models are loaded again when they are next used. */
  #discard(): void {
    for (const loaded of this.#models.values()) {
      loaded.parts = undefined;
      if (loaded.state === 'used') loaded.state = 'gone';
    }
    this.#engine = undefined;
    this.#opened?.dispose();
    this.#opened = undefined;
  }

  #find(model: number): Loaded {
    if (this.#opened?.stopped) this.#discard();
    const loaded = this.#models.get(model);
    if (!loaded) throw new PteronError('invalid', 'the model has been disposed of');
    return loaded;
  }

  #parts(loaded: Loaded): Promise<Parts> {
    if (loaded.parts) return loaded.parts;
    const building = this.#build(loaded.request).then((parts) => {
      parts.chat?.profile(loaded.profiling);
      parts.method?.profile(loaded.profiling);
      return parts;
    });
    building.catch(() => (loaded.parts = undefined));
    loaded.parts = building;
    return building;
  }

  async #method(loaded: Loaded): Promise<Method> {
    const parts = await this.#parts(loaded);
    parts.method ??= await parts.program.method(loaded.request.method);
    parts.method.profile(loaded.profiling);
    return parts.method;
  }

  /** Opens the device again, once, whoever notices first. */
  async #recover(error: unknown): Promise<void> {
    if (this.#options?.device) throw error; // the page's own, and its to replace
    if (this.#opened?.lost) this.#discard();
    await this.#ready();
  }

  async #answer(
    loaded: Loaded, messages: readonly ChatMessage[], options: ChatOptions, { signal, emit }: Context<ChatPiece>,
  ): Promise<ChatResult> {
    const mostRecoveries = 3;
    const started = performance.now();
    const known: number[] = [];
    let text = '';
    let firstTokenMs = 0;
    for (let recoveries = 0; ; recoveries += 1) {
      try {
        const { chat, info } = await this.#parts(loaded);
        if (!chat) throw new PteronError('unsupported', info.language?.problem ?? 'the program is not a language model');
        for await (const step of chat.answer(messages, options, known, signal)) {
          if (step.token !== undefined) known.push(step.token);
          if (known.length === 1) firstTokenMs ||= performance.now() - started;
          text += step.text;
          if (step.token !== undefined || step.text) emit?.({ text: step.text, tokens: known.length });
        }
        const totalMs = performance.now() - started;
        return { ...chat.summary(), text, tokens: known.length, firstTokenMs, totalMs, recoveries };
      } catch (error) {
        if (!isLost(error) || recoveries === mostRecoveries) throw error;
        await this.#recover(error);
      }
    }
  }

  async #build(request: LoadRequest, signal?: AbortSignal, emit?: (progress: Progress) => void): Promise<Parts> {
    const engine = await this.#ready();
    // Only while it is being loaded: a signal that fires later means nothing.
    const stop = new AbortController();
    const abort = (): void => stop.abort();
    signal?.addEventListener('abort', abort);
    if (signal?.aborted) abort();
    try {
      return await this.#place(engine, request, stop.signal, emit);
    } catch (error) {
      if (stop.signal.aborted) throw new PteronError('cancelled', 'loading was cancelled', { cause: error });
      throw error;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  async #place(
    engine: Engine, request: LoadRequest, signal: AbortSignal, onProgress: (progress: Progress) => void = () => undefined,
  ): Promise<Parts> {
    const opened = await Promise.all(request.files.map((file) => openSource(file, request.cache, signal)));
    const bytes = opened.reduce((sum, { size }) => sum + size, 0);
    const sources = observed(opened, (done) => onProgress({ phase: 'download', done, total: bytes }));
    const options = { ...request, signal, onProgress };
    const program = await engine.load(sources, options);
    try {
      const { methods } = program;
      const language = request.epilogues || request.method !== 'forward' ? undefined : program.language();
      if (language) program.prepareChat().catch(() => undefined); // meanwhile; opening the chat says what went wrong
      const shortened = language?.methodOptions ?? (request.epilogues ? { epilogues: request.epilogues } : {});
      const method = await program.method(request.method, shortened);
      const info: ModelInfo = {
        name: opened[0]?.name ?? '',
        bytes,
        methods,
        method: methods.find(({ name }) => name === request.method) ?? method.info,
        report: program.report(request.method),
      };
      if (!language) return { program, info, method };
      method.dispose(); // a conversation has its own state
      const chat = await openChat(program, request, signal);
      if (chat instanceof PteronError) return { program, info: { ...info, language: withoutChat(language, chat) } };
      return { program, info: { ...info, language: chat.info }, chat };
    } catch (error) {
      program.dispose();
      throw error;
    }
  }
}

const withoutChat = (language: Omit<LanguageInfo, 'chat'>, { message }: PteronError): LanguageInfo => ({
  vocabulary: language.vocabulary,
  contextTokens: language.contextTokens,
  chat: false,
  problem: message,
});

/** The conversation, or why there is none. What the caller gave must be right; what the file carries may be absent. */
async function openChat(program: Program, request: LoadRequest, signal: AbortSignal): Promise<ChatSession | PteronError> {
  const given = request.tokenizer;
  try {
    const tokenizer = given
      ? await readText(given, request.cache, signal)
      : await program.namedData('pteron.tokenizer.json');
    const template =
      request.chatTemplate ??
      (await program.namedData('pteron.chat_template').then((bytes) => new TextDecoder().decode(bytes), () => ''));
    return await program.chat(tokenizer, template);
  } catch (error) {
    if (given || !(error instanceof PteronError) || error.kind !== 'not found') throw error;
    return new PteronError('not found', 'the model carries no tokenizer; load it with one');
  }
}
