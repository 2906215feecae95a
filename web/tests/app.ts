// SPDX-License-Identifier: BSD-3-Clause
// The page in app/ as a user sees it: load files, chat, run tensors, go offline. Screenshots are kept.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { pathOf, sendFile } from '../serve_files.ts';
import type { Handler } from './chromium.ts';

const web = join(import.meta.dirname, '..');
export const screenshots = join(web, '..', 'build', 'screenshots');

/** What is served: the page, and `models` beside it. */
export function serveApp(models: string): Handler {
  return (request, response) => {
    const path = pathOf(request);
    const inModels = path.startsWith('models/');
    sendFile(request, response, inModels ? join(models, path.slice(7)) : join(web, 'dist', 'app', path || 'index.html'));
  };
}

async function keep(page: Page, name: string): Promise<void> {
  mkdirSync(screenshots, { recursive: true });
  for (const [width, height] of [[1280, 860], [390, 844]] as const) {
    await page.setViewportSize({ width, height });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    if (wide > width) throw new Error(`${name}: the page is ${wide} wide on a screen of ${width}`);
    await page.screenshot({ path: join(screenshots, `${name}-${width}.png`), fullPage: true });
  }
  await page.setViewportSize({ width: 1280, height: 860 });
}

async function answered(page: Page): Promise<string> {
  await page.locator('#log .assistant:last-child:not(.busy)').waitFor({ timeout: 60_000 });
  return (await page.locator('#log .assistant:last-child .body').textContent()) ?? '';
}

function expect(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(message);
}

/** `files`: a program with its tokenizer and template. */
export const appTests: Record<string, (page: Page, files: string[]) => Promise<void>> = {
  async 'the page says which GPU it has'(page) {
    await page.locator('#gpu', { hasText: 'buffers up to' }).waitFor();
    await keep(page, 'start');
  },

  async 'files that are chosen are loaded and described'(page, files) {
    await page.locator('#files').setInputFiles(files);
    await page.locator('#question:enabled').waitFor({ timeout: 60_000 });
    const card = (await page.locator('#card').textContent()) ?? '';
    expect(card.includes('model.pte') && card.includes('Weights') && card.includes('ops of'), card);
  },

  async 'a question is answered, again if wanted, and measured'(page) {
    await page.locator('#max-tokens').fill('16');
    await page.locator('#question').fill('Hello there');
    await page.keyboard.press('Enter');
    const first = await answered(page);
    expect(first.length > 0, 'the answer is empty');
    expect(Number(await page.locator('#rate').textContent()) > 0, 'no tokens per second');
    await page.locator('#profile').check();
    await page.getByRole('button', { name: 'Regenerate' }).click();
    expect((await answered(page)) === first, 'the same question was answered in another way');
    await page.locator('#bars li').first().waitFor();
    await keep(page, 'chat');
    await page.locator('#profile').uncheck();
  },

  async 'an answer can be stopped with a key'(page) {
    await page.locator('#max-tokens').fill('100');
    await page.locator('#question').fill('And more?');
    await page.keyboard.press('Enter');
    await page.locator('#log .busy .body', { hasText: /\S/ }).waitFor();
    await page.keyboard.press('Escape');
    await answered(page);
    await page.locator('#log .assistant:last-child .note', { hasText: 'Stopped.' }).waitFor();
  },

  async 'tabs are used with arrows, and a program runs on zeros'(page) {
    await page.locator('#tab-chat').focus();
    await page.keyboard.press('ArrowRight');
    await page.locator('#view-tensors').waitFor();
    await page.locator('#run').click();
    await page.locator('.output', { hasText: 'float32 [1, 512]' }).first().waitFor();
    await page.locator('#theme').click();
    await keep(page, 'tensors-other-theme');
    await page.locator('#theme').click();
  },

  async 'everything that can be used has a name'(page) {
    const nameless = await page.evaluate(() =>
      [...document.querySelectorAll('button, input, textarea, select')]
        .filter((element) => {
          if (!element.checkVisibility()) return false;
          const { labels } = element as HTMLInputElement;
          return !element.getAttribute('aria-label') && !element.textContent?.trim() && !labels?.length;
        })
        .map(({ outerHTML }) => outerHTML));
    expect(nameless.length === 0, nameless.join('\n'));
  },

  async 'the page opens without a network'(page) {
    await page.evaluate(async () => (await navigator.serviceWorker.ready).active?.state);
    await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
    await page.context().setOffline(true);
    await page.reload();
    await page.locator('#gpu', { hasText: 'buffers up to' }).waitFor();
    await page.context().setOffline(false);
  },
};
