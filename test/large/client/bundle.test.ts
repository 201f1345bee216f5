/** Tests the size and imports of the published client. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { readText, requireTool, root } from '../../support/tools.js'

interface Esbuild {
  buildSync(options: object): { outputFiles: { contents: Uint8Array }[] }
}

/** Size limit: 4,560 bytes, plus 370 to tell which requests were never sent, and for responses without a stream. */
const largest = 4_930

test(`the client has less than ${largest} bytes minified and compressed, and imports nothing`, (t) => {
  const { buildSync }: Esbuild = requireTool('esbuild')
  const { outputFiles } = buildSync({
    ...{ entryPoints: ['dist/client.js'], absWorkingDir: root, bundle: true, minify: true },
    ...{ format: 'esm', platform: 'neutral', target: 'es2022', write: false },
  })
  const size = gzipSync(outputFiles[0]?.contents ?? assert.fail()).length
  t.diagnostic(`${size} bytes`)
  assert.ok(size < largest, `${size} bytes`)
  assert.doesNotMatch(readText('dist/client.js'), /^import\b/m)
})
