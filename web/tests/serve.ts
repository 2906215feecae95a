// SPDX-License-Identifier: BSD-3-Clause
// The server that `./run web` starts: it prints its address, finds another port if the wanted one is taken, and sends the page,
// models and ranges of them, and nothing else.
// usage: node serve.ts
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const temp = mkdtempSync(join(tmpdir(), 'pteron-serve-'));
writeFileSync(join(temp, 'models.json'), '[]');
writeFileSync(join(temp, 'model.pte'), '0123456789');
const running: ChildProcess[] = [];

async function start(port: string): Promise<string> {
  const server = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, '..', 'serve.ts'), temp, port]);
  running.push(server);
  const [, address] = await new Promise<RegExpExecArray>((resolve, reject) => {
    let said = '';
    server.on('exit', () => reject(new Error(`it ended: ${said}`)));
    for (const stream of [server.stdout, server.stderr])
      stream.on('data', (text: Buffer) => {
        const match = /(http:\/\/127\.0\.0\.1:\d+\/)/.exec((said += text));
        if (match) resolve(match);
      });
  });
  return address as string;
}

/** Without what URLs and fetch make of a path. */
function statusOf(address: string, path: string): Promise<number> {
  const { hostname, port } = new URL(address);
  return new Promise((resolve, reject) => {
    request({ hostname, port, path }, (response) => (response.resume(), resolve(response.statusCode ?? 0))).on('error', reject).end();
  });
}

function expect(condition: boolean, message: string): void {
  if (!condition) throw new Error(message);
}

try {
  const address = await start('0');
  const page = await fetch(address);
  expect(page.headers.get('content-type')?.startsWith('text/html') === true && (await page.text()).includes('Pteron'), 'there is no page');
  expect((await fetch(`${address}pteron.wasm`)).headers.get('content-type') === 'application/wasm', 'the module has another type');
  expect((await (await fetch(`${address}models/models.json`)).text()) === '[]', 'there is no list of models');
  const part = await fetch(`${address}models/model.pte`, { headers: { range: 'bytes=3-5' } });
  expect(part.status === 206 && (await part.text()) === '345', `a range has status ${part.status}`);
  expect((await fetch(`${address}models/model.pte`, { headers: { range: 'bytes=20-' } })).status === 416, 'a range behind the end is sent');
  for (const path of ['/../package.json', '/models/../../package.json', '/models/..%2f..%2fetc%2fpasswd', '/nothing', '/%', '/%00'])
    expect((await statusOf(address, path)) === 404, `${path} has status ${await statusOf(address, path)}`);
  const other = await start(new URL(address).port);
  expect(other !== address && (await fetch(other)).ok, 'a port that is taken is no other port');
  console.log('ok   the server of ./run web');
} finally {
  for (const server of running) server.kill();
  rmSync(temp, { recursive: true });
}
