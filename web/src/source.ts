// SPDX-License-Identifier: BSD-3-Clause
// Where the bytes of a program come from. Nobody holds a whole file: an engine asks for pieces of a few MiB, mostly front to
// back, one at a time.
import { PteronError } from './errors.ts';

export interface Source {
  readonly name: string;
  readonly size: number;
  read(offset: number, size: number): Promise<Uint8Array>;
}

export function fromBytes(bytes: Uint8Array | ArrayBuffer, name = 'a program in memory'): Source {
  const all = bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes);
  return { name, size: all.length, read: async (offset, size) => all.subarray(offset, offset + size) };
}

/** The same files; `report` gets the bytes read so far, counted to the furthest one of each. */
export function observed(sources: readonly Source[], report: (bytes: number) => void): Source[] {
  const furthest = sources.map(() => 0);
  return sources.map((source, i) => ({
    name: source.name,
    size: source.size,
    async read(offset, size) {
      const bytes = await source.read(offset, size);
      furthest[i] = Math.max(furthest[i] ?? 0, offset + size);
      report(furthest.reduce((sum, end) => sum + end, 0));
      return bytes;
    },
  }));
}

/** A file that the user chose, say. */
export function fromBlob(blob: Blob, name = blob instanceof File ? blob.name : 'a blob'): Source {
  return {
    name,
    size: blob.size,
    read: async (offset, size) => new Uint8Array(await blob.slice(offset, offset + size).arrayBuffer()),
  };
}

/** Relative to the page, if there is one. */
export function absolute(url: string | URL): string {
  const base = globalThis.location?.href;
  if (URL.canParse(url, base)) return new URL(url, base).href;
  throw new PteronError('invalid', `'${url}' is no URL${base ? '' : ", and there is no page that it could be relative to; 'pteron/node' takes paths"}`);
}

/** A file of a server, streamed while it is loaded. `init` goes to `fetch`: headers, credentials, a signal. */
export async function fromUrl(url: string | URL, init: RequestInit = {}): Promise<Source> {
  const response = await request(url, init);
  const file = describeFile(response);
  // Of a compressed or endless answer only the end tells the size.
  if (!file || !response.body) return fromBlob(await response.blob(), String(url));
  return new UrlSource(url, init, file, response.body);
}

export interface ServerFile {
  size: number;
  /** Changes when the file does; empty if the server gives none. */
  validator: string;
}

/** What a server says about a file, if it says how long it is. */
export function describeFile({ headers }: Response): ServerFile | undefined {
  const size = Number(headers.get('content-length') ?? NaN);
  if (!Number.isInteger(size) || headers.has('content-encoding')) return undefined;
  return { size, validator: headers.get('etag') ?? headers.get('last-modified') ?? '' };
}

export async function request(url: string | URL, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, init);
  } catch (error) {
    const aborted = error instanceof DOMException && error.name === 'AbortError';
    throw new PteronError(aborted ? 'cancelled' : 'not found', `${url} can't be fetched: ${(error as Error).message}`, {
      cause: error,
    });
  }
  if (!response.ok) throw new PteronError('not found', `${url} can't be fetched: the server answers ${response.status}`);
  return response;
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

/** A stream that is read on; only a jump, or a connection that broke, asks the server again. */
export class UrlSource implements Source {
  readonly size: number;
  readonly #url: string | URL;
  readonly #init: RequestInit;
  readonly #validator: string;
  #reader: Reader | undefined;
  #position = 0; // of the next byte of the stream
  #rest: Uint8Array = new Uint8Array(); // read but not used; ends at #position
  #last = { offset: 0, bytes: new Uint8Array() }; // a small piece is often asked for again as a part of a larger one

  constructor(url: string | URL, init: RequestInit, file: ServerFile, body?: ReadableStream<Uint8Array>) {
    this.#url = url;
    this.#init = init;
    this.#validator = file.validator;
    this.size = file.size;
    this.#reader = body?.getReader();
  }

  get name(): string {
    return String(this.#url);
  }

  async read(offset: number, size: number): Promise<Uint8Array> {
    const out = new Uint8Array(size);
    const again = this.#last.bytes.subarray(Math.max(0, offset - this.#last.offset)).subarray(0, size);
    let filled = 0;
    if (offset >= this.#last.offset && again.length > 0) {
      out.set(again);
      filled = again.length;
    }
    if (offset + size > this.size)
      throw new PteronError('invalid', `${this.name} ends at byte ${this.size}, but ${offset + size} are needed`);
    if (filled < size) await this.#seek(offset + filled);
    while (filled < size) {
      if (this.#rest.length === 0) await this.#pull();
      const part = this.#rest.subarray(0, size - filled);
      out.set(part, filled);
      filled += part.length;
      this.#rest = this.#rest.subarray(part.length);
    }
    this.#last = size <= 65536 ? { offset, bytes: out } : { offset: 0, bytes: new Uint8Array() };
    return out;
  }

  /** The next piece of the stream. A connection that breaks is made again where it broke. */
  async #pull(): Promise<void> {
    const attempts = 4;
    let why = 'the connection ended';
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      try {
        if (!this.#reader) await this.#reopen(this.#position);
        const { done, value } = await (this.#reader as Reader).read();
        if (!done) {
          this.#rest = value;
          this.#position += value.length;
          return;
        }
      } catch (error) {
        if (error instanceof PteronError && error.kind !== 'not found') throw error;
        if (this.#init.signal?.aborted) throw new PteronError('cancelled', `loading ${this.name} was cancelled`, { cause: error });
        why = (error as Error).message;
      }
      this.#reader = undefined;
      await new Promise((resolve) => setTimeout(resolve, 100 * 4 ** attempt));
    }
    throw new PteronError('not found', `${this.name} ends at byte ${this.#position} of ${this.size}: ${why}`);
  }

  async #seek(offset: number): Promise<void> {
    const tooFar = 1 << 20; // to be skipped
    const at = this.#position - this.#rest.length;
    if (!this.#reader || offset < at || offset > this.#position + tooFar) await this.#reopen(offset);
    while (offset > this.#position) {
      this.#rest = new Uint8Array();
      await this.#pull();
    }
    this.#rest = this.#rest.subarray(offset - (this.#position - this.#rest.length));
  }

  async #reopen(offset: number): Promise<void> {
    await this.#reader?.cancel();
    const headers = new Headers(this.#init.headers);
    if (offset > 0) headers.set('range', `bytes=${offset}-`);
    const response = await request(this.#url, { ...this.#init, headers });
    if (!response.body) throw new PteronError('invalid', `the server's answer for ${this.name} has no body`);
    const validator = describeFile(response)?.validator ?? '';
    if (validator !== this.#validator)
      throw new PteronError('invalid', `${this.name} changed on the server while it was loaded; load it again`);
    this.#reader = response.body.getReader();
    this.#position = response.status === 206 ? offset : 0; // 200: it knows no ranges and starts over
    this.#rest = new Uint8Array();
  }
}
