// SPDX-License-Identifier: BSD-3-Clause
// Serves folders to the test page. TypeScript goes out as JavaScript, so that the page can import test files as they are.
import { createReadStream, readFileSync, statSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import { extname, join, normalize } from 'node:path';
import type { Handler } from './chromium.ts';

const types: Record<string, string> = {
  '.js': 'text/javascript',
  '.ts': 'text/javascript',
  '.wasm': 'application/wasm',
  '.json': 'application/json',
};

function sendRange(response: ServerResponse, path: string, size: number, range: string | undefined): void {
  const first = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);
  if (range) response.setHeader('content-range', `bytes ${first}-${size - 1}/${size}`);
  response.writeHead(range ? 206 : 200, { 'content-length': size - first });
  createReadStream(path, { start: first }).pipe(response);
}

/** `folders` by their first path component: { src: '/…/web/src' }. `page` is the HTML of /. ?whole ignores ranges. */
export function serve(folders: Record<string, string>, page: string): Handler {
  return (request, response) => {
    const { pathname, search } = new URL(request.url ?? '/', 'http://host');
    const url = normalize(decodeURIComponent(pathname));
    if (url === '/') {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end(page);
      return;
    }
    const [, first = '', ...rest] = url.split('/');
    const path = join(folders[first] ?? '/nowhere', ...rest);
    const stats = statSync(path, { throwIfNoEntry: false });
    if (!stats?.isFile()) {
      response.writeHead(404).end();
      return;
    }
    response.setHeader('content-type', types[extname(path)] ?? 'application/octet-stream');
    if (path.endsWith('.ts')) response.end(stripTypeScriptTypes(readFileSync(path, 'utf8')));
    else sendRange(response, path, stats.size, search === '?whole' ? undefined : request.headers.range);
  };
}
