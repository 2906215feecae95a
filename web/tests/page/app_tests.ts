// SPDX-License-Identifier: BSD-3-Clause
// Parts of the page in app/ by themselves; each runs in a page.
import { numbers, tensor, type DType } from '../../src/index.ts';
import { markdown } from '../../app/src/markdown.ts';
import { readNpy, writeNpy } from '../../app/src/npy.ts';
import { expect } from './expect.ts';

const html = (text: string): string => markdown(text).map(({ outerHTML }) => outerHTML).join('');

/** NumPy's own bytes of numpy.arange(6, dtype='<i4').reshape(2, 3). */
function savedByNumPy(): ArrayBuffer {
  const header = "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }".padEnd(117) + '\n';
  const file = new Uint8Array(10 + 118 + 24);
  file.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, 118, 0]);
  file.set(new TextEncoder().encode(header), 10);
  file.set(new Uint8Array(Int32Array.of(0, 1, 2, 3, 4, 5).buffer), 128);
  return file.buffer;
}

export const tests: Record<string, () => Promise<void>> = {
  async 'Markdown that models write becomes elements'() {
    const cases: [string, string][] = [
      ['one\ntwo\n\nthree', '<p>one\ntwo</p><p>three</p>'],
      ['# Title\ntext', '<h3>Title</h3><p>text</p>'],
      ['**bold**, *it* and _it_, `a*b*c`', '<p><strong>bold</strong>, <em>it</em> and <em>it</em>, <code>a*b*c</code></p>'],
      ['snake_case_name 2*3*4', '<p>snake_case_name 2*3*4</p>'],
      ['- a\n- b', '<ul><li>a</li><li>b</li></ul>'],
      ['1. a\n\n2. b', '<ol start="1"><li>a</li><li>b</li></ol>'],
      ['3) c', '<ol start="3"><li>c</li></ol>'],
      ['- a\n  - b', '<ul><li>a<ul><li>b</li></ul></li></ul>'],
      ['> quoted', '<blockquote><p>quoted</p></blockquote>'],
      ['a\n\n---\n\nb', '<p>a</p><hr><p>b</p>'],
      ['| a | b |\n|---|---|\n| 1 | 2 |', '<div class="table"><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table></div>'],
      ['', '<p></p>'],
    ];
    for (const [text, wanted] of cases) {
      const given = html(text).replaceAll(/ tabindex="0"/g, '');
      expect(given === wanted, `${JSON.stringify(text)} becomes ${given}`);
    }
    const [block] = markdown('```js\nlet a = "<b>";\n');
    expect(block?.querySelector('code')?.textContent === 'let a = "<b>";\n', 'code that is not complete is another one');
  },

  async 'nothing that a model writes becomes markup, scripts or links of its own'() {
    const attacks = [
      '<img src=x onerror="alert(1)">', '<script>alert(1)</script>', '`<b>`', '**<i>x</i>**', '- <svg onload=alert(1)>',
      '[x](javascript:alert(1))', '[x](data:text/html,<script>alert(1)</script>)', '```html\n<iframe src=//x>\n```', '> <b>x</b>',
      '| <b>x</b> | y |\n|---|---|\n| <u>1</u> | 2 |', '[x](https://a.b/"onclick="alert(1))',
    ];
    const allowed = new Set('P H3 UL OL LI CODE PRE STRONG EM A BLOCKQUOTE HR DIV SPAN BUTTON svg use TABLE THEAD TBODY TR TH TD'.split(' '));
    for (const text of attacks)
      for (const element of markdown(text).flatMap((each) => [each, ...each.querySelectorAll('*')])) {
        expect(allowed.has(element.tagName), `${text} makes a ${element.tagName}`);
        expect(element.getAttributeNames().every((name) => !name.startsWith('on')), `${text} makes a handler`);
        if (element instanceof HTMLAnchorElement) expect(element.protocol === 'https:' && element.rel.includes('noopener'), `${text} makes a link`);
      }
    for (const text of ['> '.repeat(50_000), '- '.repeat(50_000), '*'.repeat(50_000), '[a]('.repeat(20_000)]) markdown(text);
  },

  async 'arrays of NumPy are read and written'() {
    const read = readNpy(savedByNumPy());
    expect(read.dtype === 'int32' && read.shape.join() === '2,3' && read.data.join() === '0,1,2,3,4,5', JSON.stringify(read.shape));
    const bytes = new Uint8Array(await writeNpy(read).arrayBuffer());
    expect(bytes.join() === new Uint8Array(savedByNumPy()).join(), 'NumPy would have written something else');
    for (const dtype of ['bool', 'uint8', 'int8', 'int32', 'int64', 'float16', 'float32', 'float64'] as DType[])
      for (const shape of [[], [3], [1, 3, 1]]) {
        const given = tensor(dtype, shape, shape.length > 0 ? [1, 0, 1] : [1]);
        const again = readNpy(await writeNpy(given).arrayBuffer());
        expect(again.dtype === dtype && again.shape.join() === shape.join() && again.data.join() === given.data.join(), `${dtype} [${shape}]`);
      }
    const refused = (change: (file: Uint8Array) => void): string => {
      const file = savedByNumPy();
      change(new Uint8Array(file));
      try {
        readNpy(file);
      } catch (error) {
        return (error as Error).message;
      }
      return '';
    };
    expect(refused((file) => file.fill(0, 0, 6)).includes('no .npy file'), 'what is no .npy file is read');
    expect(refused((file) => file.set(new TextEncoder().encode('<c8'), 21)).includes("'<c8'"), 'complex numbers are read');
    expect(refused((file) => file.set(new TextEncoder().encode('(2, 9)'), 60)).includes('not complete'), 'a file that is cut is read');
  },

  async 'halves become numbers and numbers halves'() {
    const values = [0, 1, -1.5, 65504, 2 ** -24, 2 ** -14, 1 / 3, Infinity, -Infinity, 65519, 65520, 2049, 2051];
    const wanted = [0, 1, -1.5, 65504, 2 ** -24, 2 ** -14, 0.333251953125, Infinity, -Infinity, 65504, Infinity, 2048, 2052];
    expect(numbers(tensor('float16', [values.length], values)).join() === wanted.join(), 'a number is another one');
    for (let bits = 0; bits < 65536; bits += 1) {
      const [value = NaN] = numbers({ dtype: 'float16', shape: [1], data: Uint16Array.of(bits) });
      const back = Number(tensor('float16', [1], [value]).data[0]);
      expect(back === bits || Number.isNaN(value), `${bits} is ${value}, which is ${back}`);
    }
  },
};
