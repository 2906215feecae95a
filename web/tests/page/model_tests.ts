// SPDX-License-Identifier: BSD-3-Clause
// A real chat model in the browser: SmolLM2, served as /models/smollm2.pte.
import { Pteron, tensor, type Model } from '../../src/index.ts';
import { expect } from './expect.ts';

let model: Promise<Model> | undefined; // loading takes long: once for all

function smollm2(): Promise<Model> {
  model ??= Pteron.create().then((pteron) => pteron.load('/models/smollm2.pte'));
  return model;
}

/** What `pteron generate --json --logprobs 2` says about an answer. */
interface NativeAnswer {
  prompt: number[];
  token_ids: number[];
  logprobs: { top: { logprob: number }[] }[];
}

/** The index of the largest, and how far the next one is below it. */
function best(row: Float32Array): { token: number; gap: number } {
  const token = row.reduce((most, value, i) => (value > (row[most] as number) ? i : most), 0);
  const second = row.reduce((most, value, i) => (i === token ? most : Math.max(most, value)), -Infinity);
  return { token, gap: (row[token] as number) - second };
}

export const tests: Record<string, () => Promise<void>> = {
  async 'SmolLM2 is loaded in pieces: the module has at most 32 MB'() {
    const { usage } = await (await smollm2()).stats();
    console.log(`     the module has ${usage.heapBytes} bytes`);
    expect(usage.heapBytes <= 32e6, `the module has ${usage.heapBytes} bytes`);
  },

  async "SmolLM2's best tokens are those of torch"() {
    const { calls, top } = (await (await fetch('/data/smollm2/logits.json')).json()) as { calls: number[][]; top: number[][] };
    const loaded = await smollm2();
    let position = 0;
    for (const [i, tokens] of calls.entries()) {
      const inputs = [tensor('int64', [1, tokens.length], tokens), tensor('int64', [1], [position])];
      const [logits] = await loaded.run(inputs);
      const { token, gap } = best(logits?.data as Float32Array);
      expect(token === top[i]?.[0] || gap <= 0.05, `call ${i}: token ${token} instead of ${top[i]?.[0]}`);
      position += tokens.length;
    }
  },

  async "SmolLM2's tokens are those of the native build wherever the best is 0.05 ahead"() {
    const { prompt, token_ids: native, logprobs } = (await (await fetch('/temp/native.json')).json()) as NativeAnswer;
    const loaded = await smollm2();
    await loaded.reset();
    let tokens = prompt;
    let position = 0;
    let compared = 0;
    for (const [i, wanted] of native.entries()) {
      const [logits] = await loaded.run([tensor('int64', [1, tokens.length], tokens), tensor('int64', [1], [position])], [0]);
      const [first, second] = logprobs[i]?.top ?? [];
      const clear = (first?.logprob ?? 0) - (second?.logprob ?? 0) > 0.05;
      const { token } = best(logits?.data as Float32Array);
      expect(!clear || token === wanted, `token ${i} is ${token} instead of ${wanted}`);
      compared += clear ? 1 : 0;
      position += tokens.length;
      tokens = [wanted];
    }
    console.log(`     ${compared} of ${native.length} tokens are clear, and the same`);
    expect(compared >= native.length / 2, `only ${compared} tokens could be compared`);
  },

  async 'SmolLM2 answers, and remembers what was said'() {
    const loaded = await smollm2();
    const question = { role: 'user', content: 'What is the capital of France?' };
    const first = await loaded.chat([question], { maxTokens: 16 }).result;
    expect(first.text === 'The capital of France is Paris.' && first.reason === 'end_token', JSON.stringify(first));
    const messages = [question, { role: 'assistant', content: first.text }, { role: 'user', content: 'And of Italy?' }];
    const second = await loaded.chat(messages, { maxTokens: 2 }).result;
    expect(second.reusedTokens > first.promptTokens, `${second.reusedTokens} tokens were reused`);
  },
};
