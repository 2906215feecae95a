// SPDX-License-Identifier: BSD-3-Clause
// Headless Chromium with WebGPU on its software adapter, on a page that may use it (a secure context).
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { chromium, type Page } from 'playwright-core';

const flags = [
  '--no-sandbox',
  '--enable-unsafe-webgpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const emptyPage: Handler = (_, response) => {
  response.setHeader('content-type', 'text/html');
  response.end('<!doctype html><title>Pteron</title>');
};

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
  const browser = await chromium.launch({
    executablePath: process.env['PTERON_CHROMIUM'] ?? '/usr/bin/chromium',
    args: flags,
    ignoreDefaultArgs: ['--disable-gpu'],
  });
  try {
    const page = await browser.newPage();
    page.on('console', (message) => {
      // Tests ask for files that are not there, and browsers for an icon.
      if (!message.text().startsWith('Failed to load resource')) console.log(message.text());
    });
    page.on('pageerror', (error) => uncaught.push(error.message));
    await page.goto(`http://127.0.0.1:${port}/`);
    const problem = await page.evaluate(whyNoWebGpu);
    if (problem) throw new Error(`${problem} (${browser.version()})`);
    return await use(page, stopServer);
  } finally {
    await browser.close();
    await stopServer();
  }
}

// Runs in the page.
async function whyNoWebGpu(): Promise<string | undefined> {
  if (!isSecureContext) return 'the page is no secure context, so it has no WebGPU';
  if (!navigator.gpu) return 'this browser has no WebGPU: navigator.gpu is missing';
  const adapter = await navigator.gpu.requestAdapter();
  if (!adapter) return 'WebGPU is there, but gives no adapter; its software adapter needs libvk_swiftshader.so beside the browser';
  const device = await adapter.requestDevice();
  device.destroy();
  return undefined;
}
