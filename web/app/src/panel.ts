// SPDX-License-Identifier: BSD-3-Clause
// The column beside: what the model is, how fast it is, what is kept.
import { ModelCache, type EngineInfo, type MethodReport, type Model, type ModelInfo, type OpTime } from '../../src/index.ts';
import { bytes, facts, find, make, quietButton, time } from './dom.ts';

export function showGpu({ adapter, ops, version }: EngineInfo): void {
  const kind = adapter.software ? ', a software adapter: it works, slowly' : '';
  find('gpu').replaceChildren(make('span', {}, `${adapter.name}${kind}`));
  find('gpu').classList.add('ready');
  const yes = (value: boolean): string => (value ? 'yes' : 'no');
  find('device').replaceChildren(
    find('device-title'),
    facts([
      ['GPU', adapter.name],
      ...(adapter.driver ? [['Driver', adapter.driver] as [string, string]] : []),
      ['Half precision', yes(adapter.f16)],
      ['Subgroups', yes(adapter.subgroups)],
      ['Largest buffer', bytes(adapter.maxBufferBytes)],
      ['Largest binding', bytes(adapter.maxBindingBytes)],
      ['Pteron', `${version}, ${ops.length} ops`],
    ]),
  );
}

/** The memory plan: a bar of its parts and what they are. */
function memoryPlan({ weights, state, activations, total }: MethodReport['memory']): Node[] {
  const parts: [string, string, number][] = [
    ['a', 'Weights', weights],
    ['b', 'State (KV caches)', state],
    ['c', 'Activations', activations],
    ['d', 'Other', Math.max(0, total - weights - state - activations)],
  ];
  const bar = make('div', { className: 'stack' });
  bar.setAttribute('aria-hidden', 'true');
  for (const [name, , size] of parts) {
    const part = make('i', { className: name });
    part.style.flex = `${size} 0 0`;
    if (size > 0) bar.append(part);
  }
  const rows = parts.filter(([, , size]) => size > 0).map(([name, label, size]) =>
    make('div', { className: name }, make('dt', { className: 'key' }, label), make('dd', {}, bytes(size))));
  return [bar, make('dl', {}, ...rows, make('div', {}, make('dt', {}, 'Memory in all'), make('dd', {}, bytes(total))))];
}

export function showCard(info: ModelInfo, onChange: () => void): void {
  const { memory, ops, dispatches, pipelines } = info.report;
  const name = decodeURIComponent(info.name.split('/').pop() ?? info.name);
  const rows: [string, string][] = [['File', `${name}, ${bytes(info.bytes)}`]];
  if (info.language) rows.push(['Context', `${info.language.contextTokens} tokens`], ['Vocabulary', info.language.vocabulary.toLocaleString('en')]);
  rows.push(['Dispatches of a run', `${dispatches} at most`], ['Kernels', String(pipelines)]);
  const list = make('ul', { tabIndex: 0 }, ...ops.map(({ name: op, count }) => make('li', {}, make('code', {}, op), make('span', {}, `×${count}`))));
  const total = ops.reduce((sum, { count }) => sum + count, 0);
  find('card').replaceChildren(
    find('card-title'),
    facts(rows),
    ...memoryPlan(memory),
    make('details', {}, make('summary', {}, `${total} ops of ${ops.length} kinds`), list),
    quietButton('file', 'Open another model', onChange),
  );
}

export function showSpeed(tokens: number, firstTokenMs: number, totalMs: number): void {
  const rate = tokens > 1 ? (1000 * (tokens - 1)) / (totalMs - firstTokenMs) : 0;
  find('rate').textContent = rate > 0 ? rate.toFixed(1) : '–';
  find('first').textContent = firstTokenMs > 0 ? time(firstTokenMs) : '–';
  find('last').textContent = time(totalMs);
}

/** A line of the last tokens' times. */
export function showPace(times: readonly number[]): void {
  const last = times.slice(-80);
  const view = find('pace');
  view.toggleAttribute('hidden', last.length < 3);
  if (last.length < 3) return;
  const most = Math.max(...last);
  const points = last.map((ms, i) => `${((100 * i) / (last.length - 1)).toFixed(2)},${(27 - (24 * ms) / most).toFixed(2)}`);
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', `M-2,30 L-2,${points[0]?.split(',')[1]} L${points.join(' L')} L102,${points.at(-1)?.split(',')[1]} L102,30`);
  view.replaceChildren(path);
}

function showTimes(times: OpTime[]): void {
  const sums = new Map<string, number>();
  for (const { op, nanoseconds } of times) sums.set(op, (sums.get(op) ?? 0) + nanoseconds);
  const sorted = [...sums].sort(([, a], [, b]) => b - a).slice(0, 8);
  const most = sorted[0]?.[1] || 1;
  find('bars').replaceChildren(
    ...sorted.map(([op, nanoseconds]) => {
      const bar = make('div', { className: 'bar' });
      bar.style.width = `${(100 * nanoseconds) / most}%`;
      return make('li', {}, make('code', { title: op }, op), make('span', {}, time(nanoseconds / 1e6)), bar);
    }),
  );
}

export async function showStats(model: Model): Promise<void> {
  const { usage, profile } = await model.stats();
  find('memory').textContent = bytes(usage.bufferBytes);
  showTimes(profile);
}

export async function showCached(): Promise<void> {
  const files = 'caches' in globalThis ? await new ModelCache().list().catch(() => []) : [];
  find('cached').replaceChildren(
    ...files.map(({ url, cachedBytes }) =>
      make('li', {}, make('span', {}, new URL(url).pathname.split('/').pop() ?? url), make('span', {}, bytes(cachedBytes)))),
  );
  if (files.length === 0) find('cached').append(make('li', { className: 'faint' }, 'No models.'));
  find<HTMLButtonElement>('clear-cache').disabled = files.length === 0;
}
