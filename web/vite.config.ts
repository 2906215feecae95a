// SPDX-License-Identifier: BSD-3-Clause
// Bundles src/ into dist/: pteron.js and the worker that it starts; tools/build_web puts pteron.wasm beside them.
import { defineConfig } from 'vite';

export default defineConfig({
  build: {
    target: 'es2024',
    lib: { entry: { pteron: 'src/index.ts', node: 'src/node.ts', worker: 'src/worker.ts' }, formats: ['es'] },
    rolldownOptions: { output: { chunkFileNames: 'shared.js' } },
    emptyOutDir: false,
    sourcemap: true,
    minify: false,
  },
});
