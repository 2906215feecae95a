// SPDX-License-Identifier: BSD-3-Clause
// The module worker that Pteron starts.
import { LocalHost } from './local.ts';
import { serve, type Port } from './remote.ts';

serve(globalThis as unknown as Port, new LocalHost());
