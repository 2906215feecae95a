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

/** A file that the user chose, say. */
export function fromBlob(blob: Blob, name = blob instanceof File ? blob.name : 'a blob'): Source {
  return {
    name,
    size: blob.size,
    read: async (offset, size) => new Uint8Array(await blob.slice(offset, offset + size).arrayBuffer()),
  };
}

/** A file of a server, streamed while it is loaded. `init` goes to `fetch`: headers, credentials, a signal. */
export async function fromUrl(url: string | URL, init: RequestInit = {}): Promise<Source> {
  const response = await request(url, init);
  const size = Number(response.headers.get('content-length') ?? NaN);
  // Of a compressed or endless answer only the end tells the size.
  if (!Number.isInteger(size) || response.headers.has('content-encoding') || !response.body)
    return fromBlob(await response.blob(), String(url));
  return new UrlSource(url, init, size, response.body);
}

async function request(url: string | URL, init: RequestInit): Promise<Response> {
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

/** A stream that is read on; only a jump asks the server again. */
class UrlSource implements Source {
  readonly size: number;
  readonly #url: string | URL;
  readonly #init: RequestInit;
  #reader: Reader;
  #position = 0; // of the next byte of the stream
  #rest: Uint8Array = new Uint8Array(); // read but not used; ends at #position
  #last = { offset: 0, bytes: new Uint8Array() }; // a small piece is often asked for again as a part of a larger one

  constructor(url: string | URL, init: RequestInit, size: number, body: ReadableStream<Uint8Array>) {
    this.#url = url;
    this.#init = init;
    this.size = size;
    this.#reader = body.getReader();
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

  async #pull(): Promise<void> {
    const { done, value } = await this.#reader.read();
    if (done) throw new PteronError('invalid', `${this.name} ends at byte ${this.#position} of ${this.size}`);
    this.#rest = value;
    this.#position += value.length;
  }

  async #seek(offset: number): Promise<void> {
    const tooFar = 1 << 20; // to be skipped
    const at = this.#position - this.#rest.length;
    if (offset < at || offset > this.#position + tooFar) await this.#reopen(offset);
    while (offset > this.#position) {
      this.#rest = new Uint8Array();
      await this.#pull();
    }
    this.#rest = this.#rest.subarray(offset - (this.#position - this.#rest.length));
  }

  async #reopen(offset: number): Promise<void> {
    await this.#reader.cancel();
    const headers = new Headers(this.#init.headers);
    headers.set('range', `bytes=${offset}-`);
    const response = await request(this.#url, { ...this.#init, headers });
    if (!response.body) throw new PteronError('invalid', `the server's answer for ${this.name} has no body`);
    this.#reader = response.body.getReader();
    this.#position = response.status === 206 ? offset : 0; // 200: it knows no ranges and starts over
    this.#rest = new Uint8Array();
  }
}
