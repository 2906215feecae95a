// SPDX-License-Identifier: BSD-3-Clause
import { PteronError } from './errors.ts';
import type { Handle, Module, Part } from './module.ts';
import type { MethodInfo } from './program.ts';
import { bytesOf, dataOf, dtypes, type Tensor } from './tensor.ts';

/** Of the last run; `latePipelines` ever. */
export interface MethodStats {
  dispatches: number;
  replanned: number;
  latePipelines: number;
  uploadedBytes: number;
  readBackBytes: number;
  /** Memory of this instance alone. */
  /** Of its own state: what a further method like it would take. */
  gpuBytes: number;
  /** For runs, shared by all methods that take turns. */
  workingBytes: number;
}

/** An op of a method and how long the GPU took for it. */
export interface OpTime {
  op: string;
  kernel: string;
  nanoseconds: number;
}

// TensorRecord of src/wasm/abi.h
const recordBytes = 48;
const align = (bytes: number): number => Math.ceil(bytes / 16) * 16;

/** A method with its own state (KV caches). One run at a time. */
export class Method implements Disposable {
  readonly info: MethodInfo;
  readonly #module: Module;
  readonly #parts: Set<Part>;
  #handle: Handle;
  #running = false;

  /** For Program. */
  constructor(module: Module, parts: Set<Part>, handle: Handle) {
    this.#module = module;
    this.#parts = parts;
    this.#handle = handle;
    parts.add(this);
    this.info = module.json(module.call.pteron_method_describe(handle));
  }

  /** Runs once; the tensors are copies. With `outputs` only those are computed, read back and given, in that order. */
  async run(inputs: readonly Tensor[], outputs = [...this.info.outputs.keys()]): Promise<Tensor[]> {
    this.#check();
    const { call, port } = this.#module;
    this.#place(inputs, outputs);
    this.#running = true;
    try {
      this.#module.check(call.pteron_method_begin(this.#handle, inputs.length, outputs.length));
      while (!this.#module.check(call.pteron_method_finish(this.#handle))) {
        await port.watch.round();
        if (this.#handle === 0) throw new PteronError('cancelled', 'the method was disposed of while it ran');
      }
    } finally {
      this.#running = false;
    }
    const records = call.pteron_method_outputs(this.#handle);
    return outputs.map((index) => this.#take(records + index * recordBytes));
  }

  /** State as in the file. */
  reset(): void {
    this.#check();
    this.#module.check(this.#module.call.pteron_method_reset(this.#handle));
  }

  /** Forgets caches from this position on. */
  rewind(position: number): void {
    this.#check();
    this.#module.check(this.#module.call.pteron_method_rewind(this.#handle, position));
  }

  /** An independent copy in the same state. */
  clone(): Method {
    this.#check();
    const handle = this.#module.handle(this.#module.call.pteron_method_clone(this.#handle));
    return new Method(this.#module, this.#parts, handle);
  }

  stats(): MethodStats {
    this.#check();
    return this.#module.json(this.#module.call.pteron_method_stats(this.#handle));
  }

  /** Measures the time of each op of the next runs, which slows them down. */
  profile(on: boolean): void {
    this.#check();
    this.#module.call.pteron_method_profile(this.#handle, on ? 1 : 0);
  }

  /** Of the last run that was measured. */
  times(): OpTime[] {
    this.#check();
    return this.#module.json(this.#module.call.pteron_method_times(this.#handle));
  }

  dispose(): void {
    if (this.#handle === 0) return;
    this.#module.release(this.#module.call.pteron_method_release, this.#handle);
    this.#handle = 0;
    this.#parts.delete(this);
  }
  [Symbol.dispose](): void {
    this.dispose();
  }

  #check(): void {
    if (this.#handle === 0) throw new PteronError('invalid', 'the method has been disposed of');
    if (this.#running) throw new PteronError('invalid', 'the method is already running; await the last call first');
  }

  /** Writes into the module's memory: a record for each input, which outputs are wanted, the inputs' bytes. */
  #place(inputs: readonly Tensor[], outputs: readonly number[]): void {
    const parts = inputs.map((input, i) => bytesOf(input, `input ${i}`));
    const wanted = inputs.length * recordBytes;
    const begin = align(wanted + 4 * outputs.length);
    const total = parts.reduce((sum, part) => sum + align(part.length), begin);
    const buffer = this.#module.call.pteron_method_buffer(this.#handle, total);
    const view = this.#module.view(buffer);
    const bytes = this.#module.bytes(buffer, total);
    outputs.forEach((index, i) => view.setUint32(wanted + 4 * i, index, true));
    let data = begin;
    inputs.forEach(({ dtype, shape }, i) => {
      const part = parts[i] as Uint8Array;
      const record = [dtypes.indexOf(dtype), shape.length, ...padded(shape), data, part.length];
      record.forEach((word, at) => view.setUint32(i * recordBytes + 4 * at, word, true));
      bytes.set(part, data);
      data += align(part.length);
    });
  }

  #take(record: number): Tensor {
    const view = this.#module.view(record);
    const word = (index: number): number => view.getUint32(4 * index, true);
    const dtype = dtypes[word(0)] ?? 'float32';
    const shape = Array.from({ length: word(1) }, (_, axis) => word(2 + axis));
    return { dtype, shape, data: dataOf(dtype, this.#module.bytes(word(10), word(11))) };
  }
}

function padded(shape: readonly number[]): number[] {
  const rank = 8; // at most
  if (shape.length > rank) throw new PteronError('invalid', `a tensor has rank ${shape.length}; at most ${rank} is supported`);
  return [...shape, ...new Array<number>(rank - shape.length).fill(0)];
}
