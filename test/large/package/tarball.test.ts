/** Tests that the tarball of the package has all files that users need, and no others. */

import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { outputOf } from '../../support/process.js'
import { filesIn, pack } from '../../support/tarball.js'
import { manifest, readText, requireTool, root, toolCommand } from '../../support/tools.js'

const tarball = pack()
const files = filesIn(tarball)

function runTool(tool: string, ...args: string[]): string {
  return outputOf(process.execPath, [toolCommand(tool), ...args], { cwd: root })
}

function importsOf(file: string): string[] {
  const text = readText(file)
  const imports = text.matchAll(/(?:from ?|import ?\(?|require\()["'](\.[^"']+)["']/g)
  const ending = /\.d\.c?ts$/.test(file) ? '.d.$1ts' : '.$1js'
  return [...imports].map(([, path = '']) =>
    posix.join(posix.dirname(file), path.replace(/\.(c?)js$/, ending)),
  )
}

function pathsIn(entry: string | object): string[] {
  return typeof entry === 'string' ? [entry] : Object.values(entry).flatMap(pathsIn)
}

test('the tarball has only the command, the entries with their types, the pages, the documents and deploy/', (t) => {
  t.diagnostic(`${files.length} files, ${Math.round(statSync(tarball).size / 1000)} kB packed`)
  const entries = [manifest.bin, ...Object.values(manifest.exports)]
    .flatMap(pathsIn)
    .map((path) => posix.normalize(path))
  // `item-store conformance` starts these files by their paths.
  const conformance = ['tests', 'spec', 'junit'].map((name) => `dist/conformance-${name}.js`)
  const needed = new Set([...entries, ...conformance])
  for (const file of needed)
    if (/\.c?[jt]s$/.test(file)) for (const other of importsOf(file)) needed.add(other)

  const code = files.filter((file) => /^dist\/(?!pages\/)/.test(file))
  assert.deepEqual(code.sort(), [...needed].filter((file) => file.startsWith('dist/')).sort())
  const others = /^(package\.json|LICENSE|[A-Z]+\.md|docs\/.*|deploy\/.*|bench\/[A-Z]+\.md)$/
  const page =
    /^dist\/pages\/((docs|items)\/(index|alone)\.html|assets\/[\w-]+\.(js|css|svg))(\.br|\.gz)?$/
  for (const file of files) {
    assert.ok(code.includes(file) || others.test(file) || page.test(file), file)
  }
})

test('the tarball has every file of deploy/ that the documents name', () => {
  const documents = files.filter((file) => /^docs\/.*\.md$/.test(file))
  const named = documents.flatMap((file) => readText(file).match(/\bdeploy\/[\w/-]+\.\w+/g) ?? [])
  const missing = [...new Set(named)].filter((file) => !files.includes(file))
  assert.ok(named.length > 10, named.join())
  assert.deepEqual(missing, [])
})

test('the types of the package refer to no other package', () => {
  const types = files.filter((file) => /\.d\.c?ts$/.test(file))
  assert.ok(types.length >= 10)
  for (const file of types) {
    assert.doesNotMatch(readText(file), /(?:from ?|import ?\(?)["'][^.]/, file)
  }
})

test('the tarball has all files of the pages, each also compressed with Brotli and gzip', () => {
  const built = readdirSync(join(root, 'dist/pages'), { recursive: true, encoding: 'utf8' })
  const plain = built.filter((file) => /\.(html|js|css|svg)$/.test(file))
  const expected = plain.flatMap((file) => [file, `${file}.br`, `${file}.gz`])
  const pages = files.flatMap((file) => file.split('dist/pages/')[1] ?? [])
  assert.deepEqual(pages.sort(), expected.sort())
})

interface Esbuild {
  buildSync(options: object): { outputFiles: { contents: Uint8Array }[] }
}

const largest = 5_000 // bytes, as docs/reference/client.md says

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

test('publint finds no problem in the tarball', () => {
  assert.match(runTool('publint', tarball, '--strict'), /All good!/)
})

test('arethetypeswrong finds no problem with ES modules, CommonJS and bundlers', () => {
  runTool('attw', tarball, '--no-color')
})
