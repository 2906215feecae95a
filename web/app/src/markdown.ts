// SPDX-License-Identifier: BSD-3-Clause
// The Markdown that models write, as elements: paragraphs, headings, lists, quotes, code; emphasis, code and links inside.
// Text stays text: nothing a model writes becomes markup of its own.
import { make } from './dom.ts';

type Inline = [RegExp, (match: RegExpExecArray) => Node];

const inline: Inline[] = [
  [/`([^`]+)`/, ([, code = '']) => make('code', {}, code)],
  [/\*\*([^*]+)\*\*/, ([, text = '']) => make('strong', {}, ...spans(text))],
  [/(?<![\w*])\*([^*\s][^*]*)\*(?!\w)/, ([, text = '']) => make('em', {}, ...spans(text))],
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

const heading = /^(#{1,4})\s+(.*)/;
const bullet = /^\s*[-*+]\s+(.*)/;
const numbered = /^\s*\d+[.)]\s+(.*)/;
const quote = /^>\s?(.*)/;
const fence = /^\s*```(\w*)/;

/** Lines from `at` on that match, without what marks them. */
function take(lines: string[], at: number, pattern: RegExp): string[] {
  const out: string[] = [];
  for (let match; at + out.length < lines.length && (match = pattern.exec(lines[at + out.length] ?? '')); ) out.push(match[1] ?? '');
  return out;
}

const isText = (line: string): boolean =>
  line.trim() !== '' && ![heading, bullet, numbered, quote, fence].some((pattern) => pattern.test(line));

export function markdown(text: string): HTMLElement[] {
  const lines = text.split('\n');
  const out: HTMLElement[] = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? '';
    const title = heading.exec(line);
    if (fence.test(line)) {
      const rest = lines.slice(at + 1);
      const end = rest.findIndex((entry) => fence.test(entry));
      const code = end < 0 ? rest : rest.slice(0, end);
      out.push(make('pre', { tabIndex: 0 }, make('code', {}, code.join('\n'))));
      at += code.length + 2;
    } else if (title) {
      out.push(make('h3', {}, ...spans(title[2] ?? '')));
      at += 1;
    } else if (bullet.test(line) || numbered.test(line)) {
      const ordered = numbered.test(line) && !bullet.test(line);
      const items = take(lines, at, ordered ? numbered : bullet);
      out.push(make(ordered ? 'ol' : 'ul', {}, ...items.map((item) => make('li', {}, ...spans(item)))));
      at += items.length;
    } else if (quote.test(line)) {
      const quoted = take(lines, at, quote);
      out.push(make('blockquote', {}, ...markdown(quoted.join('\n'))));
      at += quoted.length;
    } else if (line.trim() === '') {
      at += 1;
    } else {
      let end = at + 1;
      while (end < lines.length && isText(lines[end] ?? '')) end += 1;
      out.push(make('p', {}, ...spans(lines.slice(at, end).join('\n'))));
      at = end;
    }
  }
  return out.length > 0 ? out : [make('p')];
}
