// SPDX-License-Identifier: BSD-3-Clause
// Bundles src/ into dist/pteron.js; tools/build_web puts pteron.wasm beside it.
import { defineConfig } from 'vite';

export default defineConfig({
  build: {
    target: 'es2024',
    lib: { entry: 'src/index.ts', formats: ['es'], fileName: 'pteron' },
    emptyOutDir: false,
    sourcemap: true,
    minify: false,
  },
});
