// SPDX-License-Identifier: BSD-3-Clause
// The page of `pteron serve` in headless Chromium, as a user sees it.
// usage: node serve_page.ts PTERON DATA_FOLDER
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { chromium, type Page } from 'playwright-core';

const [pteron, data] = process.argv.slice(2) as [string, string];
const llama = join(data, 'llama_tiny', 'rope_llama', 'model.pte');
const encoder = join(data, 'encoder_tiny', 'dynamic.pte');
const tokenizer = join(data, 'tiny_tokenizer', 'tokenizer.json');

const browser = await chromium.launch({ executablePath: process.env['PTERON_CHROMIUM'] ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
after(() => browser.close());

/** A server of its own, and its page. */
async function withServer(options: string[], use: (page: Page, url: string) => Promise<void>): Promise<void> {
  const command = ['serve', encoder, llama, '--tokenizer', tokenizer, '--port', '0', '--json', '-q', ...options];
  const server = spawn(pteron, command, { stdio: ['ignore', 'pipe', 'inherit'] });
  const page = await browser.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  try {
    const line = await new Promise<string>((resolve, reject) => {
      createInterface(server.stdout).once('line', resolve);
      server.once('exit', () => reject(new Error('the server ended')));
    });
    const { url } = JSON.parse(line) as { url: string };
    await page.goto(url);
    await use(page, url);
    assert.deepEqual(problems, []);
  } finally {
    await page.close();
    server.kill('SIGKILL');
  }
}

/** Further members for the page's questions: what the tiny model would say by itself is a matter of chance. */
async function add(page: Page, members: object): Promise<void> {
  await page.evaluate((more) => {
    const fetched = globalThis.fetch;
    globalThis.fetch = (path, options = {}) =>
      fetched(path, options.body ? { ...options, body: JSON.stringify({ ...JSON.parse(String(options.body)), ...more }) } : options);
  }, members);
}

async function ask(page: Page, question: string): Promise<void> {
  await page.getByLabel('Message').fill(question);
  await page.getByRole('button', { name: 'Send' }).click();
}

test('a question is answered, and the next one goes on from there', () =>
  withServer(['--max-tokens', '8'], async (page) => {
    await page.waitForFunction(() => document.querySelectorAll('#model option').length > 0);
    await add(page, { temperature: 0, ignore_eos: true });
    assert.deepEqual(await page.locator('#model option').allTextContents(), ['rope_llama']); // an encoder does not chat
    for (const [i, question] of ['Hi', '<img src=x onerror=alert(1)>'].entries()) {
      await ask(page, question);
      await page.getByRole('button', { name: 'Send' }).waitFor();
      assert.equal(await page.locator('.user').nth(i).textContent(), question);
      assert.notEqual(await page.locator('.assistant').nth(i).textContent(), '');
    }
    assert.equal(await page.locator('.error').count(), 0);
    await page.getByRole('button', { name: 'New chat' }).click();
    assert.equal(await page.locator('.message').count(), 0);
  }));

test('an answer can be stopped, and the server hears of it', () =>
  withServer(['--chunk', '1'], async (page, url) => {
    await page.waitForFunction(() => document.querySelectorAll('#model option').length > 0);
    await add(page, { n: 8, ignore_eos: true }); // so that there is something to stop
    await ask(page, 'Hi');
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'Send' }).waitFor();
    assert.equal(await page.locator('.error').count(), 0);
    for (let tries = 0; ; tries += 1) {
      const metrics = await (await fetch(`${url}/metrics`)).text();
      if (/^pteron_active 0$/m.test(metrics)) break;
      assert.ok(tries < 300, metrics);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }));

test('a key is asked for, and used', () =>
  withServer(['--api-key', 'secret'], async (page) => {
    await page.locator('.error').first().waitFor();
    await page.getByLabel('API key').fill('secret');
    await page.getByLabel('API key').blur();
    await page.waitForFunction(() => document.querySelectorAll('#model option').length > 0);
    await add(page, { temperature: 0, ignore_eos: true });
    await ask(page, 'Hi');
    await page.waitForFunction(() => document.querySelector('.assistant')?.textContent);
  }));

test('what is wrong is said', () =>
  withServer([], async (page) => {
    await page.waitForFunction(() => document.querySelectorAll('#model option').length > 0);
    await ask(page, 'word '.repeat(500));
    await page.locator('.error', { hasText: 'tokens' }).waitFor();
  }));
