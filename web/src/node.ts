// SPDX-License-Identifier: BSD-3-Clause
// For Node.js and Deno: files by their paths, the module beside this script, and WebGPU from an npm package where the runtime
// has none of its own.
import type { EngineOptions } from './engine.ts';
import { PteronError } from './errors.ts';
import { Pteron as BrowserPteron, type Model, type ModelFile, type ModelOptions, type PteronOptions } from './pteron.ts';

export * from './index.ts';

/** The part of Node.js that is used; Deno has it, too. */
interface Files {
  openAsBlob(path: string): Promise<Blob>;
  promises: {
    readFile(path: string | URL): Promise<Uint8Array<ArrayBuffer>>;
    readdir(path: string): Promise<string[]>;
    stat(path: string): Promise<{ isDirectory(): boolean }>;
  };
}
const builtin = async <T>(name: string): Promise<T> => (await import(/* @vite-ignore */ `node:${name}`)) as T;
const isUrl = (file: string): boolean => /^[a-z][a-z\d+.-]+:/i.test(file);

/** The file's bytes, read when they are needed. */
async function openPath(path: string): Promise<Blob> {
  const files = await builtin<Files>('fs');
  try {
    const blob = await files.openAsBlob(path);
    return Object.assign(blob, { name: path });
  } catch (cause) {
    throw new PteronError('not found', `'${path}' can't be read: ${(cause as Error).message}`, { cause });
  }
}

/** Paths and file: URLs become blobs; anything else is left to the engine. */
async function open(file: ModelFile): Promise<ModelFile> {
  const { fileURLToPath } = await builtin<{ fileURLToPath(url: string | URL): string }>('url');
  if (file instanceof URL) return file.protocol === 'file:' ? openPath(fileURLToPath(file)) : file;
  if (typeof file !== 'string') return file;
  if (file.startsWith('file:')) return openPath(fileURLToPath(file));
  return isUrl(file) ? file : openPath(file);
}

/** What a folder holds, as exporters write it: one program, `.ptd` files, a tokenizer and a chat template. */
async function openFolder(folder: string, options: ModelOptions): Promise<[string, ModelOptions]> {
  const { promises } = await builtin<Files>('fs');
  const { join } = await builtin<{ join(...parts: string[]): string }>('path');
  const names = (await promises.readdir(folder)).sort();
  const programs = names.filter((name) => name.endsWith('.pte'));
  const [program] = programs;
  if (!program || programs.length > 1)
    throw new PteronError('invalid', `'${folder}' should hold one program (.pte), but holds ${programs.join(' and ') || 'none'}; name the file`);
  const tokenizer = ['tokenizer.json', 'tokenizer.model'].find((name) => names.includes(name));
  const template = names.includes('chat_template.jinja')
    ? new TextDecoder().decode(await promises.readFile(join(folder, 'chat_template.jinja')))
    : undefined;
  const found = {
    data: names.filter((name) => name.endsWith('.ptd')).map((name) => join(folder, name)),
    ...(tokenizer && { tokenizer: join(folder, tokenizer) }),
    ...(template !== undefined && { chatTemplate: template }),
  };
  return [join(folder, program), { ...found, ...options }];
}

/** Makes `navigator.gpu` and WebGPU's constants from the npm package `webgpu`, unless the runtime has them. */
export async function provideWebGpu(): Promise<void> {
  if (globalThis.navigator?.gpu) return;
  if ('Deno' in globalThis) throw new PteronError('unsupported', 'this Deno has no WebGPU; take version 2.9 or newer');
  let found: { create(options: string[]): GPU; globals: object };
  try {
    found = (await import(/* @vite-ignore */ 'webgpu' as string)) as typeof found;
  } catch (cause) {
    throw new PteronError('unsupported', 'Node.js has no WebGPU of its own; install one with: npm install webgpu', { cause });
  }
  Object.assign(globalThis, found.globals);
  if (!globalThis.navigator) Object.defineProperty(globalThis, 'navigator', { value: {}, configurable: true });
  Object.defineProperty(navigator, 'gpu', { value: found.create([]), configurable: true });
}

/** As in a browser, but `load` also takes a path: of a program, or of a folder with a program and its tokenizer. */
export class Pteron extends BrowserPteron {
  static override async create(options: Omit<PteronOptions, 'worker'> = {}): Promise<Pteron> {
    if (!options.device) await provideWebGpu();
    const { promises } = await builtin<Files>('fs');
    const read = (file: string): Promise<Uint8Array<ArrayBuffer>> => promises.readFile(new URL(/* @vite-ignore */ file, import.meta.url));
    const wasm = options.wasm ?? (await read('pteron.wasm'));
    const languageWasm = options.languageWasm ?? (await read('pteron_language.wasm'));
    const here: EngineOptions & { worker: false } = { ...options, wasm, languageWasm, worker: false };
    return (await super.create(here)) as Pteron;
  }

  override async load(file: ModelFile, options: ModelOptions = {}): Promise<Model> {
    const { promises } = await builtin<Files>('fs');
    const isFolder = typeof file === 'string' && !isUrl(file) && (await promises.stat(file).then((s) => s.isDirectory(), () => false));
    const [program, { data = [], tokenizer, ...rest }] = isFolder ? await openFolder(file, options) : [file, options];
    return super.load(await open(program), {
      ...rest,
      data: await Promise.all(data.map(open)),
      ...(tokenizer && { tokenizer: await open(tokenizer) }),
    });
  }
}
