// SPDX-License-Identifier: BSD-3-Clause
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const web = join(import.meta.dirname, '..');

/** The blocks of code in the package's README.md and in the one at the root. */
export function readmeCode(kind: string): string[] {
  const pages = [join(web, 'README.md'), join(web, '..', 'README.md')].map((path) => readFileSync(path, 'utf8'));
  return pages.flatMap((page) => [...page.matchAll(new RegExp(`\`\`\`${kind}\n(.*?)\`\`\``, 'gs'))].map(([, code = '']) => code));
}
