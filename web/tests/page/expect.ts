// SPDX-License-Identifier: BSD-3-Clause
// What the tests that run in the page share.
import type { PteronError } from '../../src/index.ts';

export function expect(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(message);
}

export async function expectError(kind: string, words: string, doing: () => unknown): Promise<void> {
  try {
    await doing();
  } catch (error) {
    const { name, kind: actual, message } = error as PteronError; // of the build that is tested, whichever it is
    expect(name === 'PteronError', `threw ${error} instead of a PteronError`);
    expect(actual === kind && message.includes(words), `threw ${actual}: ${message}`);
    return;
  }
  throw new Error(`nothing was thrown; expected ${kind}: …${words}…`);
}
