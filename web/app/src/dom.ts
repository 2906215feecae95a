// SPDX-License-Identifier: BSD-3-Clause
// Elements by id and elements made.

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
  return milliseconds >= 1000 ? `${(milliseconds / 1000).toFixed(2)} s` : `${milliseconds.toFixed(milliseconds < 10 ? 2 : 0)} ms`;
}

export function save(data: BlobPart, name: string): void {
  const url = URL.createObjectURL(new Blob([data]));
  make('a', { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}
