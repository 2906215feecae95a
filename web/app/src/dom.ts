// SPDX-License-Identifier: BSD-3-Clause
// Elements by id and elements made; numbers for people.

export function find<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no element '${id}'`);
  return element as T;
}

type Child = Node | string;

export function make<K extends keyof HTMLElementTagNameMap>(
  name: K, properties: Partial<HTMLElementTagNameMap[K]> = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

const svg = 'http://www.w3.org/2000/svg';

/** One of the symbols of index.html. */
export function icon(name: string): SVGSVGElement {
  const picture = document.createElementNS(svg, 'svg');
  picture.classList.add('icon');
  picture.setAttribute('aria-hidden', 'true');
  const use = document.createElementNS(svg, 'use');
  use.setAttribute('href', `#i-${name}`);
  picture.append(use);
  return picture;
}

export function quietButton(picture: string, label: string, onClick: (button: HTMLButtonElement) => void): HTMLButtonElement {
  const button = make('button', { className: 'quiet', type: 'button' }, icon(picture), label);
  button.addEventListener('click', () => onClick(button));
  return button;
}

export function copyButton(text: string, onError: (error: unknown) => void): HTMLButtonElement {
  return quietButton('copy', 'Copy', (button) => {
    navigator.clipboard.writeText(text).then(() => {
      button.replaceChildren(icon('check'), 'Copied');
      setTimeout(() => button.replaceChildren(icon('copy'), 'Copy'), 2000);
    }, onError);
  });
}

/** A list of names and what they are. */
export function facts(entries: [string, string][]): HTMLDListElement {
  return make('dl', {}, ...entries.map(([name, value]) => make('div', {}, make('dt', {}, name), make('dd', {}, value))));
}

export function bytes(count: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB'];
  let unit = 0;
  let value = count;
  for (; value >= 1000 && unit < units.length - 1; unit += 1) value /= 1000;
  return `${value.toFixed(unit === 0 || value >= 100 ? 0 : 1)} ${units[unit]}`;
}

export function time(milliseconds: number): string {
  if (milliseconds >= 1000) return `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 2 : 1)} s`;
  return `${milliseconds.toFixed(milliseconds < 10 ? 2 : 0)} ms`;
}

export function save(data: BlobPart, name: string): void {
  const url = URL.createObjectURL(new Blob([data]));
  make('a', { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}

/** Says something to those who can not see the page. */
export function announce(text: string): void {
  find('announce').textContent = text;
}

/** What a page may remember, if it may. */
export const memory = {
  get(storage: 'localStorage' | 'sessionStorage', key: string): string | undefined {
    try {
      return window[storage].getItem(key) ?? undefined;
    } catch {
      return undefined;
    }
  },
  set(storage: 'localStorage' | 'sessionStorage', key: string, value: string): void {
    try {
      window[storage].setItem(key, value);
    } catch {
      // private, or full: then it is forgotten
    }
  },
};
