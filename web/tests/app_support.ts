// SPDX-License-Identifier: BSD-3-Clause
// What the page's tests do again and again.
import { mkdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Page } from 'playwright-core';
import { pathOf, sendFile } from '../serve_files.ts';
import { listen, type Handler } from './browser.ts';

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

export function expect(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(message);
}

/** Screenshots in both themes, on a desk and on a phone; there with the details, too. */
export async function keep(page: Page, name: string): Promise<void> {
  mkdirSync(screenshots, { recursive: true });
  const take = async (file: string, width: number): Promise<void> => {
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(wide <= width, `${name}: the page is ${wide} wide on a screen of ${width}`);
    await page.screenshot({ path: join(screenshots, `${file}.png`) });
  };
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    for (const [width, height] of [[1280, 860], [390, 844]] as const) {
      await page.setViewportSize({ width, height });
      await take(`${name}-${width}-${colorScheme}`, width);
    }
    const selected = page.locator('[role=tab][aria-selected=true]');
    const before = await selected.getAttribute('id');
    await page.locator('#tab-details').click();
    await take(`${name}-details-390-${colorScheme}`, 390);
    await page.locator(`#${before}`).click();
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1280, height: 860 });
}

/** For the README: both themes, with less empty page than on a desk. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  await page.setViewportSize({ width: 1120, height: 620 });
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.screenshot({ path: join(screenshots, `${name}-${colorScheme}.png`) });
  }
  await page.setViewportSize({ width: 1280, height: 860 });
}

export async function loadFiles(page: Page, files: string[]): Promise<void> {
  await page.locator('#files').setInputFiles(files);
  await page.locator('#question:enabled').waitFor({ timeout: 60_000 });
}

/** As if they were dragged onto the page and let go. */
export async function dropFiles(page: Page, files: string[]): Promise<void> {
  const contents = files.map((file) => ({ name: basename(file), text: readFileSync(file).toString('base64') }));
  await page.evaluate((dropped) => {
    const dataTransfer = new DataTransfer();
    for (const { name, text } of dropped)
      dataTransfer.items.add(new File([Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))], name));
    for (const type of ['dragover', 'drop'])
      document.body.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
  }, contents);
}

export async function allowTokens(page: Page, most: number): Promise<void> {
  await page.locator('#options').click();
  await page.locator('#max-tokens').fill(String(most));
  await page.keyboard.press('Escape');
}

export async function answered(page: Page): Promise<string> {
  await page.locator('#log .assistant:last-child:not(.busy)').waitFor({ timeout: 120_000 });
  return ((await page.locator('#log .assistant:last-child .body').textContent()) ?? '').trim();
}

export async function ask(page: Page, question: string): Promise<string> {
  await page.locator('#question').fill(question);
  await page.keyboard.press('Enter');
  return answered(page);
}

export async function problemOf(page: Page): Promise<string> {
  await page.locator('#problem').waitFor();
  return (await page.locator('#problem').textContent()) ?? '';
}

/** What can go wrong in the page's worker, which is told by name. Drivers can't reach into workers in every browser. */
const faults = `{
  const { requestDevice } = GPUAdapter.prototype;
  let device;
  GPUAdapter.prototype.requestDevice = async function (...args) { return (device = await requestDevice.apply(this, args)); };
  new BroadcastChannel('faults').onmessage = ({ data }) => {
    if (data === 'lose the device') device.destroy();
    else throw new Error('as if by a bug');
  };
}`;
export type Fault = 'lose the device' | 'crash';

/** The same page in another window where `code` runs first, on the page and in its worker; `cause` is for faults of the worker. */
export async function withFault(page: Page, code: string, use: (page: Page, cause: (fault: Fault) => Promise<void>) => Promise<void>): Promise<void> {
  const context = await page.context().browser()!.newContext({ serviceWorkers: 'block' });
  try {
    const tab = await context.newPage();
    await listen(tab);
    await tab.addInitScript(code);
    await tab.route('**/assets/worker*.js', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: `${faults}${code}\n${await response.text()}` });
    });
    await tab.goto(page.url());
    await use(tab, (fault) => tab.evaluate((name) => new BroadcastChannel('faults').postMessage(name), fault));
  } finally {
    await context.close();
  }
}
