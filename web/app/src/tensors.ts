// SPDX-License-Identifier: BSD-3-Clause
// "Run a tensor program": inputs from .npy files or images, outputs as numbers and .npy files.
import { numbers, tensor, type Model, type Tensor, type ValueInfo } from '../../src/index.ts';
import { find, make, quietButton, save, time } from './dom.ts';
import { imageTensor, takesImage } from './image.ts';
import { readNpy, writeNpy } from './npy.ts';

type Source = () => Promise<Tensor>;

const describe = ({ dtype, shape, dynamic }: ValueInfo): string => `${dtype} ${dynamic ? 'up to ' : ''}[${shape.join(', ')}]`;

function filled({ dtype, shape }: ValueInfo, value: () => number): Tensor {
  const count = shape.reduce((product, size) => product * size, 1);
  return tensor(dtype, shape, Array.from({ length: count }, value));
}

/** A part of the form: where one input comes from. */
function inputRow(info: ValueInfo, index: number): { row: HTMLFieldSetElement; source: Source } {
  const image = takesImage(info);
  const file = make('input', { type: 'file', accept: image ? '.npy,image/*' : '.npy', id: `input-${index}` });
  const kinds = { zeros: 'Zeros', random: 'Random numbers', file: 'A file' };
  const kind = make('select', { id: `kind-${index}` }, ...Object.entries(kinds).map(([value, label]) => make('option', { value }, label)));
  const preview = make('img', { className: 'preview', alt: `The image for input ${index}`, hidden: true });
  kind.setAttribute('aria-label', `What input ${index} is`);
  file.setAttribute('aria-label', `File for input ${index}`);
  file.addEventListener('change', () => {
    const [chosen] = file.files ?? [];
    kind.value = chosen ? 'file' : 'zeros';
    preview.hidden = !chosen?.type.startsWith('image/');
    URL.revokeObjectURL(preview.src);
    if (chosen && !preview.hidden) preview.src = URL.createObjectURL(chosen);
  });
  const hint = image ? 'A .npy file, or an image: its middle is resized and normalised as torchvision does.' : 'A .npy file.';
  const row = make(
    'fieldset', {},
    make('legend', {}, `Input ${index}`, make('span', { className: 'type' }, describe(info))),
    make('div', { className: 'row' }, kind, file),
    preview,
    make('p', { className: 'faint' }, hint),
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

const short = (value: number): string => String(Number(value.toPrecision(5)));

function summary(values: number[]): string {
  if (values.length === 0) return 'empty';
  const [least, most, sum] = values.reduce(([a, b, c], value) => [Math.min(a, value), Math.max(b, value), c + value], [Infinity, -Infinity, 0]);
  const first = values.slice(0, 8).map(short).join('  ');
  return `${short(least)} to ${short(most)}, mean ${short(sum / values.length)}\n${first}${values.length > 8 ? '  …' : ''}`;
}

/** The best classes of a row of scores. */
function best({ shape }: Tensor, values: number[]): string {
  if (values.length < 10 || values.length > 100_000 || shape.at(-1) !== values.length) return '';
  const order = values.map((score, index) => ({ score, index })).sort((a, b) => b.score - a.score);
  return `\nbest: ${order.slice(0, 5).map(({ index, score }) => `${index} (${score.toPrecision(4)})`).join('  ')}`;
}

function showOutputs(outputs: Tensor[]): void {
  find('outputs').replaceChildren(
    ...outputs.map((output, i) => {
      const values = numbers(output);
      const type = make('span', { className: 'type' }, `${output.dtype} [${output.shape.join(', ')}]`);
      const download = quietButton('save', `Save output ${i} as .npy`, () => save(writeNpy(output), `output_${i}.npy`));
      return make(
        'div', { className: 'output' },
        make('header', {}, make('strong', {}, `Output ${i}`, type), download),
        make('pre', { tabIndex: 0 }, summary(values) + best(output, values)),
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
