// SPDX-License-Identifier: BSD-3-Clause
// What goes wrong in browsers, and what is said and done then; each runs in the page.
import { Engine, fromBytes, openDevice, Pteron, tensor, type Source } from '../../src/index.ts';
import { expect, expectError } from './expect.ts';
import { fetchBytes } from './fixture.ts';
import { answerOf, changed, file, question, replacing, sent, withDevices, withModel } from './support.ts';

const inputs = [tensor('int64', [1, 1], [1]), tensor('int64', [1], [0])];

/** Pteron's worker with something that happens in it when an answer is asked for. */
function faultyWorker(fault: string): Worker {
  const code = `import '${location.origin}/dist/worker.js';
    addEventListener('message', ({ data }) => data.name === 'chat' && setTimeout(() => { ${fault} }));`;
  return new Worker(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })), { type: 'module' });
}

export const tests: Record<string, () => Promise<void>> = {
  async 'a device that is lost in an answer is opened again and the answer goes on'() {
    await withDevices(async (devices) => {
      await withModel(async (model) => {
        const before = await sent(file);
        // Drawn tokens, penalties and grammars go on as if nothing had happened.
        const kinds = [{}, { temperature: 1.2, seed: 5, frequencyPenalty: 2 }, { regex: '[a-f]{3}( [0-9]{4})+', temperature: 1 }];
        for (const [i, kind] of kinds.entries()) {
          const options = { maxTokens: 12, ...kind };
          const whole = await model.chat(question, options).result;
          const answer = model.chat(question, options);
          let pieces = 0;
          for await (const _ of answer) if (++pieces === 4) devices.at(-1)?.destroy();
          const result = await answer.result;
          expect(result.recoveries === 1 && devices.length === i + 2, `${result.recoveries} recoveries, ${devices.length} devices`);
          expect(result.text === whole.text && result.promptTokens === whole.promptTokens, `'${result.text}' instead of '${whole.text}'`);
        }
        expect((await sent(file)) === before, 'the model was fetched again instead of taken from the cache');
      }, { worker: false });
    });
  },

  async 'a lost device: what has no state goes on, what had some says that it is gone'() {
    await withDevices(async (devices) => {
      await withModel(async (model, pteron) => {
        devices.at(-1)?.destroy();
        const [first] = await model.run(inputs); // nothing was there to lose
        devices.at(-1)?.destroy();
        await expectError('device lost', 'its state is gone', () => model.run(inputs));
        const [again] = await model.run(inputs);
        expect(first?.data.join() === again?.data.join(), 'the model is another one');
        devices.at(-1)?.destroy();
        await pteron.load(file); // on a new device
        await expectError('device lost', 'its state is gone', () => model.run(inputs));
        expect(devices.length === 4, `${devices.length} devices`);
      }, { worker: false });
    });
  },

  async "a device of the page's own that is lost is an error"() {
    const device = await openDevice();
    await withModel(async (model) => {
      device.destroy();
      await expectError('device lost', 'the GPU device was lost', () => answerOf(model));
      await expectError('device lost', 'the GPU device was lost', () => model.run(inputs));
    }, { device });
  },

  async 'a model that is too large for the GPU is refused with numbers before its weights are fetched'() {
    const device = await openDevice();
    const whole = fromBytes(await fetchBytes(file), 'large.pte');
    for (const limit of ['maxStorageBufferBindingSize', 'maxBufferSize']) {
      let read = 0;
      const counted: Source = { ...whole, read: (offset, size) => ((read += size), whole.read(offset, size)) };
      const limits = new Proxy(device.limits, { get: (target, name) => (name === limit ? 16384 : Reflect.get(target, name, target)) });
      using engine = await Engine.create({ device: changed(device, { limits: () => limits }) });
      using program = await engine.load(counted);
      await expectError('out of memory', 'at most 16 KiB', () => program.method());
      expect(read < whole.size / 4, `${read} of ${whole.size} bytes were read`);
      expect(engine.usage().bufferBytes === 0, 'something was left behind');
    }
    device.destroy();
  },

  async 'a worker that crashes says why, and a new one works'() {
    for (const fault of ["throw new Error('as if by a bug')", "Promise.reject(new Error('as if by a bug'))"]) {
      using pteron = await Pteron.create({ worker: () => faultyWorker(fault) });
      const chatTemplate = await (await fetch('/chat_template.jinja')).text();
      const model = await pteron.load(file, { tokenizer: '/tokenizer.json', chatTemplate });
      await expectError('internal', 'as if by a bug; create a new Pteron', () => model.chat(question).result);
      expect((await pteron.stopped).message.includes('the worker stopped'), 'it did not say that it stopped');
      await expectError('internal', 'the worker stopped', () => model.run(inputs));
      await expectError('internal', 'the worker stopped', () => pteron.load(file));
      model.dispose();
    }
    await withModel(async (model) => expect((await answerOf(model)).length > 0, 'no answer'));
  },

  async 'an engine that stopped is replaced at the next call'() {
    await withModel(async (model, pteron) => {
      const whole = await answerOf(model);
      await model.run(inputs);
      const bug = (): never => { throw new Error('as if by a bug'); };
      await replacing(GPUCommandEncoder.prototype, 'beginComputePass', bug, () =>
        expectError('internal', 'the engine stopped', () => answerOf(model)));
      expect((await answerOf(model)) === whole, 'the answer is another one');
      await expectError('device lost', 'its state is gone', () => model.run(inputs));
      expect((await model.run(inputs)).length > 0, 'the model is not back');
      await replacing(GPUCommandEncoder.prototype, 'beginComputePass', bug, () =>
        expectError('internal', 'the engine stopped', () => model.run(inputs)));
      await pteron.load(file);
    }, { worker: false });
  },

  async 'no WebGPU, no adapter and too small limits have their own words'() {
    const create = (): Promise<Pteron> => Pteron.create({ worker: false });
    await replacing(navigator, 'gpu', undefined, async () => {
      await expectError('unsupported', 'no WebGPU', create);
      await replacing(globalThis, 'isSecureContext', false, () => expectError('unsupported', 'over HTTPS', create));
    });
    await replacing(navigator, 'gpu', { requestAdapter: async () => null }, () => expectError('not found', 'no GPU', create));
    const limits = { maxStorageBuffersPerShaderStage: 4 };
    await replacing(navigator, 'gpu', { requestAdapter: async () => ({ limits }) }, () =>
      expectError('unsupported', 'maxStorageBuffersPerShaderStage is 4, but 8 is needed', create));
    await expectError('internal', 'the worker stopped', () =>
      Pteron.create({ worker: () => new Worker('/nothing.js', { type: 'module' }) }));
  },
};
