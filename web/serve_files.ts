// SPDX-License-Identifier: BSD-3-Clause
// Sends files of a folder as a good server does: with types, lengths, ranges and validators.
import { createReadStream, statSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname } from 'node:path';

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.ts': 'text/javascript',
  '.wasm': 'application/wasm',
  '.json': 'application/json',
};

/** The path of a request without what would lead out of a folder. */
export function pathOf(request: IncomingMessage): string {
  const { pathname } = new URL(request.url ?? '/', 'http://host');
  return decodeURIComponent(pathname).split('/').filter((part) => part !== '' && part !== '..' && part !== '.').join('/');
}

export function sendFile(request: IncomingMessage, response: ServerResponse, path: string, ranges = true): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats?.isFile()) {
    response.writeHead(404).end();
    return;
  }
  const { size, mtimeMs } = stats;
  const first = ranges ? Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0) : 0;
  const partly = ranges && request.headers.range !== undefined;
  if (first >= size && size > 0) {
    response.writeHead(416, { 'content-range': `bytes */${size}` }).end();
    return;
  }
  response.writeHead(partly ? 206 : 200, {
    'content-type': types[extname(path)] ?? 'application/octet-stream',
    'content-length': size - first,
    etag: `"${size.toString(36)}-${Math.round(mtimeMs).toString(36)}"`,
    'cache-control': 'no-cache',
    ...(partly && { 'content-range': `bytes ${first}-${size - 1}/${size}` }),
  });
  if (request.method === 'HEAD') response.end();
  else createReadStream(path, { start: first }).on('error', () => response.destroy()).pipe(response);
}
