/**
 * Builds the pages into `dist/pages`: for each an `index.html`, and an `alone.html` without the link to the
 * other page, for services that serve only this one. The files that they load have a hash of their content in the
 * name. Each file is also there compressed, so that the service never has to.
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

/** The line that links a page to the other one. */
const otherPage = /^ *<link rel="(?:related|service-doc)".*\n/m

/**
 * Puts the page without the link to the other one beside each page, and compressed copies beside each file.
 * @type {import('vite').Plugin}
 */
const compress = {
  name: 'compress',
  enforce: 'post',
  generateBundle: {
    order: 'post',
    handler(_options, files) {
      /** @param {string} fileName @param {string | Uint8Array} source */
      const emit = (fileName, source) => this.emitFile({ type: 'asset', fileName, source })
      /** @param {string} fileName @param {string | Uint8Array} source */
      const emitCompressed = (fileName, source) => {
        for (const [ending, encode] of Object.entries(encoders)) {
          emit(fileName + ending, encode(Buffer.from(source)))
        }
      }
      for (const file of Object.values(files)) {
        const source = file.type === 'chunk' ? file.code : file.source
        emitCompressed(file.fileName, source)
        if (!file.fileName.endsWith('.html')) continue
        const alone = file.fileName.replace('index', 'alone')
        const withoutLink = source.toString().replace(otherPage, '')
        emit(alone, withoutLink)
        emitCompressed(alone, withoutLink)
      }
    },
  },
}

/**
 * A file that is loaded later imports what it needs, which has been loaded by then: Vite's helper, which would load that
 * at the same time, is larger than what it could gain.
 * @type {import('vite').Plugin}
 */
const plainImports = {
  name: 'plain-imports',
  enforce: 'pre',
  load: (id) =>
    id === '\0vite/preload-helper.js' ? 'export const __vitePreload = (load) => load()' : null,
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
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'], // from these on, browsers know `light-dark()`
    modulePreload: {
      polyfill: false,
      resolveDependencies: (_url, files, { hostType }) => (hostType === 'html' ? files : []),
    },
    rolldownOptions: {
      input: { docs: page('docs'), items: page('items') },
      // On a busy machine, its advice on slow plugins would be the first thing that `npm run dev` prints.
      checks: { bundlerTimings: false },
    },
  },
  plugins: [plainImports, compress],
}
