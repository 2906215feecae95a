// SPDX-License-Identifier: BSD-3-Clause
// The service worker: the page comes from the network when there is one, else from what was kept at the first visit. Models
// have a cache of their own.
/// <reference lib="webworker" />
export {};
declare const self: ServiceWorkerGlobalScope;

const name = 'pteron-page';

async function keepAll(): Promise<void> {
  const files = (await (await fetch('files.json')).json()) as string[];
  const cache = await caches.open(name);
  await Promise.all(files.map((file) => cache.add(file).catch(() => undefined))); // there may be no bundled model
}

async function answer(request: Request): Promise<Response> {
  const cache = await caches.open(name);
  try {
    const response = await fetch(request);
    if (response.ok) await cache.put(request, response.clone());
    return response;
  } catch {
    const kept = await cache.match(request, { ignoreSearch: true });
    return kept ?? Response.error();
  }
}

self.addEventListener('install', (event) => event.waitUntil(keepAll().then(() => self.skipWaiting())));
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('fetch', (event) => {
  const { pathname, origin } = new URL(event.request.url);
  const model = pathname.includes('/models/') && !pathname.endsWith('models.json');
  if (event.request.method === 'GET' && origin === self.location.origin && !model) event.respondWith(answer(event.request));
});
