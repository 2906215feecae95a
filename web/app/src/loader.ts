// SPDX-License-Identifier: BSD-3-Clause
// How a model gets here: a bundled one, chosen or dropped files; and how far its loading is.
import { ModelCache, type ModelOptions, type Progress } from '../../src/index.ts';
import { announce, bytes, find, make } from './dom.ts';

export interface Wanted {
  file: string | File;
  options: ModelOptions;
}

interface Bundled {
  name: string;
  file: string;
  bytes: number;
}

const labels: Partial<Record<Progress['phase'], string>> = {
  download: 'Load the file',
  weights: 'Copy weights to the GPU',
  pipelines: 'Compile kernels',
};

/** A bar for each phase, with its bytes. */
export function showPhases(name: string): (progress: Progress) => void {
  find('loading-title').textContent = `Loading ${name}`;
  announce(`Loading ${name}`);
  const rows = Object.entries(labels).map(([phase, label]) => {
    const amount = make('span');
    const bar = make('progress', { max: 1, value: 0 });
    bar.setAttribute('aria-label', label);
    const row = make('li', {}, make('span', {}, label), amount, bar);
    return { phase, amount, bar, row };
  });
  find('phases').replaceChildren(...rows.map(({ row }) => row));
  return ({ phase, done, total }) => {
    const shown = rows.find((each) => each.phase === phase);
    if (!shown) return; // reading the program goes with the download
    const counted = phase === 'pipelines' ? String : bytes;
    shown.row.className = 'begun';
    shown.amount.textContent = total > 0 ? `${counted(done)} of ${counted(total)}` : counted(done);
    if (total > 0) shown.bar.value = done / total;
  };
}

/** Files by what they are: the program, external constants, tokenizer, template. */
async function sortFiles(files: File[]): Promise<Wanted> {
  const named = (...endings: string[]): File[] => files.filter(({ name }) => endings.some((ending) => name.endsWith(ending)));
  const [file] = named('.pte');
  if (!file) throw new Error(`none of ${files.map(({ name }) => name).join(', ')} is a .pte file`);
  const [tokenizer] = named('tokenizer.json', '.model', '.tiktoken');
  const [template] = named('.jinja');
  const options = { data: named('.ptd'), ...(tokenizer && { tokenizer }), ...(template && { chatTemplate: await template.text() }) };
  return { file, options };
}

/** Buttons for the models that the server brings, if it does. */
export async function offerBundled(load: (wanted: Wanted) => void): Promise<void> {
  const response = await fetch('models/models.json').catch(() => undefined);
  const models = response?.ok ? ((await response.json()) as Bundled[]) : [];
  const kept = await new ModelCache().list().catch(() => []);
  find('ways').prepend(...models.map(({ name, file, bytes: size }) => {
    const url = new URL(`models/${file}`, document.baseURI).href;
    const here = kept.some((entry) => entry.url === url && entry.cachedBytes === entry.size);
    const button = make(
      'button', { className: 'way primary bundled' },
      make('strong', {}, `Chat with ${name}`),
      make('span', {}, here ? `${bytes(size)}, already in this browser` : `${bytes(size)}, kept for the next time`),
    );
    button.addEventListener('click', () => load({ file: url, options: {} }));
    return button;
  }));
}

export function setUpFiles(load: (wanted: Wanted) => void, onError: (error: unknown) => void): void {
  const take = (files: Iterable<File>): void => void sortFiles([...files]).then(load, onError);
  const input = find<HTMLInputElement>('files');
  input.addEventListener('change', () => {
    take(input.files ?? []);
    input.value = ''; // so that the same files can be chosen again
  });
  const carriesFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') ?? false;
  addEventListener('dragover', (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    document.body.classList.add('dropping');
  });
  addEventListener('dragleave', (event) => event.relatedTarget ?? document.body.classList.remove('dropping'));
  addEventListener('drop', (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    document.body.classList.remove('dropping');
    take(event.dataTransfer?.files ?? []);
  });
}
