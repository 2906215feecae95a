// SPDX-License-Identifier: BSD-3-Clause
// Keeps the files of models in the browser's Cache storage, in chunks with their SHA-256. A load that broke off goes on at
// the first chunk that is missing; a chunk that is not what was stored is fetched again; a file that changed on the server
// is dropped. What was used least recently goes when there is no room.
import { PteronError } from './errors.ts';
import { absolute, describeFile, fromUrl, request, UrlSource, type ServerFile, type Source } from './source.ts';

export interface CacheOptions {
  /** Of the Cache storage. */
  name?: string;
  /** At most so much, if the browser allows it. */
  maxBytes?: number;
}

export interface CachedFile {
  url: string;
  /** On the server, and of it in the cache. */
  size: number;
  cachedBytes: number;
  /** When it was last loaded: milliseconds since 1970. */
  used: number;
}

interface Entry extends ServerFile {
  url: string;
  used: number;
  hashes: (string | null)[]; // of chunks; null: not there
}

const chunkBytes = 4 << 20;
const root = 'https://pteron.invalid/'; // names in the cache are URLs; nobody fetches them

async function sha256(bytes: BufferSource): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

const chunkSize = ({ size }: Entry, index: number): number => Math.min(chunkBytes, size - index * chunkBytes);

const cachedBytes = (entry: Entry): number =>
  entry.hashes.reduce((sum, hash, i) => sum + (hash === null ? 0 : chunkSize(entry, i)), 0);

export class ModelCache {
  readonly #name: string;
  readonly #maxBytes: number;

  constructor({ name = 'pteron-models', maxBytes = Infinity }: CacheOptions = {}) {
    this.#name = name;
    this.#maxBytes = maxBytes;
  }

  /** What is there, the least recently used first. */
  async list(): Promise<CachedFile[]> {
    const entries = await this.#entries();
    return entries.map((entry) => ({ url: entry.url, size: entry.size, cachedBytes: cachedBytes(entry), used: entry.used }));
  }

  async delete(url: string | URL): Promise<void> {
    const entry = await this.find(absolute(url));
    if (entry) await this.#drop(entry);
  }

  async clear(): Promise<void> {
    await caches.delete(this.#name);
  }

  /** A file of a server: from the cache what is there, the rest from the server into the cache. */
  async open(from: string | URL, init: RequestInit = {}): Promise<Source> {
    const url = absolute(from);
    const usable = await this.#open().then(() => true, () => false); // a page may be forbidden to store anything
    if (!usable) return fromUrl(url, init);
    const known = await this.find(url);
    let file: ServerFile | undefined;
    try {
      file = describeFile(await request(url, { ...init, method: 'HEAD' }));
    } catch (error) {
      if (init.signal?.aborted) throw error;
      if (!known) return fromUrl(url, init); // which has its own words for what is wrong
      return new CachedSource(this, known, init); // offline, perhaps
    }
    if (!file?.validator) return fromUrl(url, init);
    const same = known && known.size === file.size && known.validator === file.validator;
    if (known && !same) await this.#drop(known);
    const chunks = Math.ceil(file.size / chunkBytes);
    const entry = same ? known : { ...file, url, used: 0, hashes: new Array<null>(chunks).fill(null) };
    entry.used = Date.now();
    if (!(await this.#makeRoom(entry, entry.size - cachedBytes(entry)))) return fromUrl(url, init);
    await this.save(entry);
    return new CachedSource(this, entry, init);
  }

  /** For CachedSource, as all below. */
  async find(url: string): Promise<Entry | undefined> {
    return readEntry(await (await this.#open()).match(await nameOf(url)));
  }

  async save(entry: Entry): Promise<void> {
    await (await this.#open()).put(await nameOf(entry.url), new Response(JSON.stringify(entry)));
  }

  /** Nothing if it is not there or not what was stored. */
  async readChunk(entry: Entry, index: number): Promise<Uint8Array | undefined> {
    const hash = entry.hashes[index];
    if (!hash) return undefined;
    const found = await (await this.#open()).match(await nameOf(entry.url, index));
    const bytes = await found?.arrayBuffer();
    return bytes && (await sha256(bytes)) === hash ? new Uint8Array(bytes) : undefined;
  }

  /** False if there is no room for it. */
  async writeChunk(entry: Entry, index: number, bytes: Uint8Array<ArrayBuffer>): Promise<boolean> {
    const cache = await this.#open();
    const name = await nameOf(entry.url, index);
    try {
      await cache.put(name, new Response(bytes));
    } catch {
      if (!(await this.#makeRoom(entry, bytes.length))) return false;
      try {
        await cache.put(name, new Response(bytes));
      } catch {
        return false;
      }
    }
    entry.hashes[index] = await sha256(bytes);
    await this.save(entry);
    return true;
  }

  async #open(): Promise<Cache> {
    if (!('caches' in globalThis))
      throw new PteronError('unsupported', 'this page has no Cache storage; load with cache: false');
    return caches.open(this.#name);
  }

  async #entries(): Promise<Entry[]> {
    const cache = await this.#open();
    const names = (await cache.keys()).filter(({ url }) => url.endsWith('/entry'));
    const entries = await Promise.all(names.map(async (name) => readEntry(await cache.match(name))));
    return entries.filter((entry) => entry !== undefined).sort((a, b) => a.used - b.used);
  }

  async #drop(entry: Entry): Promise<void> {
    const cache = await this.#open();
    await cache.delete(await nameOf(entry.url));
    for (const index of entry.hashes.keys()) await cache.delete(await nameOf(entry.url, index));
  }

  /** Whether so many bytes fit beside `kept`, when others have gone. */
  async #makeRoom(kept: Entry, bytes: number): Promise<boolean> {
    for (;;) {
      const { quota = Infinity, usage = 0 } = (await navigator.storage?.estimate?.()) ?? {};
      const entries = await this.#entries();
      const mine = entries.reduce((sum, entry) => sum + cachedBytes(entry), 0);
      if (bytes <= Math.min(quota - usage, this.#maxBytes - mine)) return true;
      const oldest = entries.find(({ url }) => url !== kept.url);
      if (!oldest) return false;
      await this.#drop(oldest);
    }
  }
}

/** What is no entry counts as none. */
async function readEntry(stored: Response | undefined): Promise<Entry | undefined> {
  const entry = (await stored?.json().catch(() => undefined)) as Entry | undefined;
  return Array.isArray(entry?.hashes) && entry.hashes.length === Math.ceil(entry.size / chunkBytes) ? entry : undefined;
}

async function nameOf(url: string, chunk?: number): Promise<string> {
  return `${root}${await sha256(new TextEncoder().encode(url))}/${chunk ?? 'entry'}`;
}

class CachedSource implements Source {
  readonly #cache: ModelCache;
  readonly #entry: Entry;
  readonly #server: UrlSource;
  #full = false; // no more room in the cache
  #chunk = { index: -1, bytes: new Uint8Array() }; // the last one

  constructor(cache: ModelCache, entry: Entry, init: RequestInit) {
    this.#cache = cache;
    this.#entry = entry;
    this.#server = new UrlSource(entry.url, init, entry);
  }

  get name(): string {
    return this.#entry.url;
  }
  get size(): number {
    return this.#entry.size;
  }

  async read(offset: number, size: number): Promise<Uint8Array> {
    if (offset + size > this.size)
      throw new PteronError('invalid', `${this.name} ends at byte ${this.size}, but ${offset + size} are needed`);
    const out = new Uint8Array(size);
    for (let filled = 0; filled < size; ) {
      const index = Math.floor((offset + filled) / chunkBytes);
      if (this.#chunk.index !== index) this.#chunk = { index, bytes: await this.#read(index) };
      const part = this.#chunk.bytes.subarray(offset + filled - index * chunkBytes).subarray(0, size - filled);
      out.set(part, filled);
      filled += part.length;
    }
    return out;
  }

  async #read(index: number): Promise<Uint8Array<ArrayBuffer>> {
    const stored = await this.#cache.readChunk(this.#entry, index);
    if (stored) return stored as Uint8Array<ArrayBuffer>;
    const bytes = await this.#server.read(index * chunkBytes, chunkSize(this.#entry, index));
    if (!this.#full) this.#full = !(await this.#cache.writeChunk(this.#entry, index, bytes as Uint8Array<ArrayBuffer>));
    return bytes as Uint8Array<ArrayBuffer>;
  }
}
