// SPDX-License-Identifier: BSD-3-Clause
// Runs the browser version (web/dist) in a headless browser.
// usage: node web.ts PART [--browser chromium|firefox] [--only TEXT] [--model smollm2.pte --native pteron] [--pictures]
//   tests      what the package promises, its README's examples
//   page       the page in app/ as a user sees it
//   fixtures   real programs with goldens: all of them, or those whose folder contains TEXT
//   chat       a real chat model, against the native build, and in the page; --pictures puts its screenshots into docs/images
import { execFileSync } from 'node:child_process';
import {
  copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { appTests, type AppTest } from './app.ts';
import { screenshots, serveApp } from './app_support.ts';
import { chatAppTests } from './chat_app.ts';
import { chooseBrowser, uncaught, withPage } from './browser.ts';
import { fixtureFolders, fixtureUrls, summarise } from './fixtures.ts';
import { readmeCode } from './readme.ts';
import { serve } from './server.ts';
import { tinyTemplate, tinyTokenizer } from './tiny_chat.ts';

/** Bytes of the modules, at most. */
const limits = { 'pteron.wasm': 1_000_000, 'pteron_language.wasm': 750_000 };
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string', default: '' },
    browser: { type: 'string', default: 'chromium' },
    model: { type: 'string', default: '' },
    native: { type: 'string', default: '' },
    pictures: { type: 'boolean', default: false },
  },
});
chooseBrowser(options.browser);
const web = join(import.meta.dirname, '..');
const data = join(web, '..', 'tests', 'data');
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

function checkSizes(): void {
  for (const [module, most] of Object.entries(limits)) {
    const bytes = statSync(join(web, 'dist', module)).size;
    const problem = bytes > most ? `it has ${bytes} bytes; 'tools/wasm_module.py sizes' tells what they are` : '';
    report(`${module} has ${bytes} bytes: at most ${most}`, problem, performance.now());
  }
}

async function attempt(name: string, doing: () => Promise<unknown>): Promise<void> {
  if (!name.includes(options.only)) return;
  const started = performance.now();
  const problem = await doing().then(() => '', (error: Error) => `${error.message}\n${error.stack}`);
  const loose = uncaught.splice(0).map((message) => `nobody caught: ${message}`);
  report(name, [problem, ...loose].filter(Boolean).join('\n     '), started);
}

async function runTests(page: Page, file: string): Promise<void> {
  const names = await page.evaluate(async (path) => Object.keys((await import(path)).tests), file);
  for (const name of names)
    await attempt(name, () =>
      page.evaluate(async ([path, test]) => (await import(path as string)).tests[test as string]() as Promise<void>, [file, name]));
}

/** The code in both READMEs, as it stands. */
async function runExamples(page: Page): Promise<void> {
  for (const [i, code] of readmeCode('ts').entries())
    await attempt(`example ${i + 1} of README.md runs`, () =>
      page.evaluate((text) => import(URL.createObjectURL(new Blob([text], { type: 'text/javascript' }))), code));
}

/** The page of examples/web, as it stands. */
async function runExamplePage(page: Page): Promise<void> {
  await attempt('the page of examples/web runs a program', async () => {
    await page.goto(new URL('/examples/web/index.html?model=/data/ops/add/itself/model.pte', page.url()).href);
    await page.waitForFunction(() => document.getElementById('state')?.textContent?.startsWith('Ran on'));
    const text = await page.evaluate(() => document.getElementById('outputs')?.textContent ?? '');
    if (text !== 'float32 [3, 5]: 2, 2, 2, 2, 2, 2, 2, 2') throw new Error(`it shows '${text}'`);
  });
}

async function runApp(tests: Record<string, AppTest>, models: string): Promise<void> {
  const files = ['model.pte', 'tokenizer.json', 'chat_template.jinja'].map((name) => join(temp, name));
  if (!Object.keys(tests).some((name) => name.includes(options.only))) return;
  await withPage(async (page, stopServer) => {
    for (const [name, test] of Object.entries(tests)) await attempt(name, () => test(page, files, stopServer));
  }, serveApp(models));
}

/** A folder as tools/serve_web makes it. */
function bundle(model: string): string {
  const folder = join(temp, 'models');
  mkdirSync(folder);
  symlinkSync(model, join(folder, 'smollm2.pte'));
  writeFileSync(join(folder, 'models.json'), JSON.stringify([{ name: 'SmolLM2', file: 'smollm2.pte', bytes: statSync(model).size }]));
  return folder;
}

/** What the native build says: enough of an answer to compare. */
function answerNatively(): void {
  const prompt = [504, 3575, 282, 4649, 314]; // "The capital of France is"
  const wanted = ['--ignore-eos', '--max-tokens', '32', '--json', '--logprobs', '2', '--quiet'];
  const answer = execFileSync(options.native, ['generate', options.model, '--token-ids', ...prompt.map(String), ...wanted], { encoding: 'utf8' });
  writeFileSync(join(temp, 'native.json'), JSON.stringify({ prompt, ...JSON.parse(answer) }));
}

/** For README.md at the root. */
function keepPictures(): void {
  const images = join(web, '..', 'docs', 'images');
  mkdirSync(images, { recursive: true });
  for (const theme of ['light', 'dark']) copyFileSync(join(screenshots, `chat-${theme}.png`), join(images, `chat-${theme}.png`));
}

async function runFixtures(page: Page): Promise<void> {
  const started = performance.now();
  const results = await page.evaluate(
    async ({ library, fixture, urls }) => {
      const { Engine } = await import(library);
      const engine = await Engine.create();
      const out = (await import(fixture)).runFixtures(engine, urls) as Promise<Record<string, string>>;
      return out.finally(() => engine.dispose());
    },
    { library: '/src/index.ts', fixture: '/tests/page/fixture.ts', urls: fixtureUrls(options.only) },
  );
  const { title, problem } = summarise(results);
  report(title, problem, started);
}

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
    app: join(web, 'app'),
    data,
    temp,
    web,
    examples: join(web, '..', 'examples'),
    '': temp,
    models: dirname(options.model),
    ...fixtureFolders,
  },
  page,
);
const parts: Record<string, () => Promise<void>> = {
  async tests() {
    checkSizes();
    await withPage(async (tab) => {
      for (const file of ['tests', 'pteron_tests', 'chat_tests', 'loading_tests', 'failure_tests', 'app_tests']) await runTests(tab, `/tests/page/${file}.ts`);
      await runExamples(tab);
      await runExamplePage(tab);
    }, handler);
  },
  page: () => runApp(appTests, temp),
  fixtures: () => withPage(runFixtures, handler),
  async chat() {
    answerNatively();
    await withPage((tab) => runTests(tab, '/tests/page/model_tests.ts'), handler);
    await runApp(chatAppTests, bundle(options.model));
    if (options.pictures && failures === 0) keepPictures();
  },
};
const part = parts[positionals[0] ?? ''];
if (!part) throw new Error(`'${positionals[0]}' is no part; there are ${Object.keys(parts).join(', ')}`);
await part();
for (const message of uncaught) report('nothing is left uncaught', message, performance.now());
rmSync(temp, { recursive: true });
process.exit(failures > 0 ? 1 : 0);
