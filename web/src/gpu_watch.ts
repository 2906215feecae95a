// SPDX-License-Identifier: BSD-3-Clause
// WebGPU answers later: this knows what is still under way on a device and the first thing that went wrong with it.
import type { ErrorKind } from './errors.ts';

export interface Failure {
  kind: ErrorKind;
  message: string;
}

export class GpuWatch {
  readonly #device: GPUDevice;
  readonly #pending = new Set<Promise<unknown>>();
  #openScopes = 0;
  #failure: Failure | undefined;
  #closed = false;

  constructor(device: GPUDevice) {
    this.#device = device;
    device.addEventListener('uncapturederror', this.#onError);
    void device.lost.then(({ reason, message }) => {
      if (this.#closed) return;
      const why = message || (reason === 'destroyed' ? 'it was destroyed' : 'the browser gives no reason');
      // It explains whatever failed shortly before.
      this.#failure = { kind: 'device lost', message: `the GPU device was lost: ${why}` };
    });
  }

  readonly #onError = (event: GPUUncapturedErrorEvent): void => this.track(this.#remember(event.error, ''));

  close(): void {
    this.#closed = true;
    this.#device.removeEventListener('uncapturederror', this.#onError);
  }

  /** The first error that no call could return. It stays. */
  get failure(): Failure | undefined {
    return this.#failure;
  }

  fail(failure: Failure): void {
    this.#failure ??= failure;
  }

  /** An error is often the first sign that the device is lost; its own words for it come soon, if at all. */
  async loss(): Promise<void> {
    await Promise.race([this.#device.lost, new Promise((resolve) => setTimeout(resolve, 1000))]);
  }

  /** Whether errors of scoped calls may still arrive. */
  get uncertain(): boolean {
    return this.#openScopes > 0;
  }

  track(promise: Promise<unknown>): void {
    const tracked = promise.finally(() => this.#pending.delete(tracked));
    this.#pending.add(tracked);
  }

  /** Resolves when something that was tracked has ended, or at once if nothing is under way. */
  async change(): Promise<void> {
    if (this.#pending.size > 0) await Promise.race(this.#pending);
  }

  /** Resolves when everything that is under way now has ended. */
  async round(): Promise<void> {
    await Promise.all(this.#pending);
  }

  /** Resolves when everything that was tracked has ended, and what was tracked meanwhile. */
  async settle(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }

  /** Calls `use`, whose errors become the device's failure when they arrive; `doing` goes in front of them. */
  scoped<T>(doing: () => string, use: () => T): T {
    const filters: GPUErrorFilter[] = ['out-of-memory', 'validation'];
    for (const filter of filters) this.#device.pushErrorScope(filter);
    this.#openScopes += filters.length;
    try {
      return use();
    } finally {
      for (const _ of filters) this.track(this.#closeScope(doing));
    }
  }

  async #closeScope(doing: () => string): Promise<void> {
    // A scope that can't be closed belongs to a lost device, which says so itself.
    const error = await this.#device.popErrorScope().catch(() => null);
    if (error) await this.#remember(error, doing());
    this.#openScopes -= 1;
  }

  async #remember(error: GPUError, doing: string): Promise<void> {
    this.#openScopes += 1; // until it is known, nothing is certain
    await this.loss();
    this.#openScopes -= 1;
    const full = error instanceof GPUOutOfMemoryError;
    const what = full ? 'the GPU is out of memory' : 'WebGPU';
    this.fail({ kind: full ? 'out of memory' : 'internal', message: `${doing}${what}: ${error.message}` });
  }
}
