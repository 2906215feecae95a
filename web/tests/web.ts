// SPDX-License-Identifier: BSD-3-Clause
// Runs the browser version (web/dist) in headless Chromium: its own tests, the README's examples, the page, then fixtures:
// one of each suite, with --full (or PTERON_FULL in the environment) or --only all of them.
// usage: node web.ts [--only TEXT] [--full] | node web.ts --model smollm2.pte: a chat model's tests alone
import { copyFileSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { appTests, serveApp } from './app.ts';
import { withPage } from './chromium.ts';
import { serve } from './server.ts';
import { tinyTemplate, tinyTokenizer } from './tiny_chat.ts';

const limits = { goal: 600_000, most: 1_500_000 }; // bytes of pteron.wasm
const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    full: { type: 'boolean', default: 'PTERON_FULL' in process.env },
    model: { type: 'string' },
  },
});
const web = join(import.meta.dirname, '..');
const data = join(web, '..', 'tests', 'data');
const shared = process.env['PTERON_SHARED_FIXTURES'] ?? join(web, '..', '..', 'shared', 'fixtures');
let failures = 0;

function report(name: string, problem: string, started: number): void {
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  if (problem) {
    failures += 1;
    console.error(`FAIL ${name} (${seconds} s)\n     ${problem}`);
  } else {
    console.log(`ok   ${name} (${seconds} s)`);
  }
}

function checkSize(): void {
  const bytes = statSync(join(web, 'dist', 'pteron.wasm')).size;
  const problem = bytes > limits.most ? `it has ${bytes} bytes` : '';
  report(`pteron.wasm has ${bytes} bytes: at most ${limits.most}, ${limits.goal} would be good`, problem, performance.now());
}

async function attempt(name: string, doing: () => Promise<unknown>): Promise<void> {
  if (!name.includes(options.only)) return;
  const started = performance.now();
  report(name, await doing().then(() => '', (error: Error) => `${error.message}\n${error.stack}`), started);
}

async function runTests(page: Page, file: string): Promise<void> {
  const names = await page.evaluate(async (path) => Object.keys((await import(path)).tests), file);
  for (const name of names)
    await attempt(name, () =>
      page.evaluate(async ([path, test]) => (await import(path as string)).tests[test as string]() as Promise<void>, [file, name]));
}

/** The code in README.md, as it stands. */
async function runExamples(page: Page): Promise<void> {
  const readme = readFileSync(join(web, 'README.md'), 'utf8');
  for (const [i, [, code = '']] of [...readme.matchAll(/```ts\n(.*?)```/gs)].entries())
    await attempt(`example ${i + 1} of README.md runs`, () =>
      page.evaluate((text) => import(URL.createObjectURL(new Blob([text], { type: 'text/javascript' }))), code));
}

async function runApp(temp: string): Promise<void> {
  const files = ['model.pte', 'tokenizer.json', 'chat_template.jinja'].map((name) => join(temp, name));
  const names = Object.keys(appTests);
  if (!names.some((name) => name.includes(options.only))) return;
  await withPage(async (page) => {
    for (const name of names) await attempt(name, () => (appTests[name] as (typeof appTests)[string])(page, files));
  }, serveApp(temp));
}

async function runFixtures(page: Page, folders: string[]): Promise<void> {
  const started = performance.now();
  const results = await page.evaluate(
    async ({ library, fixture, urls }) => {
      const { Engine } = await import(library);
      const { runFixture } = await import(fixture);
      const engine = await Engine.create();
      const out: Record<string, string> = {};
      for (const url of urls)
        out[url] = await runFixture(engine, url).catch((error: Error) => `${error.name}: ${error.message}`);
      const { bufferBytes } = engine.usage();
      if (bufferBytes > 0) out['all of them'] = `${bufferBytes} bytes are left on the GPU`;
      engine.dispose();
      return out;
    },
    { library: '/src/index.ts', fixture: '/tests/page/fixture.ts', urls: folders },
  );
  const all = Object.entries(results);
  const count = (what: string): number => all.filter(([, result]) => result === what).length;
  const problems = all.filter(([, result]) => result !== 'passed' && result !== 'missing');
  report(
    `fixtures: ${count('passed')} pass, ${problems.length} fail, ${count('missing')} need ops that are missing`,
    problems.map(([url, problem]) => `${url}: ${problem}`).join('\n     '),
    started,
  );
}

const roots = [join(data, 'ops'), join(shared, 'ops')].filter((root) => existsSync(root));
const folders = roots.flatMap((root, i) =>
  globSync('**/manifest.json', { cwd: root }).sort().map((path) => `/fixtures${i}/${dirname(path)}`));
const temp = mkdtempSync(join(tmpdir(), 'pteron-web-'));
copyFileSync(join(data, 'llama_tiny', 'rope_llama', 'model.pte'), join(temp, 'model.pte'));
writeFileSync(join(temp, 'tokenizer.json'), tinyTokenizer());
writeFileSync(join(temp, 'chat_template.jinja'), tinyTemplate);
writeFileSync(join(temp, 'large.bin'), Uint8Array.from({ length: 9 << 20 }, (_, i) => (i * 2654435761) >>> 13));
const page = `<!doctype html><title>Pteron's tests</title>
<script type="importmap">{ "imports": { "/src/index.ts": "/dist/pteron.js", "pteron": "/dist/pteron.js" } }</script>`;
const handler = serve(
  {
    dist: join(web, 'dist'),
    tests: join(web, 'tests'),
    data,
    temp,
    '': temp,
    models: options.model ? dirname(options.model) : temp,
    ...Object.fromEntries(roots.map((root, i) => [`fixtures${i}`, root])),
  },
  page,
);
const everySuite = [...new Map(folders.toReversed().map((url) => [dirname(url), url])).values()].reverse();
const chosen = options.full || options.only ? folders.filter((url) => url.includes(options.only)) : everySuite;
if (options.model) {
  await withPage((tab) => runTests(tab, '/tests/page/model_tests.ts'), handler);
} else {
  checkSize();
  await withPage(async (tab) => {
    await runTests(tab, '/tests/page/tests.ts');
    await runTests(tab, '/tests/page/pteron_tests.ts');
    await runExamples(tab);
    await runFixtures(tab, chosen);
  }, handler);
  await runApp(temp);
}
rmSync(temp, { recursive: true });
process.exit(failures > 0 ? 1 : 0);
