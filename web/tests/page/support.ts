// SPDX-License-Identifier: BSD-3-Clause
// The model and the tricks of the tests that run in the page.
import { Pteron, type Model, type ModelCache, type PteronOptions } from '../../src/index.ts';

/** A tiny Llama; the server has a tokenizer and a template for it. */
export const file = '/data/llama_tiny/rope_llama/model.pte';
export const question = [{ role: 'user', content: 'Hi' }];

export async function withModel(use: (model: Model, pteron: Pteron) => Promise<void>, options: PteronOptions = {}): Promise<void> {
  const chatTemplate = await (await fetch('/chat_template.jinja')).text();
  using pteron = await Pteron.create(options);
  void pteron.stopped.then(reportError); // which fails the test
  const model = await pteron.load(file, { tokenizer: '/tokenizer.json', chatTemplate });
  await use(model, pteron);
}

export async function answerOf(model: Model, maxTokens = 12): Promise<string> {
  return (await model.chat(question, { maxTokens }).result).text;
}

/** How often the server sent a file. */
export async function sent(path: string): Promise<number> {
  return ((await (await fetch('/requests')).json()) as Record<string, number>)[path.slice(1)] ?? 0;
}

export async function readAll(cache: ModelCache, url: string): Promise<Uint8Array> {
  const source = await cache.open(url);
  return source.read(0, source.size);
}

/** Runs with something else in the place of a property. */
export async function replacing(object: object, name: string, value: unknown, use: () => Promise<void>): Promise<void> {
  const own = Object.getOwnPropertyDescriptor(object, name);
  Object.defineProperty(object, name, { value, configurable: true, writable: true });
  try {
    await use();
  } finally {
    if (own) Object.defineProperty(object, name, own);
    else delete (object as Record<string, unknown>)[name];
  }
}

/** The devices that are opened on this thread meanwhile. */
export async function withDevices(use: (devices: GPUDevice[]) => Promise<void>): Promise<void> {
  const devices: GPUDevice[] = [];
  const original = GPUAdapter.prototype.requestDevice;
  const keep = async function (this: GPUAdapter, ...args: Parameters<typeof original>): Promise<GPUDevice> {
    const device = await original.apply(this, args);
    devices.push(device);
    return device;
  };
  await replacing(GPUAdapter.prototype, 'requestDevice', keep, () => use(devices));
}

/** A device some of whose properties are replaced. */
export function changed(device: GPUDevice, replaced: Record<string, (device: GPUDevice) => unknown>): GPUDevice {
  return new Proxy(device, {
    get(target, name) {
      const replace = replaced[String(name)];
      if (replace) return replace(target);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

type Call = (...args: number[]) => number;

/** Counts the calls into modules that are instantiated from now on, and theirs of the port. */
export function countCrossings(): { calls: number; returns: number; restart: () => void; stop: () => void } {
  const { Instance } = WebAssembly;
  const counter = {
    calls: 0,
    returns: 0,
    restart: () => void (counter.calls = counter.returns = 0),
    stop: () => void (WebAssembly.Instance = Instance),
  };
  const ours = (name: string, kind: 'calls' | 'returns'): boolean => kind === 'returns' || name.startsWith('pteron_');
  const counted = (functions: object, kind: 'calls' | 'returns'): Record<string, Call> =>
    Object.fromEntries(Object.entries(functions).map(([name, value]) =>
      [name, typeof value === 'function' && ours(name, kind) ? (...args: number[]) => ((counter[kind] += 1), (value as Call)(...args)) : value]));
  WebAssembly.Instance = class {
    readonly exports: WebAssembly.Exports;
    constructor(module: WebAssembly.Module, imports: WebAssembly.Imports) {
      const wasm = new Instance(module, { ...imports, pteron_gpu: counted(imports['pteron_gpu'] ?? {}, 'returns') });
      this.exports = counted(wasm.exports, 'calls');
    }
  } as typeof Instance;
  return counter;
}
