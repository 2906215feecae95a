// SPDX-License-Identifier: BSD-3-Clause
// The page in app/ as a user sees it: load files, chat, run tensors, lose the GPU, go offline. Screenshots are kept.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { allowTokens, answered, ask, dropFiles, expect, keep, loadFiles, problemOf, withFault } from './app_support.ts';
import { saved } from './browser.ts';
import { faintTexts } from './contrast.ts';
import { npy, png, readNpyFloats } from './files.ts';

const data = join(import.meta.dirname, '..', '..', 'tests', 'data');

/** `files`: a program with its tokenizer and template. */
export type AppTest = (page: Page, files: string[], stopServer: () => Promise<void>) => Promise<void>;

/** In this order, on one page. */
export const appTests: Record<string, AppTest> = {
  async 'the page says which GPU it has'(page) {
    await page.locator('#gpu.ready').waitFor();
    await page.locator('#device', { hasText: 'Largest buffer' }).waitFor();
    await keep(page, 'start');
  },

  async 'files that are no program are refused with their names'(page, files) {
    await page.locator('#files').setInputFiles(files.filter((file) => !file.endsWith('.pte')));
    expect((await problemOf(page)).includes('is a .pte file'), 'it says something else');
    await page.locator('#files').setInputFiles([{ name: 'broken.pte', mimeType: '', buffer: Buffer.alloc(100) }]);
    await page.locator('#problem', { hasText: 'broken.pte' }).waitFor();
    await page.locator('#loader').waitFor();
  },

  async 'files that are chosen are loaded and described'(page, files) {
    await loadFiles(page, files);
    const card = (await page.locator('#card').textContent()) ?? '';
    expect(['model.pte', 'Weights', 'KV caches', 'ops of', '128 tokens'].every((words) => card.includes(words)), card);
    expect(await page.locator('#problem').isHidden(), 'the old problem is still there');
    expect(await page.locator('#question').evaluate((element) => element === document.activeElement), 'the message is not focused');
  },

  async 'a question is answered, again if wanted, and measured'(page) {
    await allowTokens(page, 16);
    const first = await ask(page, 'Hello there');
    expect(first.length > 0, 'the answer is empty');
    expect(Number(await page.locator('#rate').textContent()) > 0, 'no tokens per second');
    expect(await page.locator('#log .note', { hasText: '16 tokens' }).isVisible(), 'the answer is not measured');
    await page.locator('#profile').check();
    await page.getByRole('button', { name: 'Regenerate' }).click();
    expect((await answered(page)) !== first, 'the same answer came again');
    expect((await page.locator('#log .message').count()) === 2, 'the old answer is still there');
    await page.locator('#bars li').first().waitFor();
    await page.locator('#profile').uncheck();
  },

  async 'an answer can be copied'(page) {
    await page.locator('#clear').click();
    const answer = await ask(page, 'Hello there'); // not left to chance, unlike one that was asked for again
    await page.getByRole('button', { name: 'Copy' }).last().click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    await page.locator('#question').focus();
    await page.keyboard.press('Control+V');
    const copied = await page.locator('#question').inputValue();
    expect(copied.trim() === answer, `'${copied}' was copied of '${answer}'`);
    await page.locator('#question').fill('');
  },

  async 'an answer can be stopped with a key'(page) {
    await allowTokens(page, 100);
    await page.locator('#profile').check(); // slow enough to be stopped
    await page.evaluate(() => {
      const log = document.getElementById('log') as HTMLElement;
      const note = (): void => void (log.dataset['heard'] = `${log.dataset['heard'] ?? ''} ${log.getAttribute('aria-busy')}`);
      new MutationObserver(note).observe(log, { attributeFilter: ['aria-busy'] });
    });
    await page.locator('#question').fill('And more?');
    await page.keyboard.press('Enter');
    await page.locator('#log .busy .body', { hasText: /\S/ }).waitFor();
    await page.keyboard.press('Escape');
    await answered(page);
    await page.locator('#log .assistant:last-child .note', { hasText: 'Stopped.' }).waitFor();
    const heard = await page.locator('#log').getAttribute('data-heard');
    expect(heard === ' true false', `a screen reader is told that the log is busy:${heard}`);
    await page.locator('#profile').uncheck();
  },

  async 'a conversation survives a reload'(page, files) {
    const before = await page.locator('#log .body').allTextContents();
    await page.reload();
    await loadFiles(page, files);
    const after = await page.locator('#log .body').allTextContents();
    expect(before.length === 4 && before.join() === after.join(), `${before.length} messages, then ${after.length}`);
    await page.locator('#clear').click();
    expect((await page.locator('#log .message').count()) === 0, 'it was not cleared');
    await allowTokens(page, 24);
    await page.getByRole('button', { name: 'What is gravity?' }).click();
    await answered(page);
    await page.locator('#profile').check();
    await ask(page, 'Write *some* code');
    await keep(page, 'chat');
    await page.locator('#profile').uncheck();
  },

  async 'tabs are used with arrows, and a program runs on zeros'(page) {
    await page.locator('#tab-chat').focus();
    await page.keyboard.press('ArrowRight');
    await page.locator('#view-tensors').waitFor();
    await page.locator('#run').click();
    await page.locator('.output', { hasText: 'float32 [1, 512]' }).first().waitFor();
  },

  async 'a CNN takes arrays and images and gives arrays'(page) {
    const folder = join(data, 'ops', 'models', 'mobilenet');
    const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
    const [input] = manifest.inputs;
    const [output] = manifest.outputs;
    const raw = readFileSync(join(folder, 'data.bin'));
    const part = ({ offset, size }: { offset: number; size: number }): Float32Array =>
      new Float32Array(new Uint8Array(raw.subarray(offset, offset + size)).buffer);
    const run = async (file: { name: string; mimeType: string; buffer: Buffer }): Promise<Float32Array> => {
      await page.locator('#input-0').setInputFiles(file);
      await page.locator('#run').click();
      await page.locator('#run:enabled').waitFor();
      return readNpyFloats(await saved(page, 'output_0.npy', () => page.getByRole('button', { name: 'Save output 0' }).click()));
    };
    await page.getByRole('button', { name: 'Open another model' }).click();
    await page.locator('#files').setInputFiles(join(folder, 'model.pte'));
    await page.locator('fieldset', { hasText: `float32 [${input.shape.join(', ')}]` }).waitFor();
    const scores = await run({ name: 'x.npy', mimeType: '', buffer: npy(part(input), input.shape) });
    const wanted = part(output);
    expect(scores.length === wanted.length && scores.every((value, i) => Math.abs(value - (wanted[i] ?? 0)) < 1e-2), `${scores.slice(0, 5)}`);
    const [, channels, height, width] = input.shape as [number, number, number, number];
    const colour = [200, 100, 50];
    const normal = colour.map((value, c) => (value / 255 - [0.485, 0.456, 0.406][c]!) / [0.229, 0.224, 0.225][c]!);
    const plain = Float32Array.from({ length: channels * height * width }, (_, i) => normal[Math.floor(i / (height * width))] ?? 0);
    const fromImage = await run({ name: 'plain.png', mimeType: 'image/png', buffer: png(96, 64, colour) });
    await page.locator('img.preview').waitFor();
    await keep(page, 'tensors');
    const fromArray = await run({ name: 'plain.npy', mimeType: '', buffer: npy(plain, input.shape) });
    expect(fromImage.every((value, i) => Math.abs(value - (fromArray[i] ?? 0)) < 1e-4), 'the image is another input');
    await page.locator('#input-0').setInputFiles({ name: 'wrong.npy', mimeType: '', buffer: npy(new Float32Array(4), [2, 2]) });
    await page.locator('#run').click();
    expect((await problemOf(page)).includes('input 0'), 'a wrong shape is not explained');
  },

  async 'everything that can be used has a name'(page) {
    const nameless = await page.evaluate(() =>
      [...document.querySelectorAll('button, input, textarea, select, [role=img], [role=tabpanel], section, aside')]
        .filter((element) => {
          if (!element.checkVisibility()) return false;
          const { labels } = element as HTMLInputElement;
          const named = element.getAttribute('aria-label') || element.getAttribute('aria-labelledby');
          return !named && !element.textContent?.trim() && !labels?.length;
        })
        .map(({ outerHTML }) => outerHTML));
    expect(nameless.length === 0, nameless.join('\n'));
  },

  async 'all text stands out from what is behind it, in both themes'(page) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      for (const tab of ['chat', 'tensors']) {
        await page.locator(`#tab-${tab}`).click();
        const faint = await page.evaluate(faintTexts);
        expect(faint.length === 0, `${colorScheme}: ${faint.join(', ')}`);
      }
    }
    await page.emulateMedia({ colorScheme: 'light' });
  },

  async 'files that are dropped are loaded'(page, files) {
    await withFault(page, '', async (tab) => {
      await tab.locator('#gpu.ready').waitFor();
      await dropFiles(tab, files);
      await tab.locator('#question:enabled').waitFor({ timeout: 60_000 });
      expect(((await tab.locator('#card').textContent()) ?? '').includes('model.pte'), 'another model is there');
    });
  },

  async 'a lost GPU device is opened again in the page and the conversation goes on'(page, files) {
    await withFault(page, '', async (tab, cause) => {
      await loadFiles(tab, files);
      await ask(tab, 'Hello');
      await cause('lose the device');
      await ask(tab, 'And now?');
      await tab.locator('#log .note', { hasText: 'opened again' }).waitFor();
      expect((await tab.locator('#log .message').count()) === 4, 'the conversation is another one');
      expect(await tab.locator('#problem').isHidden(), 'a problem is shown');
    });
  },

  async 'a worker that crashes is replaced with a click, the conversation stays'(page, files) {
    await withFault(page, '', async (tab, cause) => {
      await loadFiles(tab, files);
      await ask(tab, 'Hello');
      await cause('crash');
      expect((await problemOf(tab)).includes('the worker stopped'), 'it says something else');
      await tab.getByRole('button', { name: 'Start again' }).click();
      await tab.locator('#question:enabled').waitFor();
      await ask(tab, 'And now?');
      expect((await tab.locator('#log .message').count()) === 4, 'the conversation is another one');
    });
  },

  async 'no WebGPU and no adapter are explained on the page'(page) {
    const without = "Object.defineProperty(navigator, 'gpu', { value: undefined });";
    await withFault(page, without, async (tab) => expect((await problemOf(tab)).includes('no WebGPU'), 'it says something else'));
    const empty = "Object.defineProperty(navigator, 'gpu', { value: { requestAdapter: async () => null } });";
    await withFault(page, empty, async (tab) => expect((await problemOf(tab)).includes('found no GPU'), 'it says something else'));
  },

  async 'the page opens when the server is gone'(page, _, stopServer) {
    await page.evaluate(async () => (await navigator.serviceWorker.ready).active?.state);
    await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
    await stopServer();
    await page.reload();
    await page.locator('#gpu.ready').waitFor();
  },
};
