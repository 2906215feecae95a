// SPDX-License-Identifier: BSD-3-Clause
export type AdapterNames = Pick<GPUAdapterInfo, 'vendor' | 'architecture' | 'device' | 'description'>;

/** What a GPU is called. Deno gives numbers in the place of names, Firefox gives nothing. */
export function adapterName({ vendor, architecture, device, description }: AdapterNames): string {
  const words = [vendor, device || architecture].filter((word) => /\D/.test(word));
  return words.join(' ') || description || 'unnamed GPU';
}
