// SPDX-License-Identifier: BSD-3-Clause
// Where the bytes of models come from and where they are kept; each runs in the page.
import { Engine, fromBytes, ModelCache, Pteron, tensor, type Progress, type Source } from '../../src/index.ts';
import { expect, expectError } from './expect.ts';
import { fetchBytes } from './fixture.ts';
import { answerOf, file, question, readAll, replacing, sent, withModel } from './support.ts';

const cacheName = 'pteron-models';

export const tests: Record<string, () => Promise<void>> = {
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

  async 'a cache that can not be read, or not be used, is no obstacle'() {
    const cache = new ModelCache();
    await readAll(cache, file);
    const storage = await caches.open(cacheName);
    const [entry] = (await storage.keys()).filter(({ url }) => url.endsWith('/entry'));
    for (const garbage of ['{', 'null', '{"hashes": [], "size": 100}']) {
      await storage.put(entry as Request, new Response(garbage));
      expect((await readAll(cache, file)).length > 0, 'nothing was read');
      expect((await cache.list()).length > 0, 'the entry was not made again');
    }
    const forbidden = (): never => { throw new DOMException('no storage here', 'SecurityError'); };
    await replacing(CacheStorage.prototype, 'open', forbidden, () =>
      withModel(async (model) => expect((await answerOf(model)).length > 0, 'no answer'), { worker: false }));
  },

  async 'the quota of the browser is kept'() {
    const cache = new ModelCache({ name: 'quota' });
    await cache.clear();
    const withQuota = (quota: number, use: () => Promise<void>): Promise<void> =>
      replacing(StorageManager.prototype, 'estimate', async () => ({ quota, usage: 0 }), use);
    await withQuota(1 << 20, async () => expect((await readAll(cache, '/temp/large.bin')).length > 1 << 20, 'it is not read'));
    expect((await cache.list()).length === 0, 'more was kept than there is room');
    await withQuota(20 << 20, async () => void (await readAll(cache, '/temp/large.bin')));
    expect((await cache.list())[0]?.cachedBytes === 9 << 20, 'it was not kept');
    await cache.clear();
  },

  async 'a connection that breaks is made again where it broke'() {
    const whole = new Uint8Array(await fetchBytes('/temp/large.bin'));
    const cache = new ModelCache({ name: 'broken' });
    await cache.clear();
    const ranges: (string | null)[] = [];
    const original = globalThis.fetch;
    const breaking: typeof fetch = async (input, init) => {
      const response = await original(input, init);
      if (init?.method === 'HEAD') return response;
      ranges.push(new Headers(init?.headers).get('range'));
      if (ranges.length > 2 || !response.body) return response;
      let left = 3_000_000;
      const cut = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, to) {
          to.enqueue(chunk.subarray(0, left));
          left -= chunk.length;
          if (left <= 0) to.error(new TypeError('network error'));
        },
      });
      return new Response(response.body.pipeThrough(cut), { status: response.status, headers: response.headers });
    };
    await replacing(globalThis, 'fetch', breaking, async () => {
      const bytes = await readAll(cache, '/temp/large.bin');
      expect(bytes.length === whole.length && bytes.every((byte, i) => byte === whole[i]), 'the bytes differ');
    });
    expect(ranges.length === 3 && ranges[0] === null && Number(ranges[1]?.slice(6, -1)) > 0, `requests: ${ranges}`);
    await cache.clear();
  },

  async 'programs and their data may lie beyond 4 GiB'() {
    const bytes = new Uint8Array(await fetchBytes(file));
    const far = 5 * 2 ** 30;
    const header = new DataView(bytes.buffer);
    const base = Number(header.getBigUint64(24, true)); // where its segments begin
    header.setBigUint64(24, BigInt(base + far), true);
    let furthest = 0;
    const source: Source = {
      name: 'far.pte',
      size: bytes.length + far,
      async read(offset, size) {
        furthest = Math.max(furthest, offset + size);
        const from = offset >= base + far ? offset - far : offset;
        return bytes.subarray(from, from + size);
      },
    };
    using engine = await Engine.create();
    using program = await engine.load(source);
    using method = await program.method();
    using near = await engine.load(fromBytes(await fetchBytes(file)));
    using expected = await near.method();
    const inputs = [tensor('int64', [1, 2], [3, 4]), tensor('int64', [1], [0])];
    const [[a], [b]] = [await method.run(inputs), await expected.run(inputs)];
    expect(furthest > far && a?.data.join() === b?.data.join(), `read up to ${furthest}`);
  },

  async 'external constants come from their own files'() {
    const folder = '/data/ops/external_data/two_files';
    const manifest = await (await fetch(`${folder}/manifest.json`)).json();
    const golden = await fetchBytes(`${folder}/data.bin`);
    using pteron = await Pteron.create();
    const model = await pteron.load(`${folder}/model.pte`, { data: manifest.data_files.map((name: string) => `${folder}/${name}`) });
    const [sum] = await model.run([tensor('float32', [3, 7], new Float32Array(golden.slice(0, 84)))]);
    const wanted = new Float32Array(golden.slice(84));
    expect(wanted.every((value, i) => Math.abs(value - Number(sum?.data[i])) < 1e-4), `${sum?.data}`);
    await expectError('not found', '', () => pteron.load(`${folder}/model.pte`));
  },

  async 'every phase of loading tells its bytes up to the last one'() {
    using pteron = await Pteron.create();
    const all: Progress[] = [];
    const { info } = await pteron.load(file, { cache: false, onProgress: (progress) => all.push(progress) });
    for (const phase of ['download', 'weights', 'pipelines'] as const) {
      const steps = all.filter((progress) => progress.phase === phase);
      expect(steps.every(({ done }, i) => done >= (steps[i - 1]?.done ?? 0)), `${phase} goes back: ${JSON.stringify(steps)}`);
      expect(steps.length > 1 && steps.at(-1)?.done === steps.at(-1)?.total, `${phase}: ${JSON.stringify(steps.at(-1))}`);
    }
    expect(all.find(({ phase }) => phase === 'download')?.total === info.bytes, 'the download is not the file');
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
    const aborter = new AbortController();
    const endless = new ReadableStream<Uint8Array>({ pull: (to) => to.enqueue(new Uint8Array(1000)) });
    const onProgress = ({ done }: Progress): void => void (done > 50_000 && aborter.abort());
    await expectError('cancelled', 'loading was cancelled', () => pteron.load(endless, { signal: aborter.signal, onProgress }));
    const failing = new ReadableStream<Uint8Array>({ pull: (to) => to.error(new Error('as if by a bug')) });
    await expectError('invalid', 'as if by a bug', () => pteron.load(failing));
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
};
