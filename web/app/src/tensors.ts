// SPDX-License-Identifier: BSD-3-Clause
// "Run a tensor program": inputs from .npy files or images, outputs as numbers and .npy files.
import { tensor, type Model, type Tensor, type ValueInfo } from '../../src/index.ts';
import { find, make, save, time } from './dom.ts';
import { imageTensor, takesImage } from './image.ts';
import { readNpy, writeNpy } from './npy.ts';

type Source = () => Promise<Tensor>;

const describe = ({ dtype, shape, dynamic }: ValueInfo): string => `${dtype} [${shape.join(', ')}]${dynamic ? ', at most' : ''}`;

function filled({ dtype, shape }: ValueInfo, value: () => number): Tensor {
  const count = shape.reduce((product, size) => product * size, 1);
  return tensor(dtype, shape, Array.from({ length: count }, value));
}

/** A row of the form: where one input comes from. */
function inputRow(info: ValueInfo, index: number): { row: HTMLFieldSetElement; source: Source } {
  const file = make('input', { type: 'file', accept: takesImage(info) ? '.npy,image/*' : '.npy', id: `input-${index}` });
  const kind = make('select', { id: `kind-${index}` }, make('option', { value: 'zeros' }, 'Zeros'), make('option', { value: 'random' }, 'Random numbers'), make('option', { value: 'file' }, 'A file'));
  kind.setAttribute('aria-label', `What input ${index} is`);
  file.setAttribute('aria-label', `File for input ${index}`);
  file.addEventListener('change', () => (kind.value = 'file'));
  const row = make(
    'fieldset', {},
    make('legend', {}, `Input ${index}: ${describe(info)}`),
    make('div', { className: 'row' }, kind, file),
    make('p', { className: 'faint' }, takesImage(info) ? 'A .npy file, or an image: it is resized and normalised as torchvision does.' : 'A .npy file.'),
  );
  const source = async (): Promise<Tensor> => {
    if (kind.value === 'zeros') return filled(info, () => 0);
    if (kind.value === 'random') return filled(info, () => (info.dtype.startsWith('float') ? Math.random() * 2 - 1 : 0));
    const chosen = file.files?.[0];
    if (!chosen) throw new Error(`choose a file for input ${index}`);
    return chosen.type.startsWith('image/') ? imageTensor(chosen, info) : readNpy(await chosen.arrayBuffer());
  };
  return { row, source };
}

function summary({ data }: Tensor): string {
  let least = Infinity;
  let most = -Infinity;
  for (const value of data) {
    least = Math.min(least, Number(value));
    most = Math.max(most, Number(value));
  }
  const first = Array.from(data.slice(0, 8) as ArrayLike<number | bigint>, (value) => Number(Number(value).toPrecision(5)));
  return data.length === 0 ? 'empty' : `from ${least} to ${most}\n${first.join('  ')}${data.length > 8 ? '  …' : ''}`;
}

/** The best classes of a row of scores. */
function best({ shape, data }: Tensor): string {
  if (data.length < 10 || data.length > 100_000 || shape.at(-1) !== data.length) return '';
  const order = Array.from(data as ArrayLike<number | bigint>, Number).map((score, index) => ({ score, index })).sort((a, b) => b.score - a.score);
  return `\nbest: ${order.slice(0, 5).map(({ index, score }) => `${index} (${score.toPrecision(4)})`).join('  ')}`;
}

function showOutputs(outputs: Tensor[]): void {
  find('outputs').replaceChildren(
    ...outputs.map((output, i) => {
      const download = make('button', { type: 'button' }, `Save output ${i} as .npy`);
      download.addEventListener('click', () => save(writeNpy(output), `output_${i}.npy`));
      return make(
        'div', { className: 'output' },
        make('strong', {}, `Output ${i}: ${output.dtype} [${output.shape.join(', ')}]`),
        make('pre', { tabIndex: 0 }, summary(output) + best(output)),
        download,
      );
    }),
  );
}

export function showProgram(model: Model, onError: (error: unknown) => void, onRun: () => void): void {
  const rows = model.info.method.inputs.map(inputRow);
  const run = make('button', { className: 'primary', id: 'run' }, 'Run');
  const form = find<HTMLFormElement>('inputs');
  form.replaceChildren(...rows.map(({ row }) => row), make('div', { className: 'row' }, run));
  find('outputs').replaceChildren();
  find('no-program').hidden = true;
  form.onsubmit = async (event) => {
    event.preventDefault();
    run.disabled = true;
    try {
      const inputs = await Promise.all(rows.map(({ source }) => source()));
      const started = performance.now();
      const outputs = await model.run(inputs);
      find('last').textContent = time(performance.now() - started);
      showOutputs(outputs);
      onRun();
    } catch (error) {
      onError(error);
    } finally {
      run.disabled = false;
    }
  };
}
