// SPDX-License-Identifier: BSD-3-Clause
// The page's side of the port to WebGPU: implements the imports of src/gpu/browser/imports.h on a GPUDevice. The module
// knows objects by numbers; structs are read from its memory in the layout that imports.h asserts.
import { adapterName } from './adapter_name.ts';
import type { ErrorKind } from './errors.ts';
import { GpuWatch } from './gpu_watch.ts';
import { Timestamps } from './timestamps.ts';

// The enumerations of imports.h.
const Progress = { pending: 0, done: 1, failed: 2 } as const;
const Text = { adapterName: 0, adapterDriver: 1, failure: 2 } as const;
const Kind = { buffer: 0, pipeline: 1 } as const;
const healthOf: Partial<Record<ErrorKind, number>> = { 'out of memory': 1, 'device lost': 2 };
const otherFailure = 3;
const bindingTypes: GPUBufferBindingType[] = ['uniform', 'read-only-storage', 'storage'];

const uploadWindow = 16 << 20;
const dispatchBytes = 24;

interface Pipeline {
  layout: GPUBindGroupLayout;
  pipeline?: GPUComputePipeline; // when it is compiled
  error?: string; // or why it is not
}

/** The compiler's first error with its place, as ":LINE:COLUMN error: …"; nothing if it has none, or the device is lost. */
async function explainModule(module: GPUShaderModule): Promise<string | undefined> {
  const { messages } = await module.getCompilationInfo().catch(() => ({ messages: [] }));
  const error = messages.find(({ type }) => type === 'error');
  return error && `:${error.lineNum}:${error.linePos} error: ${error.message}`;
}

/** Structs in the module's memory. */
interface List {
  at: number;
  count: number;
}

/** Objects by number. No number is used twice. */
class Table<T> {
  readonly #objects = new Map<number, T>();
  #last = 0;

  get size(): number {
    return this.#objects.size;
  }
  add(object: T): number {
    this.#last += 1;
    this.#objects.set(this.#last, object);
    return this.#last;
  }
  has(id: number): boolean {
    return this.#objects.has(id);
  }
  get(id: number): T {
    const object = this.#objects.get(id);
    if (object === undefined) throw new Error(`there is no GPU object ${id}`);
    return object;
  }
  take(id: number): T {
    const object = this.get(id);
    this.#objects.delete(id);
    return object;
  }
  clear(): T[] {
    const all = [...this.#objects.values()];
    this.#objects.clear();
    return all;
  }
}

export class GpuPort {
  readonly watch: GpuWatch;
  readonly #device: GPUDevice;
  readonly #adapter: GPUAdapterInfo;
  readonly #memory: () => ArrayBuffer;
  readonly #buffers = new Table<GPUBuffer>();
  readonly #pipelines = new Table<Pipeline>();
  readonly #bindGroups = new Table<GPUBindGroup>();
  readonly #reads = new Set<number>(); // buffers that are being mapped
  readonly #times: Timestamps;
  #unsentBytes = 0;

  /** `memory` is asked for at each call, because growing replaces its buffer. */
  constructor(device: GPUDevice, adapter: GPUAdapterInfo, memory: () => ArrayBuffer) {
    this.watch = new GpuWatch(device);
    this.#times = new Timestamps(device);
    this.#device = device;
    this.#adapter = adapter;
    this.#memory = memory;
  }

  /** How many objects the module has. */
  get alive(): number {
    return this.#buffers.size + this.#pipelines.size + this.#bindGroups.size;
  }

  /** Destroys what a module that stopped left behind, and stops listening. */
  close(): void {
    this.watch.close();
    for (const buffer of this.#buffers.clear()) buffer.destroy();
    this.#pipelines.clear();
    this.#bindGroups.clear();
    this.#times.close();
  }

  /** Uploads are kept until the GPU takes them: waits for it when there are many. */
  async drain(): Promise<void> {
    if (this.#unsentBytes < uploadWindow) return;
    this.#unsentBytes = 0;
    await this.#device.queue.onSubmittedWorkDone();
  }

  /** The module `pteron_gpu` of imports. */
  imports(): WebAssembly.ModuleImports {
    return {
      number: (what: number) => this.#numbers()[what] ?? 0,
      text: (what: number, id: number, into: number, capacity: number) => {
        const text = new TextEncoder().encode(this.#text(what, id));
        this.#bytes(into, capacity).set(text.subarray(0, capacity));
        return text.length;
      },
      health: () => {
        const failure = this.watch.failure;
        return failure ? (healthOf[failure.kind] ?? otherFailure) : 0;
      },
      create_buffer: (size: number, readback: number, label: number, length: number) =>
        this.#createBuffer(size, readback !== 0, this.#string(label, length)),
      buffer_size: (id: number) => this.#buffers.get(id).size,
      create_bind_group: (pipeline: number, ranges: number, count: number, label: number, length: number) =>
        this.#createBindGroup(pipeline, { at: ranges, count }, this.#string(label, length)),
      create_pipeline: (
        label: number, labelLength: number, source: number, sourceLength: number, bindings: number, count: number,
        now: number,
      ) => {
        const create = now ? this.#createPipelineNow : this.#createPipeline;
        const kinds = Array.from(this.#bytes(bindings, count));
        return create.call(this, this.#string(label, labelLength), this.#string(source, sourceLength), kinds);
      },
      poll_pipeline: (id: number) => {
        const { pipeline, error } = this.#pipelines.get(id);
        return pipeline ? Progress.done : error === undefined ? Progress.pending : Progress.failed;
      },
      destroy: (kind: number, id: number) => {
        if (kind === Kind.buffer) this.#buffers.take(id).destroy();
        else if (kind === Kind.pipeline) this.#pipelines.take(id);
        else this.#bindGroups.take(id);
      },
      write: (buffer: number, offset: number, at: number, size: number) => {
        this.#device.queue.writeBuffer(this.#buffers.get(buffer), offset, this.#memory(), at, size);
        this.#unsentBytes += size;
      },
      submit: (
        fills: number, fillCount: number, before: number, beforeCount: number, dispatches: number,
        dispatchCount: number, after: number, afterCount: number, timed: number,
      ) => {
        if (fillCount + beforeCount + dispatchCount + afterCount === 0) return;
        this.watch.scoped(() => 'submitting: ', () =>
          this.#submit(
            { at: fills, count: fillCount },
            { at: before, count: beforeCount },
            { at: dispatches, count: dispatchCount },
            { at: after, count: afterCount },
            timed !== 0,
          ));
      },
      durations: (into: number, count: number) => {
        const to = new BigUint64Array(this.#memory(), into, count);
        this.#times.nanoseconds.slice(0, count).forEach((time, i) => (to[i] = time));
      },
      begin_read: (buffer: number, size: number) => {
        this.#reads.add(buffer);
        this.watch.track(this.#read(buffer, size));
      },
      poll_read: (buffer: number, into: number, size: number) => this.#pollRead(buffer, into, size),
    };
  }

  #bytes(at: number, size: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#memory(), at, size);
  }
  #string(at: number, size: number): string {
    return new TextDecoder().decode(this.#bytes(at, size));
  }
  #words(): (index: number) => number {
    const words = new Uint32Array(this.#memory());
    return (index) => words[index] as number;
  }

  #numbers(): number[] {
    const { limits, features } = this.#device;
    const { isFallbackAdapter, subgroupMinSize, subgroupMaxSize } = this.#adapter;
    return [
      isFallbackAdapter ? 1 : 0,
      limits.maxBufferSize,
      limits.maxStorageBufferBindingSize,
      limits.maxUniformBufferBindingSize,
      limits.maxStorageBuffersPerShaderStage,
      limits.maxComputeWorkgroupStorageSize,
      Math.min(limits.maxComputeInvocationsPerWorkgroup, limits.maxComputeWorkgroupSizeX),
      limits.maxComputeWorkgroupsPerDimension,
      features.has('shader-f16') ? 1 : 0,
      features.has('subgroups') ? 1 : 0,
      subgroupMinSize ?? 0,
      subgroupMaxSize ?? 0,
      features.has('timestamp-query') ? 1 : 0,
    ];
  }

  #text(what: number, id: number): string {
    if (what === Text.adapterName) return adapterName(this.#adapter);
    if (what === Text.adapterDriver) return this.#adapter.description;
    if (what === Text.failure) return this.watch.failure?.message ?? '';
    return this.#pipelines.get(id).error ?? '';
  }

  #createBuffer(size: number, readback: boolean, label: string): number {
    const usage = readback
      ? GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST
      : GPUBufferUsage.STORAGE | GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    const buffer = this.watch.scoped(
      () => `allocating ${size} bytes for '${label}': `,
      () => this.#device.createBuffer({ label, size, usage }),
    );
    return this.#buffers.add(buffer);
  }

  // An invalid bind group makes the submission that uses it fail.
  #createBindGroup(pipeline: number, ranges: List, label: string): number {
    const word = this.#words();
    const entries = Array.from({ length: ranges.count }, (_, binding): GPUBindGroupEntry => {
      const at = (ranges.at >> 2) + 6 * binding;
      return { binding, resource: { buffer: this.#buffers.get(word(at)), offset: word(at + 2), size: word(at + 4) } };
    });
    return this.#bindGroups.add(
      this.#device.createBindGroup({ label, layout: this.#pipelines.get(pipeline).layout, entries }),
    );
  }

  #createLayout(label: string, kinds: number[]): GPUBindGroupLayout {
    return this.#device.createBindGroupLayout({
      label,
      entries: kinds.map((kind, binding) => ({
        binding,
        visibility: GPUShaderStage.COMPUTE,
        buffer: { type: bindingTypes[kind] ?? 'storage', hasDynamicOffset: binding === 0 },
      })),
    });
  }

  #describePipeline(label: string, layout: GPUBindGroupLayout, module: GPUShaderModule): GPUComputePipelineDescriptor {
    return {
      label,
      layout: this.#device.createPipelineLayout({ label, bindGroupLayouts: [layout] }),
      compute: { module, entryPoint: 'main' },
    };
  }

  #createPipeline(label: string, code: string, kinds: number[]): number {
    const entry: Pipeline = { layout: this.#createLayout(label, kinds) };
    this.#device.pushErrorScope('validation');
    const module = this.#device.createShaderModule({ label, code });
    const moduleError = this.#device.popErrorScope().catch(() => null);
    const compile = async (): Promise<void> => {
      try {
        const description = this.#describePipeline(label, entry.layout, module);
        entry.pipeline = await this.#device.createComputePipelineAsync(description);
      } catch (error) {
        // The shader module's messages have the line; the pipeline's error only says that the module is invalid.
        const why = (await explainModule(module)) ?? (await moduleError)?.message ?? (error as Error).message;
        entry.error = `WebGPU: ${why}`;
      }
    };
    this.watch.track(compile());
    return this.#pipelines.add(entry);
  }

  #createPipelineNow(label: string, code: string, kinds: number[]): number {
    return this.watch.scoped(() => `kernel ${label}: `, () => {
      const layout = this.#createLayout(label, kinds);
      const module = this.#device.createShaderModule({ label, code });
      const pipeline = this.#device.createComputePipeline(this.#describePipeline(label, layout, module));
      return this.#pipelines.add({ layout, pipeline });
    });
  }

  #submit(fills: List, before: List, dispatches: List, after: List, timed: boolean): void {
    const word = this.#words();
    const encoder = this.#device.createCommandEncoder();
    for (let i = 0, at = fills.at >> 2; i < fills.count; i += 1, at += 6)
      encoder.clearBuffer(this.#buffers.get(word(at)), word(at + 2), word(at + 4));
    this.#encodeCopies(encoder, before);
    const measured = timed && dispatches.count > 0;
    if (measured) this.#encodeTimed(encoder, dispatches);
    else if (dispatches.count > 0) this.#encodeDispatches(encoder.beginComputePass(), dispatches);
    this.#encodeCopies(encoder, after);
    this.#device.queue.submit([encoder.finish()]);
    if (measured) this.watch.track(this.#times.read(dispatches.count));
  }

  #encodeTimed(encoder: GPUCommandEncoder, dispatches: List): void {
    const stamps = this.#times.prepare(dispatches.count);
    for (let i = 0; i < dispatches.count; i += 1)
      this.#encodeDispatches(encoder.beginComputePass(stamps(i)), { at: dispatches.at + dispatchBytes * i, count: 1 });
    this.#times.resolve(encoder, dispatches.count);
  }

  #encodeDispatches(pass: GPUComputePassEncoder, dispatches: List): void {
    const words = new Uint32Array(this.#memory());
    const word = this.#words();
    let current = 0;
    for (let i = 0, at = dispatches.at >> 2; i < dispatches.count; i += 1, at += dispatchBytes >> 2) {
      if (word(at) !== current) {
        current = word(at);
        const { pipeline } = this.#pipelines.get(current);
        if (!pipeline) throw new Error(`pipeline ${current} is not compiled yet`);
        pass.setPipeline(pipeline);
      }
      pass.setBindGroup(0, this.#bindGroups.get(word(at + 1)), words, at + 2, 1);
      pass.dispatchWorkgroups(word(at + 3), word(at + 4), word(at + 5));
    }
    pass.end();
  }

  #encodeCopies(encoder: GPUCommandEncoder, copies: List): void {
    const word = this.#words();
    for (let i = 0, at = copies.at >> 2; i < copies.count; i += 1, at += 10) {
      const source = this.#buffers.get(word(at));
      const target = this.#buffers.get(word(at + 4));
      if (word(at + 8) > 0) encoder.copyBufferToBuffer(source, word(at + 2), target, word(at + 6), word(at + 8));
    }
  }

  async #read(id: number, size: number): Promise<void> {
    try {
      await this.#buffers.get(id).mapAsync(GPUMapMode.READ, 0, size);
    } catch (error) {
      if (!this.#buffers.has(id)) return; // its owner did not wait
      await this.watch.loss();
      this.watch.fail({
        kind: 'device lost',
        message: `the GPU's answer could not be read: ${(error as Error).message}`,
      });
    } finally {
      this.#reads.delete(id);
    }
  }

  #pollRead(id: number, into: number, size: number): number {
    // A result counts when no error of its submission can arrive any more.
    if (this.#reads.has(id) || this.watch.uncertain || this.#times.pending) return Progress.pending;
    const buffer = this.#buffers.get(id);
    if (this.watch.failure || buffer.mapState !== 'mapped') return Progress.failed;
    this.#bytes(into, size).set(new Uint8Array(buffer.getMappedRange(0, size)));
    buffer.unmap();
    return Progress.done;
  }
}
