/**
 * Builds the pages into `dist/pages`: an `index.html` for each, and the files that they load with a hash
 * of their content in the name. Each file is also there compressed, so that the service never has to.
 */

import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

/** @param {string} name */
const page = (name) => fileURLToPath(new URL(`${name}/index.html`, import.meta.url))

/** @type {Record<string, (bytes: Uint8Array) => Uint8Array>} */
const encoders = {
  '.br': (bytes) =>
    brotliCompressSync(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
  '.gz': (bytes) => gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION }),
}

/**
 * Puts a compressed copy beside each file.
 * @type {import('vite').Plugin}
 */
const compress = {
  name: 'compress',
  enforce: 'post',
  generateBundle: {
    order: 'post',
    handler(_options, files) {
      for (const file of Object.values(files)) {
        const bytes = Buffer.from(file.type === 'chunk' ? file.code : file.source)
        for (const [ending, encode] of Object.entries(encoders)) {
          this.emitFile({ type: 'asset', fileName: file.fileName + ending, source: encode(bytes) })
        }
      }
    },
  },
}

/** @type {import('vite').UserConfig} */
export default {
  root: fileURLToPath(new URL('.', import.meta.url)),
  publicDir: false,
  logLevel: 'warn',
  build: {
    outDir: '../dist/pages',
    emptyOutDir: true,
    assetsDir: 'assets',
    assetsInlineLimit: 0, // the Content-Security-Policy allows no data: URLs
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: { docs: page('docs'), items: page('items') },
      // On a busy machine, its advice on slow plugins would be the first thing that `npm run dev` prints.
      checks: { bundlerTimings: false },
    },
  },
  plugins: [compress],
}
