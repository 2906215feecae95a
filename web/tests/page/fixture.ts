// SPDX-License-Identifier: BSD-3-Clause
// Real programs with goldens, as tests/support/fixture.h reads them: a folder with model.pte, manifest.json, raw tensors.
import { fromBytes, numbers, tensor, type DType, type Engine, type Method, type Tensor, type ValueInfo } from '../../src/index.ts';

interface TensorEntry {
  file?: string; // of its own, or a part of data.bin
  offset?: number;
  size?: number;
  dtype: DType;
  shape: number[];
  scalar?: number;
}

interface SetEntry {
  inputs: TensorEntry[];
  outputs: TensorEntry[];
}

interface Manifest extends SetEntry {
  atol?: number;
  rtol?: number;
  nmse?: number;
  int8_slack?: number;
  output_unspecified?: boolean;
  delegate_ops?: Record<string, number>;
  portable_ops?: Record<string, number>;
  data_files?: string[];
  live?: ({ size: unknown } & Partial<SetEntry>)[] | null;
  steps?: SetEntry[];
}

export interface Tolerance {
  atol: number;
  rtol: number;
  nmse: number;
  int8Slack: number;
}

export async function fetchBytes(url: string): Promise<ArrayBuffer> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return response.arrayBuffer();
}

/** The files of a folder, each fetched once. */
class Folder {
  readonly #url: string;
  readonly #files = new Map<string, Promise<ArrayBuffer>>();

  constructor(url: string) {
    this.#url = url;
  }

  fetch(name: string): Promise<ArrayBuffer> {
    const file = this.#files.get(name) ?? fetchBytes(`${this.#url}/${name}`);
    this.#files.set(name, file);
    return file;
  }
}

// JSON does not tell 4.0 from 4: what a number is, the method says.
async function readTensor(folder: Folder, entry: TensorEntry, info?: ValueInfo): Promise<Tensor> {
  if (entry.scalar !== undefined) return tensor(info?.dtype ?? 'float64', [], [entry.scalar]);
  const whole = await folder.fetch(entry.file ?? 'data.bin');
  const bytes = entry.offset === undefined ? whole : whole.slice(entry.offset, entry.offset + (entry.size ?? 0));
  const data = tensor(entry.dtype, [0], []).data.constructor as new (bytes: ArrayBuffer) => Tensor['data'];
  return { dtype: entry.dtype, shape: entry.shape, data: new data(bytes) };
}

const readTensors = (folder: Folder, entries: TensorEntry[], infos: ValueInfo[] = []): Promise<Tensor[]> =>
  Promise.all(entries.map((entry, i) => readTensor(folder, entry, infos[i])));

function elementProblem(a: number, e: number, dtype: DType, { atol, rtol, int8Slack }: Tolerance): boolean {
  if (Object.is(a, e) || a === e) return false;
  const delta = Math.abs(a - e); // NaN passes no comparison
  if (dtype.startsWith('float')) return !(delta <= atol || delta <= rtol * Math.max(Math.abs(e), 1e-6));
  return !(delta <= (dtype === 'int8' || dtype === 'uint8' ? int8Slack : 0));
}

/** Empty: equal within the tolerance, by the rules of tests/support/fixture.h. */
export function difference(actual: Tensor, expected: Tensor, tolerance: Tolerance): string {
  const { dtype, shape, data } = expected;
  if (actual.dtype !== dtype) return `dtype ${actual.dtype} instead of ${dtype}`;
  if (actual.shape.join() !== shape.join()) return `shape [${actual.shape}] instead of [${shape}]`;
  const [given, wanted] = [numbers(actual), numbers(expected)];
  let bad = 0;
  let first = '';
  let errorEnergy = 0;
  let energy = 0;
  for (let i = 0; i < data.length; i += 1) {
    const a = given[i] as number;
    const e = wanted[i] as number;
    if (Number.isFinite(a) && Number.isFinite(e)) {
      errorEnergy += (a - e) ** 2;
      energy += e ** 2;
    }
    if (!elementProblem(a, e, dtype, tolerance)) continue;
    if (bad === 0) first = `element ${i} is ${a} instead of ${e}`;
    bad += 1;
  }
  if (bad > 0) return `${bad} of ${data.length} differ: ${first}`;
  if (dtype.startsWith('float') && errorEnergy > tolerance.nmse * energy)
    return `normalised mean squared error ${errorEnergy / energy} is over ${tolerance.nmse}`;
  return '';
}

function listSets({ inputs, outputs, live, steps = [] }: Manifest): [string, SetEntry][] {
  const main: [string, SetEntry] = ['main', { inputs, outputs }];
  const sets = [main];
  for (const { size, inputs: given, outputs: wanted } of live ?? [])
    if (given && wanted) sets.push([`live ${JSON.stringify(size)}`, { inputs: given, outputs: wanted }]);
  for (const step of steps) sets.push([`step ${sets.length}`, step]);
  return sets.length > 1 ? [...sets, ['main again', main[1]]] : sets;
}

/** "passed", "missing" (it needs ops that are not there yet), or what went wrong. */
export async function runFixture(engine: Engine, url: string): Promise<string> {
  const folder = new Folder(url);
  const manifest = (await (await fetch(`${url}/manifest.json`)).json()) as Manifest;
  const ops = Object.keys(manifest.delegate_ops ?? {});
  if (!ops.every((op) => engine.info.ops.includes(op))) return 'missing';
  const files = ['model.pte', ...(manifest.data_files ?? [])];
  const sources = files.map(async (name) => fromBytes(await folder.fetch(name), `${url}/${name}`));
  const outside = Object.keys(manifest.portable_ops ?? {}).filter((op) => op !== 'aten::copy_');
  using program = await engine.load(await Promise.all(sources));
  if (outside.length > 0) return await refused(program.method('forward'), outside);
  using method = await program.method('forward');
  // Of an updated cache only the update counts, which the native tests check.
  const unspecified = manifest.output_unspecified ?? ops.includes('update_cache.default');
  const { atol = 1e-3, rtol = 1e-3, nmse = Infinity, int8_slack: int8Slack = 1 } = manifest;
  for (const [name, set] of listSets(manifest)) {
    if (name === 'main again' && manifest.steps?.length) method.reset();
    const outputs = await method.run(await readTensors(folder, set.inputs, method.info.inputs));
    const own = outputs.slice(outputs.length - set.outputs.length); // updated inputs come first
    for (const [i, expected] of (await readTensors(folder, set.outputs)).entries()) {
      const problem = unspecified ? '' : difference(own[i] as Tensor, expected, { atol, rtol, nmse, int8Slack });
      if (problem) return `${name}: output ${i}: ${problem}`;
    }
  }
  const late = method.stats().latePipelines;
  return late === 0 ? 'passed' : `${late} pipelines were compiled during a step`;
}

/** What `runFixture` says of each; while one compiles, another one runs. */
export async function runFixtures(engine: Engine, urls: string[]): Promise<Record<string, string>> {
  const out: Record<string, string> = {};
  const left = urls.values();
  const worker = async (): Promise<void> => {
    for (const url of left) out[url] = await runFixture(engine, url).catch((error: Error) => `${error.name}: ${error.message}`);
  };
  await Promise.all([worker(), worker(), worker(), worker()]);
  const { bufferBytes } = engine.usage();
  if (bufferBytes > 0) out['all of them'] = `${bufferBytes} bytes are left on the GPU`;
  return out;
}

// Needs portable kernels, which only the plugin has.
async function refused(loading: Promise<Method>, ops: string[]): Promise<string> {
  try {
    (await loading).dispose();
    return `was loaded although it needs ${ops}`;
  } catch (error) {
    const { message } = error as Error;
    return ops.some((op) => message.includes(op)) ? 'passed' : `was refused without a word about ${ops}: ${message}`;
  }
}
