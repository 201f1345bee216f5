/** Tests of the size and imports of the bundled client. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { requireTool, root } from '../../support/tools.js'

interface Esbuild {
  buildSync(options: object): {
    outputFiles: { contents: Uint8Array }[]
    metafile: {
      inputs: Record<string, { imports: { path: string }[] }>
      outputs: Record<string, { imports: unknown[] }>
    }
  }
}

/** Size limit: 4,500 bytes, plus 40 for listing a project's items and 20 for `request`. */
const largest = 4_560

const { buildSync }: Esbuild = requireTool('esbuild')

function bundle(file: string) {
  const { outputFiles, metafile } = buildSync({
    ...{ entryPoints: [file], absWorkingDir: root, bundle: true, minify: true, format: 'esm' },
    ...{ platform: 'neutral', target: 'es2022', write: false, metafile: true },
  })
  const [output] = outputFiles
  assert.ok(output)
  return {
    size: gzipSync(output.contents).length,
    inputs: Object.keys(metafile.inputs),
    imports: Object.values(metafile.outputs).flatMap(({ imports }) => imports),
  }
}

test(`the client has less than ${largest} bytes minified and compressed, and only its own files`, (t) => {
  const { size, inputs, imports } = bundle(join(root, 'src/client/client.ts'))
  t.diagnostic(`${size} bytes`)
  assert.ok(size < largest, `${size} bytes`)
  for (const file of inputs) assert.match(file, /^src\/client\//)
  assert.deepEqual(imports, [])
})

test('the published client is one file that imports nothing', () => {
  const { inputs, imports } = bundle(join(root, 'dist/client.js'))
  assert.deepEqual([inputs, imports], [['dist/client.js'], []])
})
