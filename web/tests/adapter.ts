// SPDX-License-Identifier: BSD-3-Clause
export type AdapterNames = Pick<GPUAdapterInfo, 'vendor' | 'architecture' | 'device'>;

/** What tools/keep_results.py looks for in what a test says: on which GPU it ran. */
export function adapterLine({ vendor, architecture, device }: AdapterNames): string {
  return `adapter: ${[vendor, device || architecture].filter(Boolean).join(' ') || 'one without a name'}`;
}
