// SPDX-License-Identifier: BSD-3-Clause
// What Pteron and Model promise; each runs in the page.
import { Pteron, tensor } from '../../src/index.ts';
import { expect, expectError } from './expect.ts';
import { answerOf, countCrossings, file, question, replacing, withModel } from './support.ts';

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

  async 'who only runs programs never fetches what language models need'() {
    const fetched: string[] = [];
    const { fetch: original } = globalThis;
    const watched = (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
      fetched.push(String(input instanceof Request ? input.url : input));
      return original(input, init);
    };
    const modules = (): string => fetched.map((url) => url.split('/').at(-1)).filter((name) => name?.endsWith('.wasm')).join();
    await replacing(globalThis, 'fetch', watched, async () => {
      using pteron = await Pteron.create({ worker: false });
      const model = await pteron.load('/data/ops/add/itself/model.pte');
      await model.run([tensor('float32', [3, 5], new Array(15).fill(1))]);
      expect(modules() === 'pteron.wasm', `fetched: ${modules()}`);
      for (let i = 0; i < 2; i += 1) await pteron.load(file, { tokenizer: '/tokenizer.json' });
      expect(modules() === 'pteron.wasm,pteron_language.wasm', `fetched with two language models: ${modules()}`);
    });
  },

  async 'a part of the engine that is missing or wrong is an error of loading a language model'() {
    const empty = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);
    for (const [languageWasm, kind, message] of [['/nowhere.wasm', 'not found', '/nowhere.wasm'], [empty, 'invalid', 'of another kind']] as const) {
      using pteron = await Pteron.create({ worker: false, languageWasm });
      await expectError(kind, message, () => pteron.load(file, { tokenizer: '/tokenizer.json' }));
      const model = await pteron.load('/data/ops/add/itself/model.pte');
      expect(model.info.method.inputs.length > 0, 'programs can no longer be loaded');
    }
  },

  async 'parts of two builds are not put together'() {
    const { fetch: original } = globalThis;
    const altered = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
      const response = await original(input, init);
      if (!response.url.endsWith('/pteron_language.wasm')) return response;
      const bytes = new Uint8Array(await response.arrayBuffer());
      bytes[bytes.length - 1]! ^= 1; // of the build's name, which stands last
      return new Response(bytes);
    };
    await replacing(globalThis, 'fetch', altered, async () => {
      using pteron = await Pteron.create({ worker: false });
      await expectError('invalid', 'of one package', () => pteron.load(file, { tokenizer: '/tokenizer.json' }));
    });
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

  async 'a token of an answer crosses the border a handful of times'() {
    const crossings = countCrossings();
    await withModel(async (model) => {
      await answerOf(model, 2);
      crossings.restart();
      const { tokens } = await model.chat(question, { maxTokens: 40 }).result;
      const [calls, returns] = [crossings.calls / tokens, crossings.returns / tokens];
      console.log(`     a token: ${calls.toFixed(1)} calls into the module, ${returns.toFixed(1)} out of it`);
      expect(tokens >= 8 && calls <= 8 && returns <= 10, `${calls} calls into the module a token, ${returns} out of it`);
    }, { worker: false }).finally(crossings.stop);
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
