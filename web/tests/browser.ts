// SPDX-License-Identifier: BSD-3-Clause
// A headless browser with WebGPU on a software adapter, on a page that may use it (a secure context).
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium, firefox, type Browser, type Page } from 'playwright-core';
import { adapterName, type AdapterNames } from '../src/adapter_name.ts';
import { readmeLines } from './readme.ts';

const flags = [
  '--no-sandbox',
  '--enable-unsafe-webgpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

/** What README.md tells users of Firefox to switch on. */
function settings(): Record<string, boolean> {
  const lines = readmeLines('I write a web page').map(({ line }) => line.split(' = '));
  return Object.fromEntries(lines.filter(([, value]) => value === 'true').map(([name = '']) => [name, true]));
}

// Chromium brings an adapter of its own; Firefox takes the machine's, and does not trust one in software unless told.
const browsers = {
  chromium: (downloadsPath) =>
    chromium.launch({
      downloadsPath,
      executablePath: process.env['PTERON_CHROMIUM'] ?? '/usr/bin/chromium',
      args: flags,
      ignoreDefaultArgs: ['--disable-gpu'],
    }),
  firefox: (downloadsPath) =>
    firefox.launch({
      downloadsPath,
      channel: 'moz-firefox',
      executablePath: process.env['PTERON_FIREFOX'] ?? '/usr/bin/firefox-esr',
      firefoxUserPrefs: settings(),
    }),
} satisfies Record<string, (downloadsPath: string) => Promise<Browser>>;
export type BrowserName = keyof typeof browsers;

/** Which browser `withPage` opens. */
export const chosen: { browser: BrowserName } = { browser: 'chromium' };
export function chooseBrowser(name: string): void {
  if (!(name in browsers)) throw new Error(`'${name}' is no browser; there are ${Object.keys(browsers).join(', ')}`);
  chosen.browser = name as BrowserName;
}

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const emptyPage: Handler = (_, response) => {
  response.setHeader('content-type', 'text/html');
  response.end('<!doctype html><title>Pteron</title>');
};

/** Where what pages save goes. */
let downloads = '';

/** What the page saves as `name` when that is done. Of Firefox's downloads the driver says nothing: there the file is waited for. */
export async function saved(page: Page, name: string, act: () => Promise<void>): Promise<Buffer> {
  const told = chosen.browser === 'chromium' ? page.waitForEvent('download') : undefined;
  await act();
  if (told) return readFileSync(await (await told).path());
  const file = join(downloads, name);
  const complete = (): boolean =>
    existsSync(file) && statSync(file).size > 0 && !readdirSync(downloads).some((other) => other.endsWith('.part'));
  for (let tries = 0; !complete(); tries += 1) {
    if (tries === 300) throw new Error(`'${name}' was not saved; there are: ${readdirSync(downloads).join(', ') || 'no files'}`);
    await sleep(100);
  }
  const bytes = readFileSync(file);
  rmSync(file);
  return bytes;
}

/** What nobody caught in pages: errors and rejections. Tests look here and empty it. */
export const uncaught: string[] = [];

// Opens a page of a local server, runs `use` on it and closes everything. `stopServer` is for what goes on without it.
export async function withPage<T>(
  use: (page: Page, stopServer: () => Promise<void>) => Promise<T>, handler: Handler = emptyPage,
): Promise<T> {
  const server = createServer(handler);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const stopServer = (): Promise<void> =>
    new Promise((stopped) => {
      server.close(() => stopped());
      server.closeAllConnections();
    });
  const { port } = server.address() as AddressInfo;
  downloads = mkdtempSync(join(tmpdir(), 'pteron-downloads-'));
  const browser = await browsers[chosen.browser](downloads);
  try {
    const page = await browser.newPage();
    await listen(page);
    await page.goto(`http://127.0.0.1:${port}/`);
    const adapter = await page.evaluate(lookForAdapter);
    if (typeof adapter === 'string') throw new Error(`${adapter} (${browser.version()})`);
    console.log(`adapter: ${adapterName(adapter)}`); // tools/keep_results.py looks for that
    return await use(page, stopServer);
  } finally {
    await browser.close();
    await stopServer();
    rmSync(downloads, { recursive: true });
  }
}

/** Shows what the page says, and keeps what nobody caught in it. Firefox also tells what its workers' owners did catch. */
export async function listen(page: Page): Promise<void> {
  const mark = 'nobody caught: ';
  page.on('console', (message) => {
    const text = message.text();
    if (text.startsWith(mark)) uncaught.push(text.slice(mark.length));
    // Tests ask for files that are not there, and browsers for an icon.
    else if (!text.startsWith('Failed to load resource')) console.log(text);
  });
  await page.addInitScript((words) => {
    addEventListener('error', (event) => console.error(words + event.message));
    addEventListener('unhandledrejection', ({ reason }) => console.error(words + (reason instanceof Error ? reason.message : String(reason))));
  }, mark);
}

// Runs in the page: the adapter, or why there is none.
async function lookForAdapter(): Promise<AdapterNames | string> {
  if (!isSecureContext) return 'the page is no secure context, so it has no WebGPU';
  if (!navigator.gpu) return 'this browser has no WebGPU: navigator.gpu is missing';
  const adapter = await navigator.gpu.requestAdapter();
  if (!adapter) return 'WebGPU is there, but gives no adapter; its software adapter needs libvk_swiftshader.so beside the browser';
  const device = await adapter.requestDevice();
  device.destroy();
  const { vendor, architecture, device: model, description } = adapter.info;
  return { vendor, architecture, device: model, description };
}
