// SPDX-License-Identifier: BSD-3-Clause
// Builds the page into dist/app, with the list of its files for the service worker.
import { defineConfig, type Plugin } from 'vite';

const listFiles: Plugin = {
  name: 'list-files',
  generateBundle(_, bundle) {
    const files = ['./', 'pteron.wasm', 'pteron_language.wasm', 'models/models.json', ...Object.keys(bundle).filter((file) => file !== 'sw.js')];
    this.emitFile({ type: 'asset', fileName: 'files.json', source: JSON.stringify(files) });
  },
};

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  worker: { format: 'es' },
  plugins: [listFiles],
  build: {
    target: 'es2024',
    outDir: '../dist/app',
    emptyOutDir: true,
    rolldownOptions: {
      input: { page: 'index.html', sw: 'src/sw.ts' },
      output: { entryFileNames: ({ name }) => (name === 'sw' ? 'sw.js' : 'assets/[name]-[hash].js') },
    },
  },
});
