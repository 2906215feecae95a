// SPDX-License-Identifier: BSD-3-Clause
// What the browser version promises; each runs in the page. Names are the promises.
import {
  Engine, fromBlob, fromUrl, openDevice, tensor, type Epilogue, type Method, type Program, type Tensor,
} from '../../src/index.ts';
import { expect, expectError } from './expect.ts';
import { difference, fetchBytes } from './fixture.ts';
import { changed, countCrossings } from './support.ts';

const folder = '/data/llama_tiny/rope_llama';
const model = `${folder}/model.pte`;

interface Run {
  prompt_ids: number[];
  generated_ids: number[];
  logits_file: string;
  logits_shape: [number, number];
}

const logitTolerance = { atol: 2e-4, rtol: 0, nmse: Infinity, int8Slack: 0 };

const step = (tokens: number[], position: number): Tensor[] => [
  tensor('int64', [1, tokens.length], tokens),
  tensor('int64', [1], [position]),
];

async function withLlama(use: (method: Method, engine: Engine) => Promise<void>): Promise<void> {
  using engine = await Engine.create();
  using program = await engine.load(await fromUrl(model));
  using method = await program.method();
  await use(method, engine);
}

/** A program on a device some of whose functions are replaced. */
async function withDevice(
  replaced: Record<string, (device: GPUDevice) => unknown>,
  use: (program: Program, engine: Engine) => Promise<void>,
): Promise<void> {
  const device = await openDevice();
  const engine = await Engine.create({ device: changed(device, replaced) });
  await use(await engine.load(await fromUrl(model)), engine);
  engine.dispose();
  device.destroy();
}

async function expectLogits(method: Method, runs: Run[]): Promise<void> {
  for (const { prompt_ids, generated_ids, logits_file, logits_shape } of runs) {
    const golden = new Float32Array(await fetchBytes(`${folder}/${logits_file}`));
    const width = logits_shape[1];
    method.reset();
    let tokens = prompt_ids;
    let position = 0;
    for (const [i, token] of generated_ids.entries()) {
      const [logits] = await method.run(step(tokens, position));
      const expected = tensor('float32', [1, width], golden.subarray(i * width, (i + 1) * width));
      const problem = difference(logits as Tensor, expected, logitTolerance);
      expect(!problem, `${logits_file} step ${i}: ${problem}`);
      position += tokens.length;
      tokens = [token];
    }
  }
}

const readRuns = async (): Promise<Run[]> =>
  ((await (await fetch(`${folder}/manifest.json`)).json()) as { runs: Run[] }).runs;

export const tests: Record<string, () => Promise<void>> = {
  async 'the logits of every step of four runs match torch'() {
    const runs = await readRuns();
    expect(runs.length === 4, `there are ${runs.length} runs`);
    await withLlama((method) => expectLogits(method, runs));
  },

  async 'a clone goes its own way'() {
    const [first, second] = (await readRuns()) as [Run, Run];
    await withLlama(async (method) => {
      await method.run(step(first.prompt_ids, 0));
      using other = method.clone();
      await expectLogits(method, [second]);
      const golden = new Float32Array(await fetchBytes(`${folder}/${first.logits_file}`));
      const width = first.logits_shape[1];
      const [logits] = await other.run(step([first.generated_ids[0] as number], first.prompt_ids.length));
      const expected = tensor('float32', [1, width], golden.subarray(width, 2 * width));
      expect(difference(logits as Tensor, expected, logitTolerance) === '', 'the clone has another state');
    });
  },

  async 'loading tells its progress and streams the file in pieces'() {
    const seen = new Set<string>();
    const source = fromBlob(new Blob([await fetchBytes(model)]));
    let largest = 0;
    const counted = { ...source, read: (offset: number, size: number) => ((largest = Math.max(largest, size)), source.read(offset, size)) };
    using engine = await Engine.create();
    using program = await engine.load(counted, {
      onProgress: ({ phase, done, total }) => {
        seen.add(phase);
        expect(done <= total, `${phase}: ${done} of ${total}`);
      },
    });
    using method = await program.method();
    expect(method.info.inputs.length === 2, 'the method has other inputs');
    expect([...seen].sort().join() === 'pipelines,program,weights', `phases: ${[...seen]}`);
    expect(largest < source.size, `${largest} bytes were asked for at once`);
  },

  async 'a step crosses the border a handful of times and creates nothing'() {
    const crossings = countCrossings();
    await withLlama(async (method, engine) => {
      await method.run(step([1, 2, 3], 0));
      await method.run(step([4], 3));
      const before = engine.usage();
      crossings.restart();
      await method.run(step([5], 4));
      const { calls, returns } = crossings;
      const after = engine.usage();
      const { dispatches } = method.stats();
      console.log(`     a step of ${dispatches} dispatches: ${calls} calls into the module, ${returns} out of it`);
      expect(dispatches > 0 && calls <= 5 && returns <= 8, `${calls} calls into the module, ${returns} out of it`);
      expect(after.submits - before.submits === 1, 'more than one submit');
      expect(after.writes - before.writes <= 2, `${after.writes - before.writes} writes`);
      expect(after.creates === before.creates, 'a step created something');
      expect(after.heapBytes === before.heapBytes, 'a step grew the heap');
    }).finally(crossings.stop);
  },

  async 'a further instance shares weights and kernels'() {
    using engine = await Engine.create();
    using program = await engine.load(await fromUrl(model));
    using first = await program.method();
    const before = engine.usage();
    using second = await program.method();
    const after = engine.usage();
    expect(after.pipelines === before.pipelines, 'kernels were compiled again');
    expect(after.bufferBytes - before.bufferBytes === second.stats().gpuBytes, 'weights were loaded again');
    expect(first !== second, 'it is the same instance');
  },

  async 'an epilogue gives the best token'() {
    const [run] = (await readRuns()) as [Run];
    using engine = await Engine.create();
    using program = await engine.load(await fromUrl(model));
    const epilogues: Epilogue[] = [{ kind: 'argMax' }, { kind: 'topK', k: 4 }, { kind: 'logSumExp', rows: 'all' }];
    using method = await program.method('forward', { epilogues });
    const [best, values, indices, sums] = await method.run(step(run.prompt_ids, 0), [1, 2, 3, 4]);
    expect(Number(sums?.data[0]) > Number(values?.data[0]), `log-sum-exp ${sums?.data[0]}`);
    await expectError('invalid', 'output 9', () => method.run(step(run.prompt_ids, 0), [9]));
    expect(Number(best?.data[0]) === run.generated_ids[0], `token ${best?.data[0]}`);
    expect(values?.data.length === 4 && Number(indices?.data[0]) === run.generated_ids[0], 'topK disagrees');
    expect(method.stats().readBackBytes < 512, `${method.stats().readBackBytes} bytes were read back`);
  },

  async 'what is disposed of leaves nothing on the GPU'() {
    const engine = await Engine.create();
    const program = await engine.load(await fromUrl(model));
    const method = await program.method();
    await method.run(step([1, 2, 3], 0));
    method.clone().dispose();
    expect(engine.usage().bufferBytes > 0, 'nothing was there');
    method.dispose();
    program.dispose();
    const { buffers, bufferBytes, pipelines, bindGroups } = engine.usage();
    expect(buffers + bufferBytes + pipelines + bindGroups === 0, JSON.stringify(engine.usage()));
    engine.dispose();
    await expectError('invalid', 'disposed', () => engine.usage());
    await expectError('invalid', 'disposed', () => method.run(step([1], 0)));
  },

  async 'loading and disposing again and again does not grow'() {
    using engine = await Engine.create();
    const bytes = new Blob([await fetchBytes(model)]);
    const heap: number[] = [];
    for (let i = 0; i < 40; i += 1) {
      using program = await engine.load(fromBlob(bytes));
      using method = await program.method();
      await method.run(step([1, 2, 3], 0));
      heap.push(engine.usage().heapBytes);
    }
    expect(engine.usage().bufferBytes === 0, JSON.stringify(engine.usage()));
    // The allocator finds its shape in the first half; a leak would go on.
    expect(heap.at(-1) === heap[20], `the heap grew: ${heap}`);
  },

  async 'a destroyed device is a clear error of every later call'() {
    const device = await openDevice();
    using engine = await Engine.create({ device });
    using program = await engine.load(await fromUrl(model));
    using method = await program.method();
    await method.run(step([1, 2, 3], 0));
    device.destroy();
    await expectError('device lost', 'the GPU device was lost: ', () => method.run(step([4], 3)));
    await expectError('device lost', 'the GPU device was lost: ', () => method.run(step([4], 3)));
    await expectError('device lost', 'the GPU device was lost: ', () => program.method());
  },

  async 'a device destroyed during a step ends it with that error'() {
    const device = await openDevice();
    using engine = await Engine.create({ device });
    using program = await engine.load(await fromUrl(model));
    using method = await program.method();
    const running = method.run(step([1, 2, 3], 0));
    device.destroy();
    await expectError('device lost', 'the GPU device was lost: ', () => running);
  },

  async "an error that WebGPU reports late is the engine's error"() {
    const device = await openDevice();
    using engine = await Engine.create({ device });
    device.createBuffer({ label: 'wrong on purpose', size: 3, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.STORAGE });
    await device.queue.onSubmittedWorkDone();
    using program = await engine.load(await fromUrl(model));
    await expectError('internal', 'WebGPU: ', () => program.method());
    device.destroy();
  },

  async 'disposing of a method while it runs cancels the run'() {
    await withLlama(async (method) => {
      const running = method.run(step([1, 2, 3], 0));
      method.dispose();
      await expectError('cancelled', 'disposed', () => running);
    });
  },

  async 'loading can be cancelled'() {
    const aborter = new AbortController();
    using engine = await Engine.create();
    using program = await engine.load(await fromUrl(model), {
      signal: aborter.signal,
      onProgress: ({ phase }) => phase === 'weights' && aborter.abort(),
    });
    await expectError('cancelled', 'cancelled', () => program.method());
    expect(engine.usage().bufferBytes === 0, 'weights were left behind');
  },

  async 'wrong inputs are errors before anything runs'() {
    await withLlama(async (method, engine) => {
      const { submits } = engine.usage();
      await expectError('invalid', 'takes 2 inputs, but 1', () => method.run([tensor('int64', [1, 1], [1])]));
      await expectError('invalid', 'at most 127', () => method.run(step(new Array<number>(128).fill(1), 0)));
      await expectError('invalid', 'there are 512', () => method.run(step([512], 0)));
      await expectError('invalid', '2 elements', () => method.run([tensor('int64', [1, 1], [1, 2]), tensor('int64', [1], [0])]));
      await expectError('invalid', 'should be int64', () => method.run([tensor('int32', [1, 1], [1]), tensor('int64', [1], [0])]));
      await expectError('invalid', 'already running', () => Promise.all([method.run(step([1], 0)), method.run(step([1], 0))]));
      expect(engine.usage().submits === submits + 1, 'something was submitted');
    });
  },

  async 'broken files are errors that say what is wrong'() {
    using engine = await Engine.create();
    const bytes = new Uint8Array(await fetchBytes(model));
    const cut = (size: number) => fromBlob(new Blob([bytes.slice(0, size)]), 'cut.pte');
    await expectError('invalid', 'loading cut.pte: the file has 5 bytes', () => engine.load(cut(5)));
    await expectError('invalid', "not 'ET12'", () => engine.load(fromBlob(new Blob([new Uint8Array(100)]))));
    await expectError('invalid', 'truncated', () => engine.load(cut(bytes.length / 2)));
    await expectError('not found', "no method 'backward'", async () => {
      using program = await engine.load(await fromUrl(model));
      await program.method('backward');
    });
    await expectError('not found', '404', () => fromUrl('/nothing.pte'));
    expect(engine.usage().bufferBytes === 0, 'something was left behind');
  },

  async 'a GPU without memory is an error with what did not fit'() {
    const full = () => () => Promise.resolve(new GPUOutOfMemoryError('as if it were full'));
    await withDevice({ popErrorScope: full }, async (program) => {
      await expectError('out of memory', "bytes for '", () => program.method());
    });
  },

  async 'a kernel that does not compile is an error with its file and line'() {
    const spoil = (device: GPUDevice) => (descriptor: GPUShaderModuleDescriptor) =>
      device.createShaderModule({ ...descriptor, code: descriptor.code.replace('@compute', 'oops @compute') });
    await withDevice({ createShaderModule: spoil }, async (program, engine) => {
      await expectError('internal', '.wgsl line', () => program.method());
      await expectError('internal', 'kernel ', () => program.method());
      expect(engine.usage().bufferBytes === 0, 'something was left behind');
    });
  },

  async 'an engine that stopped says so'() {
    const bug = () => () => { throw new Error('as if by a bug'); };
    await withDevice({ createBindGroup: bug }, async (program) => {
      await expectError('internal', 'as if by a bug', () => program.method());
      await expectError('internal', 'create a new one', () => program.method());
    });
  },

  async 'a streamed file has the same bytes in whatever order they are read'() {
    const whole = new Uint8Array(await fetchBytes(model));
    for (const url of [model, `${model}?whole`]) {
      const source = await fromUrl(url);
      expect(source.size === whole.length, `the size is ${source.size}`);
      const reads = [[0, 64], [0, 5000], [5000, 1], [5000, 70000], [200_000, 10], [100, 300_000], [0, 0], [whole.length - 7, 7]];
      for (const [offset, size] of reads as [number, number][]) {
        const bytes = await source.read(offset, size);
        const expected = whole.subarray(offset, offset + size);
        expect(bytes.length === size && bytes.every((b, i) => b === expected[i]), `${url}: ${size} bytes at ${offset} differ`);
      }
      await expectError('invalid', 'ends at byte', () => source.read(whole.length - 2, 3));
    }
  },
};
