// SPDX-License-Identifier: BSD-3-Clause
// The chat: messages, an answer that streams in, stop, regenerate, copy.
import type { ChatMessage, Model } from '../../src/index.ts';
import { find, make } from './dom.ts';
import { markdown } from './markdown.ts';
import { showSpeed, showStats } from './panel.ts';

const endings: Record<string, string> = {
  max_tokens: 'Stopped at the most tokens that you allow.',
  context_full: 'The context is full: start a new conversation.',
  cancelled: 'Stopped.',
};

export class Conversation {
  readonly #log = find('log');
  readonly #question = find<HTMLTextAreaElement>('question');
  readonly #onError: (error: unknown) => void;
  #messages: ChatMessage[] = [];
  #model: Model | undefined;
  #running: AbortController | undefined;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
    find<HTMLFormElement>('ask').addEventListener('submit', (event) => {
      event.preventDefault();
      this.#send();
    });
    this.#question.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.#send();
    });
    document.addEventListener('keydown', (event) => event.key === 'Escape' && this.#running?.abort());
    find('stop').addEventListener('click', () => this.#running?.abort());
    find('clear').addEventListener('click', () => this.clear());
    find('regenerate').addEventListener('click', () => this.#regenerate());
  }

  /** Talks to this model from now on; the conversation stays. */
  use(model: Model): void {
    this.#model = model.info.language?.chat ? model : undefined;
    this.#question.placeholder = this.#model
      ? 'Ask something. Enter sends, Shift+Enter makes a new line.'
      : (model.info.language?.problem ?? 'This program is no chat model: run it in the other tab.');
    this.#update();
    if (this.#model) this.#question.focus();
  }

  clear(): void {
    this.#running?.abort();
    this.#messages = [];
    this.#log.replaceChildren();
    this.#update();
  }

  #send(): void {
    const content = this.#question.value.trim();
    if (!content || !this.#model || this.#running) return;
    this.#question.value = '';
    this.#messages.push({ role: 'user', content });
    this.#show('user', content);
    void this.#answer();
  }

  #regenerate(): void {
    if (this.#running || this.#messages.at(-1)?.role !== 'assistant') return;
    this.#messages.pop();
    this.#log.lastElementChild?.remove();
    void this.#answer();
  }

  #show(role: string, content: string): { element: HTMLElement; body: HTMLElement } {
    const body = make('div', { className: 'body' }, ...(role === 'user' ? [make('p', {}, content)] : markdown(content)));
    const who = make('span', { className: 'who' }, role === 'user' ? 'You:' : 'The model:');
    const element = make('article', { className: `message ${role}` }, who, body);
    this.#log.append(element);
    element.scrollIntoView({ block: 'end' });
    return { element, body };
  }

  async #answer(): Promise<void> {
    const model = this.#model;
    if (!model) return;
    this.#running = new AbortController();
    this.#update();
    const { element, body } = this.#show('assistant', '');
    element.classList.add('busy');
    const started = performance.now();
    let text = '';
    let first = 0;
    try {
      const answer = model.chat(this.#messages, { ...settings(), signal: this.#running.signal });
      for await (const piece of answer) {
        const now = performance.now() - started;
        first ||= now;
        text += piece.text;
        body.replaceChildren(...markdown(text));
        showSpeed(piece.tokens, first, now);
        this.#log.lastElementChild?.scrollIntoView({ block: 'end' });
      }
      const result = await answer.result;
      showSpeed(result.tokens, result.firstTokenMs, result.totalMs);
      const recovered = result.recoveries > 0 ? 'The GPU was lost and opened again; the answer went on.' : '';
      this.#finish(element, text, [recovered, endings[result.reason] ?? ''].filter(Boolean).join(' '));
      await showStats(model);
    } catch (error) {
      this.#finish(element, text, '');
      this.#onError(error);
    } finally {
      element.classList.remove('busy');
      this.#running = undefined;
      this.#update();
    }
  }

  #finish(element: HTMLElement, text: string, note: string): void {
    if (!text) return element.remove();
    this.#messages.push({ role: 'assistant', content: text });
    const copy = make('button', { className: 'quiet', type: 'button' }, 'Copy');
    copy.addEventListener('click', async () => {
      await navigator.clipboard.writeText(text).catch(this.#onError);
      copy.textContent = 'Copied';
    });
    element.append(make('div', { className: 'row' }, copy, make('span', { className: 'note' }, note)));
  }

  #update(): void {
    const running = this.#running !== undefined;
    this.#question.disabled = !this.#model;
    find<HTMLButtonElement>('send').disabled = !this.#model;
    find('send').hidden = running;
    find('stop').hidden = !running;
    find<HTMLButtonElement>('clear').disabled = this.#messages.length === 0;
    find<HTMLButtonElement>('regenerate').disabled = running || this.#messages.at(-1)?.role !== 'assistant';
  }
}

function settings(): { temperature: number; maxTokens: number; seed: number } {
  const number = (id: string): number => Math.max(0, find<HTMLInputElement>(id).valueAsNumber || 0);
  return { temperature: number('temperature'), maxTokens: Math.max(1, number('max-tokens')), seed: Date.now() % 2 ** 31 };
}
