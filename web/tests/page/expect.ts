// SPDX-License-Identifier: BSD-3-Clause
// What the tests that run in the page share.
import { PteronError } from '../../src/index.ts';

export function expect(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(message);
}

export async function expectError(kind: string, words: string, doing: () => unknown): Promise<void> {
  try {
    await doing();
  } catch (error) {
    expect(error instanceof PteronError, `threw ${error} instead of a PteronError`);
    expect(error.kind === kind && error.message.includes(words), `threw ${error.kind}: ${error.message}`);
    return;
  }
  throw new Error(`nothing was thrown; expected ${kind}: …${words}…`);
}
