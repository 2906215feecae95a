// SPDX-License-Identifier: BSD-3-Clause
// The part of WASI that the module's C library may call: output goes to the console, there are no files.

const success = 0;
const badDescriptor = 8;
const notSupported = 58;

/** Imports of `wasi_snapshot_preview1`. `memory` is asked for at each call, because growing replaces its buffer. */
export function wasiImports(memory: () => ArrayBuffer): WebAssembly.ModuleImports {
  const decoder = new TextDecoder();
  let line = '';

  return {
    // Lines of stdout and stderr.
    fd_write(descriptor: number, vectors: number, count: number, writtenAt: number): number {
      if (descriptor !== 1 && descriptor !== 2) return badDescriptor;
      const view = new DataView(memory());
      let written = 0;
      for (let i = 0; i < count; i += 1) {
        const size = view.getUint32(vectors + 8 * i + 4, true);
        line += decoder.decode(new Uint8Array(memory(), view.getUint32(vectors + 8 * i, true), size), { stream: true });
        written += size;
      }
      const lines = line.split('\n');
      line = lines.pop() ?? '';
      for (const complete of lines) console.warn(complete);
      view.setUint32(writtenAt, written, true);
      return success;
    },
    fd_close: () => success,
    fd_seek: () => notSupported,
    fd_fdstat_get: () => badDescriptor,
    environ_sizes_get(countAt: number, sizeAt: number): number {
      const view = new DataView(memory());
      view.setUint32(countAt, 0, true);
      view.setUint32(sizeAt, 0, true);
      return success;
    },
    environ_get: () => success,
    clock_time_get(clock: number, _precision: bigint, timeAt: number): number {
      const milliseconds = clock === 0 ? Date.now() : performance.now();
      new DataView(memory()).setBigUint64(timeAt, BigInt(Math.round(milliseconds * 1e6)), true);
      return success;
    },
    random_get(at: number, size: number): number {
      const most = 65536; // of one call
      for (let done = 0; done < size; done += most)
        crypto.getRandomValues(new Uint8Array(memory(), at + done, Math.min(most, size - done)));
      return success;
    },
    proc_exit(code: number): never {
      throw new WebAssembly.RuntimeError(`the module ended itself with code ${code}`);
    },
  };
}
