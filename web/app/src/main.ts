// SPDX-License-Identifier: BSD-3-Clause
// The page: a GPU, a model, what to do with it.
import { ModelCache, Pteron, PteronError, type Model } from '../../src/index.ts';
import PteronWorker from '../../src/worker.ts?worker';
import { setUpTabs, setUpTheme } from './chrome.ts';
import { Conversation } from './conversation.ts';
import { find } from './dom.ts';
import { offerBundled, setUpFiles, showPhases, type Wanted } from './loader.ts';
import { showCached, showCard, showGpu, showStats } from './panel.ts';
import { showProgram } from './tensors.ts';

function showProblem(error: unknown): void {
  find('problem').hidden = false;
  find('problem-text').textContent = error instanceof Error ? error.message : String(error);
  find('retry').hidden = pteron !== undefined || last === undefined; // the engine is gone, but was there
}

const showState = (state: 'none' | 'loading' | 'ready'): void => {
  find('main').dataset['state'] = state;
  find('back').hidden = !model;
};

const conversation = new Conversation(showProblem);
const tabs = setUpTabs();
let pteron: Promise<Pteron> | undefined;
let model: Model | undefined;
let last: Wanted | undefined;

/** The GPU is opened when the page is, and again if that failed or its worker stopped. */
function engine(): Promise<Pteron> {
  if (pteron) return pteron;
  const opening = Pteron.create({ worker: () => new PteronWorker({ name: 'pteron' }), wasm: new URL('pteron.wasm', document.baseURI) });
  pteron = opening;
  const forget = (): void => {
    if (pteron === opening) pteron = undefined;
  };
  opening.then(({ info, stopped }) => {
    showGpu(info);
    void stopped.then((error) => {
      forget();
      dropModel();
      showProblem(error);
    });
  }, forget);
  return opening;
}

function dropModel(): void {
  model?.dispose();
  model = undefined;
  conversation.use(undefined);
}

const nameOf = (file: string | File): string => decodeURIComponent((typeof file === 'string' ? file : file.name).split('/').pop() ?? '');

async function load(wanted: Wanted): Promise<void> {
  const stop = new AbortController();
  find('cancel').onclick = () => stop.abort();
  find('problem').hidden = true;
  last = wanted;
  showState('loading');
  const onProgress = showPhases(nameOf(wanted.file));
  try {
    const host = await engine();
    dropModel();
    const loaded = await host.load(wanted.file, { ...wanted.options, onProgress, signal: stop.signal });
    model = loaded;
    showState('ready');
    showCard(loaded.info, () => showState('none'));
    find<HTMLInputElement>('profile').disabled = false;
    if (find<HTMLInputElement>('profile').checked) await loaded.profile(true);
    showProgram(loaded, showProblem, () => void showStats(loaded).catch(showProblem));
    tabs.select(loaded.info.language ? 'chat' : 'tensors');
    conversation.use(loaded);
    await showStats(loaded);
    await showCached();
  } catch (error) {
    showState('none');
    if (!(error instanceof PteronError && error.kind === 'cancelled')) showProblem(error);
  }
}

const onWanted = (wanted: Wanted): void => void load(wanted);
setUpTheme();
setUpFiles(onWanted, showProblem);
find('retry').addEventListener('click', () => last && onWanted(last));
find('back').addEventListener('click', () => showState('ready'));
find('profile').addEventListener('change', (event) => {
  model?.profile((event.target as HTMLInputElement).checked).catch(showProblem);
});
find('clear-cache').addEventListener('click', () => void new ModelCache().clear().then(showCached, showProblem));
offerBundled(onWanted).catch(showProblem);
void showCached();
engine().catch((error: Error) => {
  find('gpu').hidden = true;
  showProblem(error);
});
if (import.meta.env.PROD) void navigator.serviceWorker?.register('sw.js', { type: 'module' }).catch(() => undefined);
