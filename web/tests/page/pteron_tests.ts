// SPDX-License-Identifier: BSD-3-Clause
// What Pteron, Model and ModelCache promise; each runs in the page.
import { ModelCache, Pteron, tensor, type Model, type PteronOptions } from '../../src/index.ts';
import { expect, expectError } from './expect.ts';

const file = '/data/llama_tiny/rope_llama/model.pte';
const question = [{ role: 'user', content: 'Hi' }];
const cacheName = 'pteron-models';

async function withModel(use: (model: Model, pteron: Pteron) => Promise<void>, options: PteronOptions = {}): Promise<void> {
  const chatTemplate = await (await fetch('/chat_template.jinja')).text();
  using pteron = await Pteron.create(options);
  const model = await pteron.load(file, { tokenizer: '/tokenizer.json', chatTemplate });
  await use(model, pteron);
}

/** How often the server sent a file. */
async function sent(path: string): Promise<number> {
  return ((await (await fetch('/requests')).json()) as Record<string, number>)[path.slice(1)] ?? 0;
}

/** Runs with something else in the place of a property. */
async function replacing(object: object, name: string, value: unknown, use: () => Promise<void>): Promise<void> {
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
async function withDevices(use: (devices: GPUDevice[]) => Promise<void>): Promise<void> {
  const devices: GPUDevice[] = [];
  const original = GPUAdapter.prototype.requestDevice;
  const keep = async function (this: GPUAdapter, ...args: Parameters<typeof original>): Promise<GPUDevice> {
    const device = await original.apply(this, args);
    devices.push(device);
    return device;
  };
  await replacing(GPUAdapter.prototype, 'requestDevice', keep, () => use(devices));
}

async function answerOf(model: Model, maxTokens = 12): Promise<string> {
  return (await model.chat(question, { maxTokens }).result).text;
}

async function readAll(cache: ModelCache, url: string): Promise<Uint8Array> {
  const source = await cache.open(url);
  return source.read(0, source.size);
}

export const tests: Record<string, () => Promise<void>> = {
  async 'a model in a worker gives the answers of one on this thread'() {
    const inputs = [tensor('int64', [1, 3], [37, 235, 396]), tensor('int64', [1], [0])];
    const answers: string[] = [];
    for (const worker of [true, false])
      await withModel(async (model) => {
        const [logits] = await model.run(inputs, [0]);
        expect(logits?.shape.join() === '1,512', `logits of shape ${logits?.shape}`);
        answers.push(`${logits.data.slice(0, 8)} ${await answerOf(model)}`);
      }, { worker });
    expect(answers[0] === answers[1], answers.join(' against '));
  },

  async 'an answer streams, and its pieces are the whole'() {
    await withModel(async (model) => {
      const answer = model.chat(question, { maxTokens: 10 });
      let text = '';
      let pieces = 0;
      for await (const piece of answer) {
        text += piece.text;
        pieces += 1;
      }
      const result = await answer.result;
      expect(pieces >= 10 && result.tokens === 10, `${pieces} pieces, ${result.tokens} tokens`);
      expect(text === result.text && text.length > 0, `'${text}' against '${result.text}'`);
      expect(result.reason === 'max_tokens' && result.firstTokenMs > 0, JSON.stringify(result));
      const again = await model.chat(question, { maxTokens: 10 }).result;
      expect(again.text === text && again.reusedTokens > 0, `the same question gave '${again.text}', ${again.reusedTokens} reused`);
    });
  },

  async 'an answer can be aborted, and the next one is whole'() {
    await withModel(async (model) => {
      const whole = await answerOf(model);
      const aborter = new AbortController();
      const answer = model.chat(question, { maxTokens: 100, signal: aborter.signal });
      let pieces = 0;
      for await (const _ of answer) if (++pieces === 3) aborter.abort();
      expect((await answer.result).reason === 'cancelled' && pieces < 20, `${pieces} pieces`);
      for await (const _ of model.chat(question, { maxTokens: 100 })) break;
      expect((await answerOf(model)) === whole, 'the answer after an abort is another one');
      const both = [model.chat(question, { maxTokens: 3 }).result, model.chat(question, { maxTokens: 3 }).result];
      await expectError('invalid', 'already answering', () => Promise.all(both));
      await both[0];
    });
  },

  async 'a device that is lost in an answer is opened again and the answer goes on'() {
    await withDevices(async (devices) => {
      await withModel(async (model) => {
        const whole = await answerOf(model);
        const before = await sent(file);
        const answer = model.chat(question, { maxTokens: 12 });
        let pieces = 0;
        for await (const _ of answer) if (++pieces === 4) devices.at(-1)?.destroy();
        const result = await answer.result;
        expect(result.recoveries === 1 && devices.length === 2, `${result.recoveries} recoveries, ${devices.length} devices`);
        expect(result.text === whole, `'${result.text}' instead of '${whole}'`);
        expect((await sent(file)) === before, 'the model was fetched again instead of taken from the cache');
        devices.at(-1)?.destroy();
        const inputs = [tensor('int64', [1, 1], [1]), tensor('int64', [1], [0])];
        await expectError('device lost', 'its state is gone', () => model.run(inputs));
        expect((await model.run(inputs)).length > 0, 'the model is not back');
      }, { worker: false });
    });
  },

  async 'what is disposed of leaves no buffer on the GPU'() {
    let alive = 0;
    const { createBuffer } = GPUDevice.prototype;
    const { destroy } = GPUBuffer.prototype;
    const create = function (this: GPUDevice, ...args: Parameters<typeof createBuffer>): GPUBuffer {
      alive += 1;
      return createBuffer.apply(this, args);
    };
    const free = function (this: GPUBuffer): undefined {
      alive -= 1;
      return destroy.apply(this);
    };
    await replacing(GPUDevice.prototype, 'createBuffer', create, () =>
      replacing(GPUBuffer.prototype, 'destroy', free, async () => {
        await withModel(async (model, pteron) => {
          await answerOf(model);
          expect(alive > 0, 'nothing was counted');
          model.dispose();
          await expectError('invalid', 'disposed', () => model.run([]));
          expect(alive === 0, `${alive} buffers are left`);
          pteron.dispose();
          await expectError('invalid', 'disposed', () => pteron.load(file));
        }, { worker: false });
      }));
  },

  async 'a model is fetched once and comes from the cache afterwards'() {
    await new ModelCache().clear();
    const before = await sent(file);
    await withModel(async () => undefined);
    expect((await sent(file)) === before + 1, `${(await sent(file)) - before} requests for the first load`);
    await withModel(async (model) => expect((await answerOf(model)).length > 0, 'no answer'));
    expect((await sent(file)) === before + 1, 'the second load fetched it again');
    const [cached] = (await new ModelCache().list()).filter(({ url }) => url.endsWith(file));
    expect(cached?.cachedBytes === cached?.size, JSON.stringify(cached));
    await new ModelCache().delete(file);
    expect(!(await new ModelCache().list()).some(({ url }) => url.endsWith(file)), 'it is still listed');
  },

  async 'a corrupted cache entry is fetched again'() {
    const cache = new ModelCache();
    await cache.clear();
    const right = await readAll(cache, file);
    const storage = await caches.open(cacheName);
    const chunk = (await storage.keys()).find(({ url }) => url.endsWith('/0'));
    expect(chunk !== undefined, 'there is no chunk');
    const wrong = right.slice();
    wrong[1000] = (wrong[1000] ?? 0) ^ 1;
    await storage.put(chunk, new Response(wrong));
    const before = await sent(file);
    const again = await readAll(cache, file);
    expect(again.every((byte, i) => byte === right[i]), 'wrong bytes came out of the cache');
    expect((await sent(file)) === before + 1, 'it was not fetched again');
    await readAll(cache, file);
    expect((await sent(file)) === before + 1, 'the repaired entry is not used');
  },

  async 'a load that broke off goes on where it stopped'() {
    const cache = new ModelCache();
    await cache.clear();
    const url = '/temp/large.bin';
    const whole = new Uint8Array(await (await fetch(url)).arrayBuffer());
    await (await cache.open(url)).read(0, 10); // its first chunk
    const [part] = await cache.list();
    expect(part?.cachedBytes === 4 << 20, JSON.stringify(part));
    const ranges: (string | null)[] = [];
    const original = globalThis.fetch;
    const watch: typeof fetch = (input, init) => {
      if (init?.method !== 'HEAD') ranges.push(new Headers(init?.headers).get('range'));
      return original(input, init);
    };
    await replacing(globalThis, 'fetch', watch, async () => {
      const bytes = await readAll(cache, url);
      expect(bytes.length === whole.length && bytes.every((byte, i) => byte === whole[i]), 'the bytes differ');
    });
    expect(ranges.join() === `bytes=${4 << 20}-`, `requests: ${ranges}`);
  },

  async 'when there is no room, the least recently used goes; what does not fit is not kept'() {
    const cache = new ModelCache({ name: 'small', maxBytes: 12 << 20 });
    await cache.clear();
    await readAll(cache, '/temp/large.bin?1');
    await readAll(cache, '/temp/large.bin?2');
    const kept = (await cache.list()).map(({ url }) => new URL(url).search);
    expect(kept.join() === '?2', `kept: ${kept}`);
    const tiny = new ModelCache({ name: 'tiny', maxBytes: 1000 });
    expect((await readAll(tiny, file)).length > 1000, 'it is not read');
    expect((await tiny.list()).length === 0, 'it was kept');
    await cache.clear();
    expect((await cache.list()).length === 0, 'clear left something');
  },

  async 'files, streams and bytes are models, too'() {
    const bytes = await (await fetch(file)).arrayBuffer();
    using pteron = await Pteron.create();
    for (const source of [new Blob([bytes]), new Response(bytes).body as ReadableStream<Uint8Array>, bytes]) {
      const phases = new Set<string>();
      const model = await pteron.load(source, { onProgress: ({ phase }) => phases.add(phase) });
      expect(model.info.bytes === bytes.byteLength && model.info.language?.chat === false, JSON.stringify(model.info));
      expect(['download', 'program', 'weights', 'pipelines'].every((phase) => phases.has(phase)), [...phases].join());
      await expectError('unsupported', 'tokenizer', () => model.chat(question).result);
      model.dispose();
    }
  },

  async 'loading can be cancelled in a worker'() {
    const aborter = new AbortController();
    using pteron = await Pteron.create();
    const loading = pteron.load(file, { signal: aborter.signal, onProgress: () => aborter.abort() });
    await expectError('cancelled', 'cancelled', () => loading);
    await expectError('not found', '404', () => pteron.load('/nothing.pte'));
    const model = await pteron.load(file);
    expect(model.info.report.memory.weights > 0 && model.info.report.ops.length > 0, JSON.stringify(model.info.report));
  },

  async 'no WebGPU, no adapter and too small limits have their own words'() {
    const create = (): Promise<Pteron> => Pteron.create({ worker: false });
    await replacing(navigator, 'gpu', undefined, () => expectError('unsupported', 'no WebGPU', create));
    await replacing(navigator, 'gpu', { requestAdapter: async () => null }, () => expectError('not found', 'no GPU', create));
    const limits = { maxStorageBuffersPerShaderStage: 4 };
    await replacing(navigator, 'gpu', { requestAdapter: async () => ({ limits }) }, () =>
      expectError('unsupported', 'maxStorageBuffersPerShaderStage is 4, but 8 is needed', create));
    await expectError('internal', 'the worker stopped', () =>
      Pteron.create({ worker: () => new Worker('/nothing.js', { type: 'module' }) }));
  },

  async 'the time of each op can be measured'() {
    await withModel(async (model) => {
      await model.profile(true);
      await answerOf(model, 3);
      const { profile, usage } = await model.stats();
      expect(profile.length > 5 && profile.every(({ op, kernel }) => op.length > 0 && kernel.length > 0), JSON.stringify(profile));
      expect(usage.bufferBytes > 0, 'nothing is on the GPU');
    });
  },
};
