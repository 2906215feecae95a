// SPDX-License-Identifier: BSD-3-Clause
// Profiling: how long each dispatch of a submission took on the GPU. Browsers round to 0.1 ms unless told otherwise.

interface Buffers {
  set: GPUQuerySet;
  resolved: GPUBuffer;
  readable: GPUBuffer;
  count: number;
}

export class Timestamps {
  readonly #device: GPUDevice;
  #buffers: Buffers | undefined;
  #nanoseconds: bigint[] = [];
  #reading = 0;

  constructor(device: GPUDevice) {
    this.#device = device;
  }

  /** Whether the times of a submission are still under way. */
  get pending(): boolean {
    return this.#reading > 0;
  }
  get nanoseconds(): readonly bigint[] {
    return this.#nanoseconds;
  }

  /** What a pass per dispatch is opened with. */
  prepare(dispatches: number): (index: number) => GPUComputePassDescriptor {
    const count = 2 * dispatches;
    if (!this.#buffers || this.#buffers.count < count) {
      this.close();
      const size = 8 * count;
      this.#buffers = {
        set: this.#device.createQuerySet({ type: 'timestamp', count }),
        resolved: this.#device.createBuffer({ size, usage: GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC }),
        readable: this.#device.createBuffer({ size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST }),
        count,
      };
    }
    const querySet = this.#buffers.set;
    return (index) => ({
      timestampWrites: { querySet, beginningOfPassWriteIndex: 2 * index, endOfPassWriteIndex: 2 * index + 1 },
    });
  }

  /** Behind the passes. */
  resolve(encoder: GPUCommandEncoder, dispatches: number): void {
    const { set, resolved, readable } = this.#buffers as Buffers;
    encoder.resolveQuerySet(set, 0, 2 * dispatches, resolved, 0);
    encoder.copyBufferToBuffer(resolved, 0, readable, 0, 16 * dispatches);
  }

  /** Behind the submission. */
  async read(dispatches: number): Promise<void> {
    const { readable } = this.#buffers as Buffers;
    this.#reading += 1;
    try {
      await readable.mapAsync(GPUMapMode.READ, 0, 16 * dispatches);
      const ticks = new BigUint64Array(readable.getMappedRange(0, 16 * dispatches).slice(0));
      readable.unmap();
      this.#nanoseconds = Array.from({ length: dispatches }, (_, i) => {
        const [begin = 0n, end = 0n] = ticks.subarray(2 * i, 2 * i + 2);
        return end > begin ? end - begin : 0n;
      });
    } catch {
      this.#nanoseconds = []; // a device that is lost says so itself
    } finally {
      this.#reading -= 1;
    }
  }

  close(): void {
    this.#buffers?.set.destroy();
    this.#buffers?.resolved.destroy();
    this.#buffers?.readable.destroy();
    this.#buffers = undefined;
  }
}
