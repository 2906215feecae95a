// SPDX-License-Identifier: BSD-3-Clause
// The package (web/dist) outside of browsers: the same script runs in Node.js and in Deno.
// usage: node|deno run -A runtimes.ts PART [TEXT]
//   package    what pteron/node promises, and the README's examples
//   fixtures   real programs with goldens: all of them, or those whose folder contains TEXT
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { sendFile, pathOf } from '../serve_files.ts';
import { adapterName } from '../src/adapter_name.ts';
import { fixtureFolders, fixtureUrls, summarise } from './fixtures.ts';
import { expect, expectError } from './page/expect.ts';
import { runFixtures } from './page/fixture.ts';
import { readmeCode, readmeLines } from './readme.ts';
import { tinyTemplate, tinyTokenizer } from './tiny_chat.ts';
import type * as Package from '../src/node.ts';

const web = join(import.meta.dirname, '..');
const library = pathToFileURL(join(web, 'dist', 'node.js')).href;
const { Engine, Pteron, provideWebGpu, tensor } = (await import(library)) as typeof Package;
const [part = '', only = ''] = process.argv.slice(2);
const isDeno = 'Deno' in globalThis;
const temp = mkdtempSync(join(tmpdir(), 'pteron-runtimes-'));
const model = join(temp, 'model');

function prepare(): void {
  mkdirSync(model);
  mkdirSync(join(temp, 'empty'));
  copyFileSync(join(web, '..', 'tests', 'data', 'llama_tiny', 'rope_llama', 'model.pte'), join(model, 'model.pte'));
  writeFileSync(join(model, 'tokenizer.json'), tinyTokenizer());
  writeFileSync(join(model, 'chat_template.jinja'), tinyTemplate);
  copyFileSync(join(web, '..', 'tests', 'data', 'ops', 'add', 'itself', 'model.pte'), join(temp, 'add.pte'));
  process.chdir(temp);
}

/** A folder in which somebody has done what README.md says, except for `webgpu`. */
function install(): string {
  const folder = join(temp, 'user');
  mkdirSync(folder);
  cpSync(model, join(folder, 'model'), { recursive: true });
  writeFileSync(join(folder, 'hello.mjs'), readmeCode('mjs').at(-1) ?? '');
  const deps = join(web, '..', 'build', 'deps', 'node');
  const npm = (cwd: string, ...words: string[]): string =>
    execFileSync(join(deps, 'bin', 'node'), [join(deps, 'lib', 'npm', 'bin', 'npm-cli.js'), '--silent', ...words], { cwd, encoding: 'utf8' });
  const archive = npm(web, 'pack', '--pack-destination', temp).trim();
  const [make, get] = readmeLines('I use Node.js or Deno');
  expect(make?.line === 'tools/package npm' && make.about.endsWith(`/${archive}`), `README.md says ${JSON.stringify(make)}`);
  expect(get?.line === `npm install PATH/${archive} webgpu`, `README.md says ${JSON.stringify(get)}`);
  npm(folder, 'install', '--offline', join(temp, archive));
  return folder;
}

/** Runs a command of this runtime; what it says, whatever becomes of it. */
function say(folder: string, command = ''): { out: string; err: string } {
  const [program, ...words] = command.split(' ');
  expect(program === (isDeno ? 'deno' : 'node'), `'${command}' is not for this runtime`);
  const { stdout, stderr } = spawnSync(process.execPath, words, { cwd: folder, encoding: 'utf8' });
  return { out: stdout, err: stderr };
}

const question = [{ role: 'user', content: 'Hi' }];
const tests: Record<string, () => Promise<void>> = {
  async 'a folder with a program and its tokenizer answers, from a path of any kind'() {
    using pteron = await Pteron.create();
    expect(/[a-z]/i.test(pteron.info.adapter.name), `the GPU is called '${pteron.info.adapter.name}'`);
    const texts: string[] = [];
    for (const folder of ['model', model, `${model}/`]) {
      using loaded = await pteron.load(folder);
      texts.push((await loaded.chat(question, { maxTokens: 8 }).result).text);
    }
    expect(texts[0] !== '' && new Set(texts).size === 1, `it says ${JSON.stringify(texts)}`);
  },

  async 'programs come from relative and absolute paths, file: URLs and bytes'() {
    using pteron = await Pteron.create();
    const path = join(temp, 'add.pte');
    const url = pathToFileURL(path);
    for (const file of ['add.pte', './add.pte', path, url, url.href]) {
      using program = await pteron.load(file);
      const [sum] = await program.run([tensor('float32', [3, 5], new Array<number>(15).fill(1.5))]);
      expect([...(sum?.data ?? [])].join() === new Array(15).fill(3).join(), `1.5 + 1.5 is ${sum?.data} from ${file}`);
    }
  },

  async 'what is not there is said in a sentence'() {
    using pteron = await Pteron.create();
    await expectError('not found', "'nothing.pte' can't be read", () => pteron.load('nothing.pte'));
    await expectError('invalid', "'empty' should hold one program (.pte), but holds none", () => pteron.load('empty'));
    await expectError('not found', "can't be fetched", () => pteron.load('http://127.0.0.1:9/model.pte'));
  },

  async 'without pteron/node, a path is refused in a sentence'() {
    const browser = (await import(library.replace(/node\.js$/, 'pteron.js'))) as typeof Package;
    const wasm = readFileSync(join(web, 'dist', 'pteron.wasm'));
    using pteron = await browser.Pteron.create({ wasm, worker: false } as object);
    const words = "'add.pte' is no URL, and there is no page that it could be relative to; 'pteron/node' takes paths";
    await expectError('invalid', words, () => pteron.load('add.pte'));
    await expectError('invalid', words, () => new browser.ModelCache().open('add.pte'));
  },

  async "the README's lines install and start it, and what is missing is said"() {
    const folder = install();
    const start = readmeLines('I use Node.js or Deno')[2];
    const command = isDeno ? start?.about.replace('or: ', '') : start?.line;
    if (!isDeno) {
      const { err } = say(folder, command);
      expect(err.includes('Node.js has no WebGPU of its own; install one with: npm install webgpu'), `it says ${err}`);
      symlinkSync(join(web, 'node_modules', 'webgpu'), join(folder, 'node_modules', 'webgpu'));
    }
    const { out, err } = say(folder, command);
    expect(out.trim() !== '', `it answers nothing, and says ${err}`);
  },

  async "the README's examples run"() {
    for (const [i, code] of readmeCode('mjs').entries()) {
      const example = join(temp, `example${i}.mjs`);
      writeFileSync(example, code.replace("'pteron/node'", JSON.stringify(library)));
      await import(pathToFileURL(example).href);
    }
  },
};

async function runPackage(): Promise<number> {
  let failures = 0;
  for (const [name, test] of Object.entries(tests)) {
    if (!name.includes(only)) continue;
    const problem = await test().then(() => '', (error: Error) => `${error.message}\n${error.stack}`);
    console.log(problem ? `FAIL ${name}\n     ${problem}` : `ok   ${name}`);
    if (problem) failures += 1;
  }
  return failures;
}

async function runAllFixtures(): Promise<number> {
  const server = createServer((request, response) => {
    const [first = '', ...rest] = pathOf(request).split('/');
    sendFile(request, response, join(fixtureFolders[first] ?? '', ...rest));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const engine = await Engine.create({ wasm: readFileSync(join(web, 'dist', 'pteron.wasm')) });
  const results = await runFixtures(engine, fixtureUrls(only).map((path) => `http://127.0.0.1:${port}${path}`));
  const { title, problem } = summarise(results);
  console.log(problem ? `FAIL ${title}\n     ${problem}` : `ok   ${title}`);
  engine.dispose();
  server.close();
  server.closeAllConnections();
  return problem ? 1 : 0;
}

const parts: Record<string, () => Promise<number>> = { package: runPackage, fixtures: runAllFixtures };
const run = parts[part];
if (!run) throw new Error(`'${part}' is no part; there are ${Object.keys(parts).join(', ')}`);
prepare();
await provideWebGpu();
const adapter = await navigator.gpu.requestAdapter();
if (adapter) console.log(`adapter: ${adapterName(adapter.info)}`); // tools/keep_results.py looks for that
const failures = await run();
process.chdir(web);
rmSync(temp, { recursive: true });
process.exit(failures > 0 ? 1 : 0);
