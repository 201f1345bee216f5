/**
 * Builds the page that `--mode` names into `dist/pages`, with compressed copies, so that the service never compresses
 * files. Each page has one script for its first view, which is smaller than a script for both pages plus one per page.
 */

import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

/** @type {[string, (bytes: Uint8Array) => Uint8Array][]} */
const encoders = [
  ['.br', (bytes) => brotliCompressSync(bytes)], // the default Brotli quality is the maximum
  ['.gz', (bytes) => gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION })],
]

const otherPage = /^ *<link rel="(?:related|service-doc)".*\n/m

/**
 * Adds compressed copies of all files. Each HTML file also gets a variant without the link to the other page.
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
      /** @param {string} name @param {string | Uint8Array} source */
      const emitCompressed = (name, source) => {
        for (const [ending, encode] of encoders) emit(name + ending, encode(Buffer.from(source)))
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

/** @type {import('vite').UserConfigFnObject} */
export default ({ mode }) => ({
  root: fileURLToPath(new URL('.', import.meta.url)),
  publicDir: false,
  logLevel: 'warn',
  // Pages have relative URLs, because a proxy may add a prefix to their paths.
  experimental: {
    renderBuiltUrl: (file, { hostType }) => (hostType === 'html' ? file : { relative: true }),
  },
  build: {
    outDir: '../dist/pages',
    emptyOutDir: false, // this folder also contains the other page
    assetsDir: 'assets',
    assetsInlineLimit: 0, // the Content-Security-Policy of the pages forbids `data:` URLs
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'], // the first browser versions that support `light-dark()`
    modulePreload: {
      polyfill: false,
      resolveDependencies: (_url, files, { hostType }) => (hostType === 'html' ? files : []),
    },
    rolldownOptions: {
      input: { [mode]: fileURLToPath(new URL(`${mode}/index.html`, import.meta.url)) },
      optimization: { inlineConst: true },
      // Otherwise, on a busy machine, the first output of `npm run dev` would be Rolldown's advice on slow plugins.
      checks: { bundlerTimings: false },
    },
  },
  // Calls to `createElement` are shorter than calls to `jsx`, which would also make each page load another module.
  oxc: {
    jsx: { runtime: 'classic', pragma: 'createElement', pragmaFrag: 'Fragment' },
    jsxInject: "import { createElement, Fragment } from 'preact'",
  },
  plugins: [compress],
})
