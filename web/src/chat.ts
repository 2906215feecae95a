// SPDX-License-Identifier: BSD-3-Clause
// Conversations with a language model: the module's Chat, driven while the browser works.
import { PteronError } from './errors.ts';
import type { LanguageInfo } from './host.ts';
import type { Handle, Module, Part } from './module.ts';
import type { OpTime } from './method.ts';

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant' | (string & {});
  content: string;
}

export interface ChatOptions {
  maxTokens?: number;
  /** 0, the default: always the most likely token. */
  temperature?: number;
  topK?: number;
  topP?: number;
  minP?: number;
  repetitionPenalty?: number;
  presencePenalty?: number;
  frequencyPenalty?: number;
  seed?: number;
  /** Texts that end the answer. */
  stop?: string[];
  /** The answer matches this regular expression. */
  regex?: string;
  /** The answer is JSON that this schema accepts. */
  jsonSchema?: object | boolean;
  /** When the context is full, the oldest turns are dropped; else the answer ends, or is an error. */
  slide?: boolean;
  /** Further variables of the chat template, such as `{ enable_thinking: false }`. */
  templateVariables?: Record<string, unknown>;
}

export interface ChatPiece {
  text: string;
  /** Of the answer so far. */
  tokens: number;
}

export interface ChatResult {
  text: string;
  reason: 'end_token' | 'stop_string' | 'grammar' | 'max_tokens' | 'context_full' | 'cancelled';
  promptTokens: number;
  /** Of the prompt, that were still known from before. */
  reusedTokens: number;
  /** Messages that no longer fit and that the model does not see, with `slide`. */
  droppedMessages: number;
  tokens: number;
  /** Milliseconds until the first token was there, and until the end. */
  firstTokenMs: number;
  totalMs: number;
  /** How often the GPU device was lost and the answer taken up again. */
  recoveries: number;
}

/** What the module tells after a step. */
interface Step {
  text: string;
  token?: number;
  done: boolean;
}

/** A language model with one conversation. */
export class ChatSession implements Part {
  readonly info: LanguageInfo;
  readonly #module: Module;
  readonly #parts: Set<Part>;
  #handle: Handle;

  /** For Program. */
  constructor(module: Module, parts: Set<Part>, handle: Handle) {
    this.#module = module;
    this.#parts = parts;
    this.#handle = handle;
    parts.add(this);
    this.info = module.json(module.call.pteron_chat_describe(handle));
  }

  /**
   * Answers, step by step. `known` are tokens of the answer from before a device was lost: they are read, not shown.
   * Returns what `summary` says about it.
   */
  async *answer(
    messages: readonly ChatMessage[], options: ChatOptions, known: readonly number[], signal: AbortSignal | undefined,
  ): AsyncGenerator<Step, void> {
    const { call, port } = this.#module;
    const wanted = JSON.stringify({ messages, options, known });
    this.#module.withText(wanted, (at, size) => this.#module.check(call.pteron_chat_start(this.#live(), at, size)));
    while (!signal?.aborted) {
      if (this.#module.check(call.pteron_chat_begin(this.#live()))) return;
      while (!this.#module.check(call.pteron_chat_finish(this.#live()))) await port.watch.round();
      yield this.#module.json<Step>(call.pteron_chat_piece(this.#live()));
    }
    this.#module.check(call.pteron_chat_cancel(this.#live()));
  }

  summary(): Pick<ChatResult, 'reason' | 'promptTokens' | 'reusedTokens' | 'droppedMessages'> {
    return this.#module.json(this.#module.call.pteron_chat_summary(this.#live()));
  }

  profile(on: boolean): void {
    this.#module.call.pteron_chat_profile(this.#live(), on ? 1 : 0);
  }
  times(): OpTime[] {
    return this.#module.json(this.#module.call.pteron_chat_times(this.#live()));
  }

  /** Forgets the conversation. */
  reset(): void {
    this.#module.check(this.#module.call.pteron_chat_reset(this.#live()));
  }

  dispose(): void {
    if (this.#handle === 0) return;
    this.#module.release(this.#module.call.pteron_chat_release, this.#handle);
    this.#handle = 0;
    this.#parts.delete(this);
  }
  [Symbol.dispose](): void {
    this.dispose();
  }

  #live(): Handle {
    if (this.#handle === 0) throw new PteronError('cancelled', 'the model has been disposed of');
    return this.#handle;
  }
}
