// SPDX-License-Identifier: BSD-3-Clause
// A host behind a port: calls go over as messages, and so do answers, events and errors.
import { PteronError, type ErrorKind } from './errors.ts';
import type { Context, Host } from './host.ts';

interface ErrorMessage {
  kind: ErrorKind;
  message: string;
}

/** To the worker. */
type Order = { id: number; name: keyof Host; request: unknown } | { id: number; abort: true };
/** From it. */
type News = { id: number } & ({ event: unknown } | { answer: unknown } | { error: ErrorMessage });

/** The part of Worker and of a worker's global scope that is used. */
export interface Port {
  postMessage(message: unknown): void;
  addEventListener(type: 'message', listener: (event: MessageEvent) => void): void;
}

interface Pending {
  emit: ((event: never) => void) | undefined;
  resolve: (answer: unknown) => void;
  reject: (error: PteronError) => void;
}

/** A host that does what the one behind `port` does, until `stopped` tells that there is none any more. */
export function connect(port: Port): { host: Host; stop: (error: PteronError) => void } {
  const pending = new Map<number, Pending>();
  let last = 0;
  let gone: PteronError | undefined;

  port.addEventListener('message', ({ data }: MessageEvent<News>) => {
    const call = pending.get(data.id);
    if (!call) return;
    if ('event' in data) {
      call.emit?.(data.event as never);
      return;
    }
    pending.delete(data.id);
    if ('error' in data) call.reject(new PteronError(data.error.kind, data.error.message));
    else call.resolve(data.answer);
  });

  async function send(name: keyof Host, request: unknown, { signal, emit }: Context = {}): Promise<unknown> {
    if (gone) throw gone;
    last += 1;
    const id = last;
    const abort = (): void => port.postMessage({ id, abort: true } satisfies Order);
    try {
      return await new Promise((resolve, reject) => {
        pending.set(id, { emit, resolve, reject });
        port.postMessage({ id, name, request } satisfies Order);
        if (signal?.aborted) abort();
        signal?.addEventListener('abort', abort);
      });
    } finally {
      signal?.removeEventListener('abort', abort);
      pending.delete(id);
    }
  }

  const stop = (error: PteronError): void => {
    gone ??= error;
    for (const { reject } of pending.values()) reject(error);
  };
  const host = new Proxy({}, { get: (_, name) => (request: unknown, context?: Context) => send(name as keyof Host, request, context) });
  return { host: host as Host, stop };
}

/** Lets the other side of `port` use a host. */
export function serve(port: Port, host: Host): void {
  const running = new Map<number, AbortController>();

  async function obey(id: number, name: keyof Host, request: unknown): Promise<News> {
    const aborter = new AbortController();
    running.set(id, aborter);
    const context: Context<unknown> = {
      signal: aborter.signal,
      emit: (event) => port.postMessage({ id, event } satisfies News),
    };
    try {
      const call = host[name] as (request: unknown, context: Context<unknown>) => Promise<unknown>;
      return { id, answer: await call.call(host, request, context) };
    } catch (error) {
      const kind = error instanceof PteronError ? error.kind : 'internal';
      return { id, error: { kind, message: error instanceof Error ? error.message : String(error) } };
    } finally {
      running.delete(id);
    }
  }

  port.addEventListener('message', ({ data }: MessageEvent<Order>) => {
    if ('abort' in data) running.get(data.id)?.abort();
    else void obey(data.id, data.name, data.request).then((news) => port.postMessage(news));
  });
}
