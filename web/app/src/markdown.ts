// SPDX-License-Identifier: BSD-3-Clause
// The Markdown that models write, as elements: paragraphs, headings, lists, quotes, tables, code; emphasis, code and links
// inside. Text stays text: nothing a model writes becomes markup of its own.
import { copyButton, make } from './dom.ts';

type Inline = [RegExp, (match: RegExpExecArray) => Node];

const inline: Inline[] = [
  [/`([^`]+)`/, ([, code = '']) => make('code', {}, code)],
  [/\*\*([^*]+)\*\*/, ([, text = '']) => make('strong', {}, ...spans(text))],
  [/(?<![\w*])\*([^*\s][^*]*)\*(?!\w)/, ([, text = '']) => make('em', {}, ...spans(text))],
  [/(?<![\w_])_([^_\s][^_]*)_(?!\w)/, ([, text = '']) => make('em', {}, ...spans(text))],
  [/\[([^\]]+)\]\((https?:[^)\s]+)\)/, ([, text = '', href = '']) =>
    make('a', { href, target: '_blank', rel: 'noopener noreferrer' }, text)],
];

function spans(text: string): Node[] {
  let best: { match: RegExpExecArray; render: Inline[1] } | undefined;
  for (const [pattern, render] of inline) {
    const match = pattern.exec(text);
    if (match && (!best || match.index < best.match.index)) best = { match, render };
  }
  if (!best) return [document.createTextNode(text)];
  const { match, render } = best;
  return [
    document.createTextNode(text.slice(0, match.index)),
    render(match),
    ...spans(text.slice(match.index + match[0].length)),
  ];
}

/** Makes elements of the lines from `at` on; says how many it took. Nothing if they are something else. */
type Block = (lines: string[], at: number, depth: number) => { element: HTMLElement; taken: number } | undefined;

const deepest = 12; // what is nested deeper is shown as it was written

/** How many lines from `at` on match. */
function run(lines: string[], at: number, matches: (line: string) => boolean): number {
  const end = lines.findIndex((line, i) => i >= at && !matches(line));
  return (end < 0 ? lines.length : end) - at;
}

const fence = /^\s*```\s*([\w+#-]*)/;
const item = /^(\s*)([-*+]|(\d{1,6})[.)])\s+(.*)/;
const heading = /^#{1,6}\s+(.*)/;
const quote = /^>\s?(.*)/;
const rule = /^\s*([-*_])(\s*\1){2,}\s*$/;
const tableRow = /^\s*\|.*\|\s*$/;
const tableRule = /^\s*\|[\s:|-]+\|\s*$/;

const code: Block = (lines, at) => {
  const language = fence.exec(lines[at] ?? '')?.[1];
  if (language === undefined) return undefined;
  const count = run(lines, at + 1, (line) => !fence.test(line));
  const text = lines.slice(at + 1, at + 1 + count).join('\n');
  const bar = make('div', { className: 'bar' }, make('span', {}, language || 'code'), copyButton(text, console.warn));
  return { element: make('div', { className: 'code' }, bar, make('pre', { tabIndex: 0 }, make('code', {}, text))), taken: count + 2 };
};

/** Items with what is indented below them, which may be a list again. Blank lines between items do not end it. */
const list: Block = (lines, at, depth) => {
  const [, indent = '', mark = '', number] = item.exec(lines[at] ?? '') ?? [];
  if (!mark) return undefined;
  const items: string[][] = [];
  let end = at;
  for (; end < lines.length; end += 1) {
    const line = lines[end] ?? '';
    const match = item.exec(line);
    if (match && match[1]?.length === indent.length && (match[3] === undefined) === (number === undefined)) items.push([match[4] ?? '']);
    else if (line.startsWith(`${indent}  `)) items.at(-1)?.push(line.slice(indent.length + 2));
    else if (line.trim() !== '' || !/^\s*([-*+]|\d{1,6}[.)])\s|^ {2}/.test(lines[end + 1] ?? '')) break;
  }
  const elements = items.map(([first = '', ...rest]) => make('li', {}, ...spans(first), ...(rest.length > 0 ? markdown(rest.join('\n'), depth + 1) : [])));
  const element = number === undefined ? make('ul', {}, ...elements) : make('ol', { start: Number(number) }, ...elements);
  return { element, taken: end - at };
};

const table: Block = (lines, at) => {
  if (!tableRow.test(lines[at] ?? '') || !tableRule.test(lines[at + 1] ?? '')) return undefined;
  const count = run(lines, at, (line) => tableRow.test(line));
  const cells = (line: string): string[] => line.trim().slice(1, -1).split('|').map((cell) => cell.trim());
  const row = (line: string, kind: 'th' | 'td'): HTMLElement => make('tr', {}, ...cells(line).map((cell) => make(kind, {}, ...spans(cell))));
  const rows = lines.slice(at + 2, at + count).map((line) => row(line, 'td'));
  const element = make('table', {}, make('thead', {}, row(lines[at] ?? '', 'th')), make('tbody', {}, ...rows));
  return { element: make('div', { className: 'table' }, element), taken: count };
};

const quoted: Block = (lines, at, depth) => {
  const count = run(lines, at, (line) => quote.test(line));
  if (count === 0) return undefined;
  const text = lines.slice(at, at + count).map((line) => quote.exec(line)?.[1] ?? '');
  return { element: make('blockquote', {}, ...markdown(text.join('\n'), depth + 1)), taken: count };
};

const single: Block = (lines, at) => {
  const title = heading.exec(lines[at] ?? '')?.[1];
  if (title !== undefined) return { element: make('h3', {}, ...spans(title)), taken: 1 };
  return rule.test(lines[at] ?? '') ? { element: make('hr'), taken: 1 } : undefined;
};

const special = [fence, item, heading, quote, rule];
const isText = (line: string): boolean => line.trim() !== '' && !special.some((pattern) => pattern.test(line));

const paragraph: Block = (lines, at) => {
  const count = Math.max(1, run(lines, at, isText));
  return { element: make('p', {}, ...spans(lines.slice(at, at + count).join('\n'))), taken: count };
};

const blocks: Block[] = [code, single, list, quoted, table, paragraph];

export function markdown(text: string, depth = 0): HTMLElement[] {
  if (depth > deepest) return [make('p', {}, text)];
  const lines = text.split('\n');
  const out: HTMLElement[] = [];
  for (let at = 0; at < lines.length; ) {
    if ((lines[at] ?? '').trim() === '') {
      at += 1;
      continue;
    }
    for (const block of blocks) {
      const made = block(lines, at, depth);
      if (!made) continue;
      out.push(made.element);
      at += made.taken;
      break;
    }
  }
  return out.length > 0 ? out : [make('p')];
}
