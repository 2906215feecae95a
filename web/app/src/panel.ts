// SPDX-License-Identifier: BSD-3-Clause
// The column beside: what the model is, how fast it is, what is kept.
import { ModelCache, type EngineInfo, type Model, type ModelInfo, type OpTime } from '../../src/index.ts';
import { bytes, facts, find, make, time } from './dom.ts';

export function showGpu({ adapter }: EngineInfo): void {
  const kind = adapter.software ? 'a software adapter: it works, slowly' : adapter.f16 ? 'with half precision' : '';
  find('gpu').textContent = `${adapter.name}${kind ? ` (${kind})` : ''}, buffers up to ${bytes(adapter.maxBufferBytes)}.`;
}

export function showCard(info: ModelInfo, { adapter }: EngineInfo): void {
  const { memory, ops, dispatches, pipelines } = info.report;
  const name = decodeURIComponent(info.name.split('/').pop() ?? info.name);
  const rows: [string, string][] = [
    ['File', `${name}, ${bytes(info.bytes)}`],
    ['Weights', bytes(memory.weights)],
    ['State', bytes(memory.state)],
    ['Activations', bytes(memory.activations)],
    ['In all', bytes(memory.total)],
    ['Dispatches per run', `${dispatches} at most`],
    ['Kernels', String(pipelines)],
    ['GPU', adapter.name],
    ['Largest buffer', bytes(adapter.maxBufferBytes)],
    ['Largest binding', bytes(adapter.maxBindingBytes)],
  ];
  if (info.language) rows.splice(1, 0, ['Context', `${info.language.contextTokens} tokens`], ['Vocabulary', String(info.language.vocabulary)]);
  const list = make('ul', { tabIndex: 0 }, ...ops.map(({ name: op, count }) => make('li', {}, make('code', {}, op), make('span', {}, `×${count}`))));
  const total = ops.reduce((sum, { count }) => sum + count, 0);
  find('card').replaceChildren(
    find('card-title'),
    facts(rows),
    make('details', {}, make('summary', {}, `${total} ops of ${ops.length} kinds`), list),
  );
}

export function showSpeed(tokens: number, firstTokenMs: number, totalMs: number): void {
  const rate = tokens > 1 ? (1000 * (tokens - 1)) / (totalMs - firstTokenMs) : 0;
  find('rate').textContent = rate > 0 ? rate.toFixed(1) : '–';
  find('first').textContent = firstTokenMs > 0 ? time(firstTokenMs) : '–';
  find('last').textContent = time(totalMs);
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
      return make('li', {}, make('code', {}, op), make('span', {}, time(nanoseconds / 1e6)), bar);
    }),
  );
}

export async function showStats(model: Model): Promise<void> {
  const { usage, profile } = await model.stats();
  find('memory').textContent = bytes(usage.bufferBytes);
  showTimes(profile);
}

export async function showCached(): Promise<void> {
  const files = 'caches' in globalThis ? await new ModelCache().list() : [];
  find('cached').replaceChildren(
    ...files.map(({ url, cachedBytes }) =>
      make('li', {}, make('span', {}, new URL(url).pathname.split('/').pop() ?? url), make('span', {}, bytes(cachedBytes)))),
  );
  if (files.length === 0) find('cached').append(make('li', { className: 'faint' }, 'No models.'));
  find<HTMLButtonElement>('clear-cache').disabled = files.length === 0;
}
