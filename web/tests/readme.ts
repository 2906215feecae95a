// SPDX-License-Identifier: BSD-3-Clause
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const web = join(import.meta.dirname, '..');
const root = join(web, '..', 'README.md');

/** The blocks of code in the package's README.md and in the one at the root. */
export function readmeCode(kind: string): string[] {
  const pages = [join(web, 'README.md'), root].map((path) => readFileSync(path, 'utf8'));
  return pages.flatMap((page) => [...page.matchAll(new RegExp(`\`\`\`${kind}\n(.*?)\`\`\``, 'gs'))].map(([, code = '']) => code));
}

/** The lines that are typed, of a section of the README at the root, each with what is said behind it. */
export function readmeLines(title: string): { line: string; about: string }[] {
  const [, section = ''] = readFileSync(root, 'utf8').split(`\n## ${title}\n`);
  const lines = section.split('\n## ')[0]?.match(/^ {4}\S.*$/gm) ?? [];
  return lines.map((text) => {
    const [line = '', about = ''] = text.trim().split(/\s+# /);
    return { line, about };
  });
}
