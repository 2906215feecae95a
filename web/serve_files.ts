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
  return decoded(pathname).split('/').filter((part) => part !== '' && part !== '..' && part !== '.').join('/');
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // which no file is called
  }
}

/** The first and the last byte that are asked for; nothing if all are, or the range is of another kind. */
function rangeOf(header: string | undefined, size: number): [number, number] | undefined {
  const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(header ?? '') ?? [];
  return first === undefined ? undefined : [Number(first), last ? Math.min(Number(last), size - 1) : size - 1];
}

export function sendFile(request: IncomingMessage, response: ServerResponse, path: string, ranges = true): void {
  const stats = path.includes('\0') ? undefined : statSync(path, { throwIfNoEntry: false });
  if (!stats?.isFile()) {
    response.writeHead(404).end();
    return;
  }
  const { size, mtimeMs } = stats;
  const range = ranges ? rangeOf(request.headers.range, size) : undefined;
  const [first, last] = range ?? [0, size - 1];
  if (range && first > last) {
    response.writeHead(416, { 'content-range': `bytes */${size}` }).end();
    return;
  }
  response.writeHead(range ? 206 : 200, {
    'content-type': types[extname(path)] ?? 'application/octet-stream',
    'content-length': last - first + 1,
    etag: `"${size.toString(36)}-${Math.round(mtimeMs).toString(36)}"`,
    'cache-control': 'no-cache',
    ...(range && { 'content-range': `bytes ${first}-${last}/${size}` }),
  });
  if (request.method === 'HEAD' || size === 0) response.end();
  else createReadStream(path, { start: first, end: last }).on('error', () => response.destroy()).pipe(response);
}
