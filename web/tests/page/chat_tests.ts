// SPDX-License-Identifier: BSD-3-Clause
// What conversations can do besides answering: they are those of the native build; each runs in the page.
import type { ChatMessage } from '../../src/index.ts';
import { expect, expectError } from './expect.ts';
import { question, withModel } from './support.ts';

const schema = {
  type: 'object',
  properties: { age: { type: 'integer', minimum: 0, maximum: 99 }, kind: { enum: ['cat', 'dog'] }, tame: { type: 'boolean' } },
  required: ['age', 'kind', 'tame'],
};

export const tests: Record<string, () => Promise<void>> = {
  async 'an answer keeps to a regular expression'() {
    await withModel(async (model) => {
      const { text, reason } = await model.chat(question, { regex: '(yes|no), [0-9]{3}!', maxTokens: 40 }).result;
      expect(/^(yes|no), [0-9]{3}!$/.test(text) && reason === 'grammar', `'${text}', ${reason}`);
      await expectError('unsupported', 'look at what follows', () => model.chat(question, { regex: 'a(?=b)' }).result);
    });
  },

  async 'an answer is JSON as its schema wants it, also when it is drawn'() {
    await withModel(async (model) => {
      for (const seed of [1, 2, 3]) {
        const { text, reason } = await model.chat(question, { jsonSchema: schema, temperature: 1.5, topK: 0, seed, maxTokens: 100 }).result;
        const { age, kind, tame } = JSON.parse(text) as { age: number; kind: string; tame: boolean };
        expect(reason === 'grammar' && age >= 0 && age <= 99 && Number.isInteger(age), `${text}, ${reason}`);
        expect(['cat', 'dog'].includes(kind) && typeof tame === 'boolean', text);
      }
      await expectError('invalid', 'exclude each other', () => model.chat(question, { regex: 'a', jsonSchema: schema }).result);
      await expectError('unsupported', 'multipleOf', () => model.chat(question, { jsonSchema: { multipleOf: 2 } }).result);
    });
  },

  async 'penalties keep tokens from coming back'() {
    await withModel(async (model) => {
      for (const penalty of [{ presencePenalty: 1000 }, { frequencyPenalty: 1000 }]) {
        const { text } = await model.chat(question, { regex: '[0-9]{10}', maxTokens: 10, ...penalty }).result;
        expect([...text].sort().join('') === '0123456789', `${JSON.stringify(penalty)} gave '${text}'`);
      }
    });
  },

  async 'a conversation that is too long slides if it may'() {
    await withModel(async (model) => {
      const context = model.info.language?.contextTokens ?? 0;
      const turn = (i: number): ChatMessage[] => [
        { role: 'user', content: `question ${i}` },
        { role: 'assistant', content: `answer ${i}` },
      ];
      const long = [{ role: 'system', content: 'Be brief.' }, ...Array.from({ length: 12 }, (_, i) => turn(i)).flat(), ...question];
      await expectError('invalid', 'let it slide', () => model.chat(long, { maxTokens: 2 }).result);
      const { droppedMessages, promptTokens } = await model.chat(long, { maxTokens: 2, slide: true }).result;
      expect(droppedMessages > 0 && droppedMessages < 24, `${droppedMessages} of 24 messages were dropped`);
      expect(droppedMessages % 2 === 0 && promptTokens <= context * 0.75, `${promptTokens} of ${context} tokens`);
      const more = await model.chat([...long, { role: 'assistant', content: 'ok' }, ...question], { maxTokens: 2, slide: true }).result;
      expect(more.droppedMessages === droppedMessages && more.reusedTokens > 0, JSON.stringify(more));
      const other = await model.chat(question, { maxTokens: 2, slide: true }).result;
      expect(other.droppedMessages === 0, 'another conversation has lost messages');
    });
  },

  async 'an answer longer than the context goes on if it may slide'() {
    await withModel(async (model) => {
      const context = model.info.language?.contextTokens ?? 0;
      const regex = '[a-z ]{1000}'; // an end token does not come before
      const full = await model.chat(question, { regex, maxTokens: 2 * context }).result;
      expect(full.reason === 'context_full' && full.tokens < context, JSON.stringify(full));
      const more = await model.chat([...question, { role: 'assistant', content: 'ok' }, ...question], { regex, maxTokens: context + 8, slide: true }).result;
      expect(more.reason === 'max_tokens' && more.tokens === context + 8, JSON.stringify(more));
    });
  },

  async 'what no answer is possible to is an error that says why'() {
    await withModel(async (model) => {
      await expectError('invalid', 'no message', () => model.chat([]).result);
      await expectError('invalid', 'has no text as its role or content', () => model.chat([{ role: 'user' } as ChatMessage]).result);
    });
  },
};
