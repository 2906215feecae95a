// SPDX-License-Identifier: BSD-3-Clause
// The module worker that Pteron starts.
import { LocalHost } from './local.ts';
import { serve, type Port } from './remote.ts';

// A bug must not leave the page waiting: what nobody caught becomes the worker's error.
addEventListener('unhandledrejection', (event) => {
  event.preventDefault();
  reportError(event.reason);
});
serve(globalThis as unknown as Port, new LocalHost());
