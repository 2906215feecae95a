// SPDX-License-Identifier: BSD-3-Clause
// The package (web/dist) outside of browsers: the same script runs in Node.js and in Deno.
// usage: node|deno run -A runtimes.ts PART [TEXT]
//   package    what pteron/node promises, and the README's examples
//   fixtures   real programs with goldens: all of them, or those whose folder contains TEXT
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { sendFile, pathOf } from '../serve_files.ts';
import { fixtureFolders, fixtureUrls, summarise } from './fixtures.ts';
import { expect, expectError } from './page/expect.ts';
import { runFixtures } from './page/fixture.ts';
import { readmeCode } from './readme.ts';
import { tinyTemplate, tinyTokenizer } from './tiny_chat.ts';
import type * as Package from '../src/node.ts';

const web = join(import.meta.dirname, '..');
const library = pathToFileURL(join(web, 'dist', 'node.js')).href;
const { Engine, Pteron, provideWebGpu, tensor } = (await import(library)) as typeof Package;
const [part = '', only = ''] = process.argv.slice(2);
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

const question = [{ role: 'user', content: 'Hi' }];
const tests: Record<string, () => Promise<void>> = {
  async 'a folder with a program and its tokenizer answers, from a path of any kind'() {
    using pteron = await Pteron.create();
    expect(pteron.info.adapter.name !== '', 'the GPU has no name');
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
  await provideWebGpu();
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
const failures = await run();
process.chdir(web);
rmSync(temp, { recursive: true });
process.exit(failures > 0 ? 1 : 0);
