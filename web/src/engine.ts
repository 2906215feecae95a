// SPDX-License-Identifier: BSD-3-Clause
import { PteronError } from './errors.ts';
import { Module, type Part, type WasmSource } from './module.ts';
import { Program, type LoadOptions } from './program.ts';
import type { Source } from './source.ts';

export interface EngineOptions {
  /** The module, or where it is; beside this script unless given. */
  wasm?: WasmSource;
  /** Its part for language models, which is fetched when one is loaded; beside the module unless given. */
  languageWasm?: WasmSource;
  /** A device of the page's own; it stays the page's. Else the best adapter is opened. */
  device?: GPUDevice;
  /** Fail rather than use a software adapter. */
  requireGpu?: boolean;
  /** Use these if the device has them (default). */
  f16?: boolean;
  subgroups?: boolean;
}

export interface EngineInfo {
  version: string;
  /** Names of the ops that programs may use. */
  ops: string[];
  adapter: {
    name: string;
    driver: string;
    software: boolean;
    f16: boolean;
    subgroups: boolean;
    maxBufferBytes: number;
    maxBindingBytes: number;
  };
}

/** What the GPU holds for the engine now, and what it was asked to do so far. */
export interface Usage {
  buffers: number;
  bufferBytes: number;
  peakBufferBytes: number;
  pipelines: number;
  bindGroups: number;
  creates: number;
  writes: number;
  writtenBytes: number;
  submits: number;
  dispatches: number;
  /** Memory of the WebAssembly module. */
  heapBytes: number;
}

/** What every kernel may use: WebGPU's own minimum, which compatibility modes undercut. */
const needed = {
  maxStorageBuffersPerShaderStage: 8,
  maxComputeWorkgroupStorageSize: 16384,
  maxComputeInvocationsPerWorkgroup: 256,
  maxComputeWorkgroupSizeX: 256,
} as const;

/** Where a file of this package is: beside the module if that has an address, else beside this script. */
function beside(wasm: WasmSource | undefined, file: string): URL {
  const script = import.meta.url;
  const module = typeof wasm === 'string' || wasm instanceof URL ? String(wasm) : script;
  const base = globalThis.location?.href ?? script;
  const address = URL.canParse(module, base) ? new URL(module, base).href : script;
  return new URL(/* @vite-ignore */ file, URL.canParse(file, address) ? address : script);
}

function whyNoWebGpu(): string {
  if (!('document' in globalThis) && !('WorkerGlobalScope' in globalThis))
    return "there is no WebGPU here; import from 'pteron/node', which says how to get one";
  return globalThis.isSecureContext === false
    ? 'browsers give WebGPU only to pages that are served over HTTPS or from localhost, and this one is not'
    : 'this browser has no WebGPU; take a current Chrome, Edge, Safari or Firefox, or switch WebGPU on in its settings';
}

/** Opens the best adapter with its full limits and what Pteron can use of its features. */
export async function openDevice(): Promise<GPUDevice> {
  if (!globalThis.navigator?.gpu) throw new PteronError('unsupported', whyNoWebGpu());
  const adapter = await navigator.gpu.requestAdapter({ powerPreference: 'high-performance' });
  if (!adapter) throw new PteronError('not found', 'WebGPU found no GPU on this machine that may be used');
  const names = [
    'maxBufferSize',
    'maxStorageBufferBindingSize',
    'maxStorageBuffersPerShaderStage',
    'maxComputeWorkgroupStorageSize',
    'maxComputeInvocationsPerWorkgroup',
    'maxComputeWorkgroupSizeX',
  ] as const;
  for (const [name, least] of Object.entries(needed) as [keyof typeof needed, number][])
    if (adapter.limits[name] < least)
      throw new PteronError('unsupported', `this GPU is too small: its ${name} is ${adapter.limits[name]}, but ${least} is needed`);
  const features: GPUFeatureName[] = ['shader-f16', 'subgroups', 'timestamp-query'];
  try {
    const device = await adapter.requestDevice({
      label: 'pteron',
      requiredFeatures: features.filter((feature) => adapter.features.has(feature)),
      requiredLimits: Object.fromEntries(names.map((name) => [name, adapter.limits[name]])),
    });
    void device.adapterInfo; // Deno can't tell it any more when the adapter has been collected, unless it has been asked
    return device;
  } catch (cause) {
    throw new PteronError('unsupported', `the GPU can't be opened: ${(cause as Error).message}`, { cause });
  }
}

/** A GPU with the module that drives it. Programs of one engine share their compiled kernels. */
export class Engine {
  readonly info: EngineInfo;
  readonly #module: Module;
  readonly #device: GPUDevice;
  readonly #ownsDevice: boolean;
  readonly #parts = new Set<Part>();
  #disposed = false;

  static async create(options: EngineOptions = {}): Promise<Engine> {
    const device = options.device ?? (await openDevice());
    try {
      const { wasm = beside(undefined, 'pteron.wasm') } = options;
      const module = await Module.load(wasm, options.languageWasm ?? beside(options.wasm, 'pteron_language.wasm'), device);
      const { f16 = true, subgroups = true, requireGpu = false } = options;
      const wanted = JSON.stringify({ f16, subgroups, requireGpu });
      module.withText(wanted, (at, size) => module.check(module.call.pteron_engine_open(module.engine, at, size)));
      return new Engine(module, device, !options.device);
    } catch (error) {
      if (!options.device) device.destroy();
      throw error;
    }
  }

  private constructor(module: Module, device: GPUDevice, ownsDevice: boolean) {
    this.#module = module;
    this.#device = device;
    this.#ownsDevice = ownsDevice;
    this.info = module.json(module.call.pteron_engine_describe(module.engine));
  }

  /** Whether the GPU device is gone. */
  get lost(): boolean {
    return this.#module.port.watch.failure?.kind === 'device lost';
  }

  /** Whether the module is beyond use; only a new engine helps. */
  get stopped(): boolean {
    return this.#module.stopped;
  }

  usage(): Usage {
    this.#check();
    return this.#module.json(this.#module.call.pteron_engine_usage(this.#module.engine));
  }

  /** Opens a program: its `.pte`, then `.ptd` files with external constants. Its methods are loaded when asked for. */
  async load(files: Source | readonly Source[], options: LoadOptions = {}): Promise<Program> {
    this.#check();
    return Program.open(this.#module, this.#parts, files instanceof Array ? files : [files as Source], options);
  }

  /** Releases programs and methods with all they have on the GPU. */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    for (const part of [...this.#parts]) part.dispose();
    this.#module.dispose();
    if (this.#ownsDevice) this.#device.destroy();
  }
  [Symbol.dispose](): void {
    this.dispose();
  }

  #check(): void {
    if (this.#disposed) throw new PteronError('invalid', 'the engine has been disposed of');
  }
}
