// SPDX-License-Identifier: BSD-3-Clause
// Real programs with goldens, as tests/support/fixture.h reads them: a folder with model.pte, manifest.json, raw tensors.
import { fromBytes, tensor, type DType, type Engine, type Method, type Tensor } from '../../src/index.ts';

interface TensorEntry {
  file: string;
  dtype: DType;
  shape: number[];
  scalar?: number;
}

interface Manifest {
  inputs: TensorEntry[];
  outputs: TensorEntry[];
  atol?: number;
  rtol?: number;
  delegate_ops?: Record<string, number>;
  portable_ops?: Record<string, number>;
  live?: { size: unknown; inputs: TensorEntry[]; outputs?: TensorEntry[] }[];
}

interface InputSet {
  name: string;
  inputs: Tensor[];
  outputs: Tensor[];
}

export async function fetchBytes(url: string): Promise<ArrayBuffer> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return response.arrayBuffer();
}

async function readTensor(folder: string, entry: TensorEntry): Promise<Tensor> {
  if (entry.scalar !== undefined)
    return tensor(Number.isInteger(entry.scalar) ? 'int64' : 'float64', [], [entry.scalar]);
  const bytes = await fetchBytes(`${folder}/${entry.file}`);
  const data = tensor(entry.dtype, [0], []).data.constructor as new (bytes: ArrayBuffer) => Tensor['data'];
  return { dtype: entry.dtype, shape: entry.shape, data: new data(bytes) };
}

const readTensors = (folder: string, entries: TensorEntry[]): Promise<Tensor[]> =>
  Promise.all(entries.map((entry) => readTensor(folder, entry)));

function halfToNumber(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const mantissa = bits & 0x3ff;
  if (exponent === 31) return mantissa ? NaN : sign * Infinity;
  return sign * (exponent === 0 ? mantissa * 2 ** -24 : (1024 + mantissa) * 2 ** (exponent - 25));
}

const element = ({ dtype, data }: Tensor, i: number): number =>
  dtype === 'float16' ? halfToNumber(Number(data[i])) : Number(data[i]);

/** Passes where |Δ| ≤ atol or |Δ| ≤ rtol · |expected|. NaN and infinities must match. Empty: equal. */
export function difference(actual: Tensor, expected: Tensor, atol: number, rtol: number): string {
  if (actual.shape.join() !== expected.shape.join()) return `shape [${actual.shape}] instead of [${expected.shape}]`;
  const real = expected.dtype.startsWith('float');
  const slack = real ? atol : expected.dtype === 'int8' || expected.dtype === 'uint8' ? 1 : 0;
  let bad = 0;
  let first = '';
  for (let i = 0; i < expected.data.length; i += 1) {
    const a = element(actual, i);
    const e = element(expected, i);
    const delta = Math.abs(a - e);
    if (Object.is(a, e) || a === e || delta <= slack || (real && delta <= rtol * Math.max(Math.abs(e), 1e-6))) continue;
    if (bad === 0) first = `element ${i} is ${a} instead of ${e}`;
    bad += 1;
  }
  return bad === 0 ? '' : `${bad} of ${expected.data.length} differ: ${first}`;
}

/** "passed", "missing" (it needs ops that are not there yet), or what went wrong. */
export async function runFixture(engine: Engine, folder: string): Promise<string> {
  const manifest = (await (await fetch(`${folder}/manifest.json`)).json()) as Manifest;
  const ops = Object.keys(manifest.delegate_ops ?? {});
  if (!ops.every((op) => engine.info.ops.includes(op))) return 'missing';
  using program = await engine.load(fromBytes(await fetchBytes(`${folder}/model.pte`), folder));
  const outside = Object.keys(manifest.portable_ops ?? {}).find((op) => op !== 'aten::copy_');
  if (outside) return refused(program.method('forward'), outside);
  using method = await program.method('forward');
  const main = {
    name: 'main',
    inputs: await readTensors(folder, manifest.inputs),
    outputs: await readTensors(folder, manifest.outputs),
  };
  const sets: InputSet[] = [main];
  for (const { size, inputs, outputs } of manifest.live instanceof Array ? manifest.live : [])
    if (outputs)
      sets.push({
        name: `live ${JSON.stringify(size)}`,
        inputs: await readTensors(folder, inputs),
        outputs: await readTensors(folder, outputs),
      });
  if (sets.length > 1) sets.push({ ...main, name: 'main again' });
  const unspecified = ops.includes('update_cache.default'); // only what it updates counts, natively tested
  const { atol = 1e-3, rtol = 1e-3 } = manifest;
  for (const set of sets) {
    const outputs = await method.run(set.inputs);
    const own = outputs.slice(outputs.length - set.outputs.length); // updated inputs come first
    for (const [i, expected] of set.outputs.entries()) {
      const problem = unspecified ? '' : difference(own[i] as Tensor, expected, atol, rtol);
      if (problem) return `${set.name}: output ${i}: ${problem}`;
    }
  }
  const late = method.stats().latePipelines;
  return late === 0 ? 'passed' : `${late} pipelines were compiled during a step`;
}

// Needs portable kernels, which only the plugin has.
async function refused(loading: Promise<Method>, op: string): Promise<string> {
  try {
    (await loading).dispose();
    return `was loaded although it needs ${op}`;
  } catch (error) {
    return (error as Error).message.includes(op) ? 'passed' : `was refused without a word about ${op}: ${error}`;
  }
}
