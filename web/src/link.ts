// SPDX-License-Identifier: BSD-3-Clause
// Loads a part of the engine into a module that runs: its code and data go to wherever there is room in the module's table and
// memory, by the conventions of WebAssembly's tools for dynamic linking.
import { PteronError } from './errors.ts';

/** What a part needs, from its section 'dylink.0'. */
interface Room {
  bytes: number;
  /** Power of two that its data are aligned to. */
  alignment: number;
  slots: number;
}

function readRoom(part: WebAssembly.Module): Room {
  const [section] = WebAssembly.Module.customSections(part, 'dylink.0');
  if (!section) throw new PteronError('invalid', 'the module for language models is of another kind; take the one that came with this version');
  const bytes = new Uint8Array(section);
  let at = 2; // behind the kind and the size of the first entry, which describes memory and table
  const number = (): number => {
    let out = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] ?? 0;
      out += (byte & 127) * 2 ** shift;
      if (byte < 128) return out;
    }
  };
  return { bytes: number(), alignment: 2 ** number(), slots: number() };
}

/** What tells modules that were built together from others; the compiler lays their data and numbers out for each other alone. */
function buildOf(module: WebAssembly.Module): string {
  const [section] = WebAssembly.Module.customSections(module, 'pteron.build');
  return section ? new TextDecoder().decode(section) : 'unknown';
}

const cell = (value: number): WebAssembly.Global => new WebAssembly.Global({ value: 'i32', mutable: true }, value);

/** The part's exports; `allocate` gives memory of the module that is never returned. */
export function link(
  part: WebAssembly.Module, whole: WebAssembly.Module, exports: WebAssembly.Exports, allocate: (bytes: number) => number,
): WebAssembly.Exports {
  const room = readRoom(part);
  if (buildOf(part) !== buildOf(whole)) {
    const [given, wanted] = [part, whole].map((module) => buildOf(module).slice(0, 12));
    throw new PteronError('invalid', `the module for language models is of build ${given}, but the engine of ${wanted}; serve pteron.wasm and pteron_language.wasm of one package`);
  }
  const table = exports['__indirect_function_table'] as WebAssembly.Table;
  const at = allocate(room.bytes + room.alignment);
  if (at === 0) throw new PteronError('out of memory', `the engine has no memory for ${room.bytes} bytes`);
  const base = Math.ceil(at / room.alignment) * room.alignment;
  const env: WebAssembly.ModuleImports = {
    ...exports,
    __memory_base: new WebAssembly.Global({ value: 'i32' }, base),
    __table_base: new WebAssembly.Global({ value: 'i32' }, table.grow(room.slots)),
  };
  const addresses: WebAssembly.ModuleImports = {};
  const functions: WebAssembly.ModuleImports = {};
  for (const { module, name } of WebAssembly.Module.imports(part)) {
    const found = exports[name];
    if (module === 'GOT.mem') addresses[name] = cell((found as WebAssembly.Global).value as number);
    if (module === 'GOT.func') functions[name] = cell(table.grow(1, found));
    if (module === 'env' && env[name] === undefined)
      throw new PteronError('invalid', `the module for language models is of another version: there is no '${name}'`);
  }
  const instance = new WebAssembly.Instance(part, { env, 'GOT.mem': addresses, 'GOT.func': functions });
  for (const start of ['__wasm_apply_data_relocs', '__wasm_call_ctors']) (instance.exports[start] as (() => void) | undefined)?.();
  return instance.exports;
}
