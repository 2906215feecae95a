// SPDX-License-Identifier: BSD-3-Clause

/** What went wrong, in one word; the same kinds as in C++. */
export type ErrorKind =
  | 'invalid'
  | 'not found'
  | 'unsupported'
  | 'out of memory'
  | 'device lost'
  | 'cancelled'
  | 'internal';

/** Every error of this package. The message is a sentence that says what to do. */
export class PteronError extends Error {
  readonly kind: ErrorKind;

  constructor(kind: ErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'PteronError';
    this.kind = kind;
  }
}
