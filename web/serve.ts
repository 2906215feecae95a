// SPDX-License-Identifier: BSD-3-Clause
// Serves the page (dist/app) and models on loopback and prints the address.
// usage: node serve.ts MODELS [PORT]
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathOf, sendFile } from './serve_files.ts';

const [models = '', port = '8765'] = process.argv.slice(2);
const page = join(import.meta.dirname, 'dist', 'app');

const server = createServer((request, response) => {
  const path = pathOf(request);
  if (path.startsWith('models/')) sendFile(request, response, join(models, path.slice('models/'.length)));
  else sendFile(request, response, join(page, path || 'index.html'));
});
server.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EADDRINUSE') throw error;
  server.listen(0, '127.0.0.1'); // any that is free
});
server.on('listening', () => console.log(`Pteron is at http://127.0.0.1:${(server.address() as AddressInfo).port}/ (Ctrl+C ends it)`));
server.listen(Number(port), '127.0.0.1');
