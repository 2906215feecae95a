// SPDX-License-Identifier: BSD-3-Clause
// Serves folders to the test page. TypeScript goes out as JavaScript, so that the page can import test files as they are.
import { existsSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { pathOf, sendFile } from '../serve_files.ts';
import type { Handler } from './browser.ts';

/** How often each path was asked for its bytes. */
export const requests = new Map<string, number>();

/** `folders` by their first path component: { src: '/…/web/src' }; '' is for files without one. `page` is the HTML of /. ?whole ignores ranges. */
export function serve(folders: Record<string, string>, page: string): Handler {
  return (request, response) => {
    const url = pathOf(request);
    if (url === '') {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end(page);
      return;
    }
    if (url === 'requests') {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(Object.fromEntries(requests)));
      return;
    }
    if (request.method === 'GET') requests.set(url, (requests.get(url) ?? 0) + 1);
    const [first = '', ...rest] = url.includes('/') ? url.split('/') : ['', url];
    const path = join(folders[first] ?? '/nowhere', ...rest);
    if (path.endsWith('.ts') && existsSync(path)) {
      response.setHeader('content-type', 'text/javascript');
      response.end(stripTypeScriptTypes(readFileSync(path, 'utf8')));
      return;
    }
    sendFile(request, response, path, !request.url?.endsWith('?whole'));
  };
}
