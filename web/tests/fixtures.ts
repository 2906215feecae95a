// SPDX-License-Identifier: BSD-3-Clause
// The folders of real programs with goldens, and what their results come to.
import { existsSync, globSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const shared = process.env['PTERON_SHARED_FIXTURES'] ?? join(root, '..', 'shared', 'fixtures');
const roots = [join(root, 'tests', 'data', 'ops'), join(shared, 'ops')].filter((folder) => existsSync(folder));

/** For `serve`. */
export const fixtureFolders = Object.fromEntries(roots.map((folder, i) => [`fixtures${i}`, folder]));

/** Where a server with those folders has the fixtures, of which the path contains `only`. */
export function fixtureUrls(only: string): string[] {
  return Object.entries(fixtureFolders)
    .flatMap(([name, folder]) => globSync('**/manifest.json', { cwd: folder }).sort().map((path) => `/${name}/${dirname(path)}`))
    .filter((url) => url.includes(only));
}

/** A line for all of them, and what went wrong. */
export function summarise(results: Record<string, string>): { title: string; problem: string } {
  const all = Object.entries(results);
  const count = (what: string): number => all.filter(([, result]) => result === what).length;
  const problems = all.filter(([, result]) => result !== 'passed' && result !== 'missing');
  return {
    title: `fixtures: ${count('passed')} pass, ${problems.length} fail, ${count('missing')} need ops that are missing`,
    problem: problems.map(([url, problem]) => `${url}: ${problem}`).join('\n     '),
  };
}
