// SPDX-License-Identifier: BSD-3-Clause
import type { ChatPiece, ChatResult } from './chat.ts';
import type { Context } from './host.ts';

/** An answer on its way: its pieces as they come, once, and the whole of it at the end. */
export class Answer implements AsyncIterableIterator<ChatPiece, undefined> {
  /** The answer when it is complete. Need not be awaited. */
  readonly result: Promise<ChatResult>;
  readonly #aborter = new AbortController();
  readonly #pieces: ChatPiece[] = [];
  #ended = false;
  #wake: () => void = () => undefined;

  constructor(start: (context: Context<ChatPiece>) => Promise<ChatResult>, signal: AbortSignal | undefined) {
    const abort = (): void => this.#aborter.abort();
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort);
    const emit = (piece: ChatPiece): void => {
      this.#pieces.push(piece);
      this.#wake();
    };
    this.result = start({ signal: this.#aborter.signal, emit }).finally(() => {
      signal?.removeEventListener('abort', abort);
      this.#ended = true;
      this.#wake();
    });
    this.result.catch(() => undefined); // whoever iterates or awaits gets it
  }

  async next(): Promise<IteratorResult<ChatPiece, undefined>> {
    while (this.#pieces.length === 0 && !this.#ended) await new Promise<void>((resolve) => (this.#wake = resolve));
    const value = this.#pieces.shift();
    if (value) return { done: false, value };
    await this.result; // throws what ended it
    return { done: true, value: undefined };
  }

  /** Called when a loop is left early: the model stops. */
  async return(): Promise<IteratorResult<ChatPiece, undefined>> {
    this.#aborter.abort();
    await this.result.catch(() => undefined);
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
