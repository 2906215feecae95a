// SPDX-License-Identifier: BSD-3-Clause
// Compiles every kernel that the GPU tests wrote down with Tint, the compiler of Chromium: once without a GPU (Dawn's null
// backend has every feature and WebGPU's minimal limits), once in the browser down to its GPU driver, which takes long: there
// a few variants of each kernel stand for all. It names the kernels of src/ops that no test wrote down.
// usage: node tint.ts [--all] FOLDER...   --all: the browser takes every variant
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { create, globals } from 'webgpu';
import { checkKernels, type KernelFile, type KernelReport } from './check_kernels.ts';
import { withPage } from './browser.ts';

function readKernels(folders: string[]): KernelFile[] {
  const files = new Map<string, KernelFile>();
  for (const folder of folders)
    for (const name of readdirSync(folder).filter((entry) => entry.endsWith('.wgsl')))
      files.set(name, { name: join(folder, name), text: readFileSync(join(folder, name), 'utf8') });
  return [...files.values()];
}

const kernelOf = ({ name }: KernelFile): string => basename(name).replace(/-\d+\.wgsl$/, '');

/** Up to `count` of each kernel's variants, evenly spread: first and last are among them. */
function sample(files: KernelFile[], count: number): KernelFile[] {
  return Object.values(Object.groupBy(files, kernelOf)).flatMap((variants = []) => {
    const last = Math.min(count, variants.length) - 1;
    return Array.from({ length: last + 1 }, (_, i) => variants[Math.round((i * (variants.length - 1)) / Math.max(last, 1))]!);
  });
}

function print(where: string, report: KernelReport): boolean {
  for (const error of report.errors) console.error(error);
  console.log(
    `${where} (${report.adapter}): ${report.compiled} kernels compile, ${report.errors.length} do not` +
      (report.skipped > 0 ? `, ${report.skipped} need a feature that it does not have` : ''),
  );
  return report.errors.length === 0;
}

const { values: options, positionals: folders } = parseArgs({ options: { all: { type: 'boolean' } }, allowPositionals: true });
const kernels = readKernels(folders);
if (kernels.length === 0) {
  console.error(`no .wgsl files in ${folders.join(', ')}; run the GPU tests with PTERON_DUMP_WGSL first`);
  process.exit(1);
}
const written = new Set(kernels.map(kernelOf));
const sources = globSync('*.wgsl', { cwd: join(import.meta.dirname, '..', '..', 'src', 'ops') });
const forgotten = sources.map((file) => basename(file, '.wgsl')).filter((kernel) => !written.has(kernel));
if (forgotten.length > 0) console.log(`no GPU test compiles these kernels: ${forgotten.join(', ')}`);
Object.assign(globalThis, globals);
Object.defineProperty(navigator, 'gpu', { value: create(['backend=null']) });
const withoutGpu = print('Dawn without a GPU', await checkKernels(kernels));
const forBrowser = options.all ? kernels : sample(kernels, 4);
const inBrowser = print('Chromium', await withPage((page) => page.evaluate(checkKernels, forBrowser)));
process.exit(withoutGpu && inBrowser ? 0 : 1);
