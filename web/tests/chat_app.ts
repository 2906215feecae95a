// SPDX-License-Identifier: BSD-3-Clause
// What `./run web` gives to somebody who has never seen it: a click, a chat, and all of it again without a server.
import type { AppTest } from './app.ts';
import { allowTokens, answered, ask, expect, keep, keepPicture } from './app_support.ts';

export const chatAppTests: Record<string, AppTest> = {
  async 'one click and SmolLM2 answers'(page) {
    await page.locator('#gpu.ready').waitFor();
    await page.locator('.bundled').waitFor();
    await keep(page, 'offer');
    await page.getByRole('button', { name: 'Chat with SmolLM2' }).click();
    await page.locator('#phases .begun').nth(1).waitFor();
    await keep(page, 'loading');
    await page.locator('#question:enabled').waitFor({ timeout: 300_000 });
    await keep(page, 'ready');
    const answer = await ask(page, 'What is the capital of France?');
    expect(answer === 'The capital of France is Paris.', answer);
    await allowTokens(page, 60);
    await page.locator('#profile').check();
    await ask(page, 'List three cities of Italy, with a sentence about each.');
    await keep(page, 'conversation');
    await keepPicture(page, 'chat');
  },

  async 'SmolLM2 answers when the server is gone, in a conversation that goes on'(page, _, stopServer) {
    await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
    await stopServer();
    await page.reload();
    await page.locator('.bundled', { hasText: 'already in this browser' }).click();
    await page.locator('#question:enabled').waitFor({ timeout: 300_000 });
    expect((await page.locator('#log .message').count()) === 4, 'the conversation is gone');
    await allowTokens(page, 8);
    await ask(page, 'Thank you.');
    await answered(page);
    expect((await page.locator('#log .message').count()) === 6, 'there is no answer');
  },
};
