// SPDX-License-Identifier: BSD-3-Clause
// The npm package as others get it: packed, unpacked, its README's examples checked and bundled.
// usage: node package.ts
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { build } from 'vite';
import { readmeCode } from './readme.ts';

const web = join(import.meta.dirname, '..');
const npm = join(dirname(process.execPath), '..', 'lib', 'npm', 'bin', 'npm-cli.js');
const tsc = join(web, 'node_modules', 'typescript', 'bin', 'tsc');
const temp = mkdtempSync(join(tmpdir(), 'pteron-package-'));

function expect(condition: boolean, message: string): void {
  if (!condition) throw new Error(message);
}

/** Packs it and unpacks it where an import of 'pteron' finds it. */
function install(): string[] {
  const packed = execFileSync(process.execPath, [npm, 'pack', '--json', '--pack-destination', temp], { cwd: web, encoding: 'utf8' });
  const [{ filename, files }] = JSON.parse(packed) as [{ filename: string; files: { path: string }[] }];
  const folder = join(temp, 'node_modules', 'pteron');
  mkdirSync(folder, { recursive: true });
  execFileSync('tar', ['-xzf', join(temp, filename), '-C', folder, '--strip-components=1']);
  return files.map(({ path }) => path);
}

/** What a bundler makes of some code: files and their sizes. */
async function bundle(name: string, code: string): Promise<Map<string, number>> {
  writeFileSync(join(temp, `${name}.js`), code);
  const outDir = join(temp, name);
  await build({
    root: temp,
    logLevel: 'error',
    configFile: false,
    worker: { format: 'es' },
    build: { outDir, target: 'es2024', assetsInlineLimit: 0, rolldownOptions: { input: join(temp, `${name}.js`) } },
  });
  const files = readdirSync(outDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(files.map((file) => [file.name, statSync(join(file.parentPath, file.name)).size]));
}

const tests: Record<string, () => Promise<void> | void> = {
  'the package has its code, its types and its licences, and nothing else'() {
    const files = install();
    const needed = ['package.json', 'README.md', 'dist/LICENSE', 'dist/THIRD_PARTY.md', 'dist/pteron.js', 'dist/worker.js', 'dist/pteron.wasm', 'dist/pteron_language.wasm', 'dist/types/index.d.ts'];
    for (const file of needed) expect(files.includes(file), `${file} is missing in ${files.join(', ')}`);
    const strange = files.filter((file) => !/^(package\.json|README\.md|dist\/[\w.]+|dist\/types\/\w+\.d\.ts)$/.test(file));
    expect(strange.length === 0, `nobody needs ${strange.join(', ')}`);
    const { dependencies } = JSON.parse(readFileSync(join(web, 'package.json'), 'utf8')) as { dependencies?: object };
    expect(dependencies === undefined, 'it depends on something');
  },

  "the README's examples have the right types"() {
    readmeCode('ts').forEach((code, i) => writeFileSync(join(temp, `example${i}.ts`), code));
    const compilerOptions = {
      strict: true, exactOptionalPropertyTypes: true, noEmit: true, target: 'es2024', module: 'preserve', moduleResolution: 'bundler',
      moduleDetection: 'force', lib: ['es2024', 'esnext.disposable', 'dom', 'dom.iterable', 'dom.asynciterable'], types: [],
    };
    writeFileSync(join(temp, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['example*.ts'] }));
    execFileSync(process.execPath, [tsc, '-p', temp], { stdio: 'inherit' });
  },

  async 'who uses a part gets that part'() {
    const small = await bundle('small', "import { tensor } from 'pteron'; console.log(tensor('float32', [1], [2]));");
    const size = [...small.values()].reduce((sum, bytes) => sum + bytes, 0);
    expect(size < 4000, `the function tensor brings ${size} bytes: ${[...small.keys()]}`);
  },

  async "the README's words for bundlers bring the worker and the module along"() {
    const [code = ''] = readmeCode('js');
    const files = [...(await bundle('bundled', code)).keys()];
    for (const form of [/worker.*\.js$/, /pteron-.*\.wasm$/, /pteron_language.*\.wasm$/])
      expect(files.some((file) => form.test(file)), `${form} is missing in ${files.join(', ')}`);
  },

  'the tests have the right types'() {
    execFileSync(process.execPath, [tsc, '-p', join(web, 'tests')], { stdio: 'inherit' });
  },
};

let failures = 0;
for (const [name, test] of Object.entries(tests))
  try {
    await test();
    console.log(`ok   ${name}`);
  } catch (error) {
    failures += 1;
    console.error(`FAIL ${name}\n     ${(error as Error).message}`);
  }
rmSync(temp, { recursive: true });
process.exit(failures > 0 ? 1 : 0);
