// SPDX-License-Identifier: BSD-3-Clause
// The page: a GPU, a model, what to do with it.
import { ModelCache, Pteron, type Model, type ModelOptions, type Progress } from '../../src/index.ts';
import PteronWorker from '../../src/worker.ts?worker';
import { Conversation } from './conversation.ts';
import { bytes, find } from './dom.ts';
import { showCached, showCard, showGpu, showStats } from './panel.ts';
import { setUpTabs, setUpTheme } from './chrome.ts';
import { showProgram } from './tensors.ts';

interface Bundled {
  name: string;
  file: string;
  bytes: number;
}

function showProblem(error: unknown): void {
  const problem = find('problem');
  problem.hidden = false;
  problem.textContent = error instanceof Error ? error.message : String(error);
}

const conversation = new Conversation(showProblem);
const tabs = setUpTabs();
let pteron: Promise<Pteron> | undefined;
let model: Model | undefined;

/** The GPU is opened when the page is, and again if that failed. */
function engine(): Promise<Pteron> {
  pteron ??= Pteron.create({ worker: () => new PteronWorker({ name: 'pteron' }), wasm: new URL('pteron.wasm', document.baseURI) });
  pteron.catch(() => (pteron = undefined));
  return pteron;
}

const phases: Record<Progress['phase'], string> = {
  program: 'Reading the program',
  download: 'Loading',
  weights: 'Copying weights to the GPU',
  pipelines: 'Compiling kernels',
};

function showProgress({ phase, done, total }: Progress): void {
  if (phase === 'weights' || phase === 'program') return; // they go with the download
  const amount = phase === 'pipelines' ? `${done} of ${total}` : `${bytes(done)} of ${bytes(total)}`;
  find('phase').textContent = `${phases[phase]}: ${amount}`;
  find<HTMLProgressElement>('progress').value = total > 0 ? done / total : 0;
}

async function load(file: string | File, options: ModelOptions): Promise<void> {
  const stop = new AbortController();
  find('cancel').onclick = () => stop.abort();
  find('problem').hidden = true;
  find('loading').hidden = false;
  find('phase').textContent = 'Opening the GPU';
  try {
    const host = await engine();
    model?.dispose();
    model = await host.load(file, { ...options, onProgress: showProgress, signal: stop.signal });
    find('loader').hidden = true;
    showCard(model.info, host.info);
    conversation.use(model);
    showProgram(model, showProblem, () => model && void showStats(model));
    find<HTMLInputElement>('profile').disabled = false;
    if (!model.info.language) tabs.select('tensors');
    await showStats(model);
    await showCached();
  } catch (error) {
    showProblem(error);
  } finally {
    find('loading').hidden = true;
  }
}

/** Files by what they are: the program, external constants, tokenizer, template. */
async function loadFiles(files: File[]): Promise<void> {
  const named = (...endings: string[]): File[] => files.filter(({ name }) => endings.some((ending) => name.endsWith(ending)));
  const [program] = named('.pte');
  if (!program) return showProblem(new Error(`none of ${files.map(({ name }) => name).join(', ')} is a .pte file`));
  const [tokenizer] = named('tokenizer.json', '.model', '.tiktoken');
  const [template] = named('.jinja');
  await load(program, {
    data: named('.ptd'),
    ...(tokenizer && { tokenizer }),
    ...(template && { chatTemplate: await template.text() }),
  });
}

async function offerBundled(): Promise<void> {
  const response = await fetch('models/models.json').catch(() => undefined);
  const [first] = response?.ok ? ((await response.json()) as Bundled[]) : [];
  if (!first) return;
  const button = find('bundled');
  button.textContent = `Chat with ${first.name} (${bytes(first.bytes)})`;
  button.hidden = false;
  button.addEventListener('click', () => void load(`models/${first.file}`, {}));
}

function setUpFiles(): void {
  const input = find<HTMLInputElement>('files');
  input.addEventListener('change', () => void loadFiles([...(input.files ?? [])]));
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
    void loadFiles([...(event.dataTransfer?.files ?? [])]);
  });
}

setUpTheme();
setUpFiles();
find('profile').addEventListener('change', (event) => {
  model?.profile((event.target as HTMLInputElement).checked).catch(showProblem);
});
find('clear-cache').addEventListener('click', () => void new ModelCache().clear().then(showCached));
void offerBundled();
void showCached();
engine().then(({ info }) => showGpu(info), (error: Error) => {
  find('gpu').textContent = '';
  showProblem(error);
});
if (import.meta.env.PROD) void navigator.serviceWorker?.register('sw.js', { type: 'module' }).catch(() => undefined);
