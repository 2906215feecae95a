// SPDX-License-Identifier: BSD-3-Clause
// The chat: messages, an answer that streams in, stop, regenerate, copy. It outlives models, lost devices and reloads.
import type { ChatMessage, ChatOptions, ChatResult, Model } from '../../src/index.ts';
import { announce, copyButton, find, icon, make, memory, quietButton, time } from './dom.ts';
import { markdown } from './markdown.ts';
import { showPace, showSpeed, showStats } from './panel.ts';

const endings: Record<string, string> = {
  max_tokens: 'Stopped at the most tokens that you allow.',
  context_full: 'The context is full: start a new chat.',
  cancelled: 'Stopped.',
};

const ideas = ['What is gravity?', 'Write a haiku about the sea', 'Explain recursion to a child', 'Three ideas for a rainy day'];

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
      this.#send(this.#question.value);
    });
    this.#question.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.#send(this.#question.value);
    });
    document.addEventListener('keydown', (event) => event.key === 'Escape' && this.#running?.abort());
    find('stop').addEventListener('click', () => this.#running?.abort());
    find('clear').addEventListener('click', () => this.clear());
    for (const idea of ideas) {
      const button = make('button', { type: 'button' }, idea);
      button.addEventListener('click', () => this.#send(idea));
      find('ideas').append(button);
    }
    this.#restore();
  }

  /** Talks to this model from now on; the conversation stays. */
  use(model: Model | undefined): void {
    this.#model = model?.info.language?.chat ? model : undefined;
    this.#question.placeholder = this.#model
      ? 'Ask something'
      : (model?.info.language?.problem ?? 'This program is no chat model: run it in the other tab.');
    this.#update();
    if (this.#model) this.#question.focus();
  }

  clear(): void {
    this.#running?.abort();
    this.#messages = [];
    this.#log.replaceChildren();
    this.#update();
    this.#question.focus();
  }

  #restore(): void {
    try {
      this.#messages = JSON.parse(memory.get('sessionStorage', 'conversation') ?? '[]') as ChatMessage[];
    } catch {
      return; // of another version
    }
    for (const { role, content } of this.#messages) {
      const { element } = this.#show(role, content);
      if (role === 'assistant') this.#addActions(element, content, '');
    }
  }

  #send(text: string): void {
    const content = text.trim();
    if (!content || !this.#model || this.#running) return;
    this.#question.value = '';
    this.#messages.push({ role: 'user', content });
    this.#show('user', content);
    void this.#answer();
  }

  #regenerate(): void {
    if (this.#running || !this.#model || this.#messages.at(-1)?.role !== 'assistant') return;
    this.#messages.pop();
    this.#log.lastElementChild?.remove();
    void this.#answer({ temperature: settings().temperature || 0.7 }); // who asks again wants another answer
  }

  #show(role: string, content: string): { element: HTMLElement; body: HTMLElement } {
    const mine = role === 'user';
    const body = make('div', { className: 'body' }, ...(mine ? [make('p', {}, content)] : markdown(content)));
    const who = make('span', { className: 'who' }, mine ? 'You:' : 'The model:');
    const element = make('article', { className: `message ${role}` }, who, ...(mine ? [] : [icon('wing')]), body);
    this.#log.append(element);
    this.#follow(true);
    return { element, body };
  }

  /** Keeps the end in sight, unless the reader went elsewhere. */
  #follow(always = false): void {
    const view = find('scroller');
    if (always || view.scrollHeight - view.scrollTop - view.clientHeight < 120) view.scrollTop = view.scrollHeight;
  }

  async #answer(chosen: ChatOptions = {}): Promise<void> {
    const model = this.#model;
    if (!model) return;
    this.#running = new AbortController();
    this.#log.setAttribute('aria-busy', 'true'); // read out when it is complete
    announce('The model is answering.');
    const { element, body } = this.#show('assistant', '');
    element.classList.add('busy');
    this.#update();
    let text = '';
    try {
      const answer = model.chat(withSystem(this.#messages), { slide: true, ...settings(), ...chosen, signal: this.#running.signal });
      const pace = new Pace();
      for await (const piece of answer) {
        text += piece.text;
        pace.mark(piece.tokens);
        onNextFrame(element, () => {
          body.replaceChildren(...markdown(text));
          this.#follow();
        });
      }
      body.replaceChildren(...markdown(text));
      const result = await answer.result;
      showSpeed(result.tokens, result.firstTokenMs, result.totalMs);
      this.#finish(element, text, describe(result));
      await showStats(model);
    } catch (error) {
      this.#finish(element, text, '');
      this.#onError(error);
    } finally {
      element.classList.remove('busy');
      this.#log.setAttribute('aria-busy', 'false');
      announce('The answer is complete.');
      this.#running = undefined;
      this.#update();
      this.#follow();
    }
  }

  #finish(element: HTMLElement, text: string, note: string): void {
    if (!text) return element.remove();
    this.#messages.push({ role: 'assistant', content: text });
    this.#addActions(element, text, note);
  }

  #addActions(element: HTMLElement, text: string, note: string): void {
    const again = quietButton('again', 'Regenerate', () => this.#regenerate());
    again.classList.add('regenerate');
    element.append(make('div', { className: 'row under' }, copyButton(text, this.#onError), again, make('span', { className: 'note' }, note)));
  }

  #update(): void {
    const running = this.#running !== undefined;
    this.#question.disabled = !this.#model;
    find<HTMLButtonElement>('send').disabled = !this.#model;
    find('send').hidden = running;
    find('stop').hidden = !running;
    find('ideas').hidden = this.#log.childElementCount > 0 || !this.#model;
    find<HTMLButtonElement>('clear').disabled = this.#log.childElementCount === 0;
    const last = this.#log.lastElementChild;
    for (const button of this.#log.querySelectorAll<HTMLButtonElement>('.regenerate'))
      button.hidden = running || !this.#model || !last?.contains(button);
    memory.set('sessionStorage', 'conversation', JSON.stringify(this.#messages));
  }
}

/** Shows how fast tokens come, while they do. */
class Pace {
  readonly #started = performance.now();
  readonly #times: number[] = [];
  #first = 0;
  #last = this.#started;

  mark(tokens: number): void {
    const now = performance.now();
    if (this.#first > 0) this.#times.push(now - this.#last);
    this.#first ||= now - this.#started;
    this.#last = now;
    showSpeed(tokens, this.#first, now - this.#started);
    showPace(this.#times);
  }
}

const waiting = new WeakSet<HTMLElement>();

/** Calls `draw` once before the next frame, however often it is asked to. */
function onNextFrame(element: HTMLElement, draw: () => void): void {
  if (waiting.has(element)) return;
  waiting.add(element);
  requestAnimationFrame(() => {
    waiting.delete(element);
    if (element.classList.contains('busy')) draw();
  });
}

function describe({ tokens, firstTokenMs, totalMs, recoveries, reason }: ChatResult): string {
  const rate = tokens > 1 ? `, ${((1000 * (tokens - 1)) / (totalMs - firstTokenMs)).toFixed(1)} per second` : '';
  const counted = `${tokens} token${tokens === 1 ? '' : 's'}${rate}, first after ${time(firstTokenMs)}.`;
  const recovered = recoveries > 0 ? 'The GPU was lost and opened again; the answer went on.' : '';
  return [counted, recovered, endings[reason] ?? ''].filter(Boolean).join(' ');
}

function withSystem(messages: readonly ChatMessage[]): ChatMessage[] {
  const content = find<HTMLTextAreaElement>('system').value.trim();
  return [...(content ? [{ role: 'system', content }] : []), ...messages];
}

function settings(): { temperature: number; maxTokens: number; seed: number } {
  const number = (id: string): number => Math.max(0, find<HTMLInputElement>(id).valueAsNumber || 0);
  return { temperature: number('temperature'), maxTokens: Math.max(1, Math.round(number('max-tokens'))), seed: Date.now() % 2 ** 31 };
}
