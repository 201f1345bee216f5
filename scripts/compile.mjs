/**
 * Compiles TypeScript into `build`, and bundles the published files into `dist`. The command is bundled because one
 * file loads faster than many. The client is one file without imports, so that pages can load it directly.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { build } from 'rolldown'
import { root } from './ready.mjs'

const entries = {
  client: 'src/client/client.ts',
  index: 'src/index.ts',
  models: 'src/interface/models.ts',
}

/** Modules that the service loads at its start. They go into one file, although others that come later share some. */
const serviceFiles =
  /^src.(?:service|listener|item|http.(?!mcp|metrics)|memory.(?!shares)|store.(?!redis))/
const service = {
  name: 'service',
  /** @param {string} id */
  test: (id) => serviceFiles.test(relative(root, id)),
  includeDependenciesRecursively: false,
}

/** Matches a relative import in a file with types. */
const imported = /((?:from |import ?\(?)["'])(\..+?)\.js(?=["'])/g

const viteOptions = ['build', '--config=pages/vite.config.mjs', '--configLoader=native']

// Vite and Rolldown cut paths off at these characters, and would silently leave out parts of the pages.
if (/[#?]/.test(root)) {
  process.stderr.write(`item-store: cannot build in ${root}; move it to a path without # and ?\n`)
  process.exit(1)
}

process.chdir(root)
for (const folder of ['build', 'dist']) rmSync(folder, { recursive: true, force: true })
await Promise.all([
  tool('typescript/bin/tsc').then(copyAllTypes),
  tool('typescript/bin/tsc', '--project', 'pages'),
  bundle(),
  ...['docs', 'items'].map((page) => tool('vite/bin/vite.js', ...viteOptions, `--mode=${page}`)),
])

/** @param {string} path @param {string[]} args */
async function tool(path, ...args) {
  const child = spawn(process.execPath, [join('node_modules', path), ...args], {
    stdio: ['ignore', 2, 2], // standard output belongs to the program that `npm start` runs
  })
  const [code] = await once(child, 'exit')
  if (code !== 0) process.exit(code ?? 1)
}

async function bundle() {
  /** @type {import('rolldown').BuildOptions} */
  const common = {
    external: /^[^./]/,
    logLevel: 'warn',
    platform: 'node',
    output: {
      dir: 'dist',
      format: 'esm',
      chunkFileNames: '[name].js',
      sourcemap: process.env.NODE_V8_COVERAGE === undefined ? false : 'inline',
    },
  }
  const { client, ...others } = entries
  await build([
    { ...common, input: { client }, platform: 'neutral' },
    {
      ...common,
      output: { ...common.output, codeSplitting: { groups: [service] } },
      preserveEntrySignatures: 'allow-extension',
      input: { cli: 'src/commands/cli.ts', ...others },
      plugins: [
        {
          name: 'client',
          resolveId: (source) =>
            source.endsWith('/client/client.js')
              ? { id: './client.js', external: true }
              : undefined,
        },
      ],
    },
    {
      ...common,
      input: {
        'conformance-tests': 'test/conformance/main.ts',
        'conformance-spec': 'test/conformance/spec.ts',
        'conformance-junit': 'test/conformance/junit.ts',
      },
    },
  ])
  for (const name of Object.keys(entries)) {
    writeFileSync(`dist/${name}.cjs`, `module.exports = require('./${name}.js')\n`)
  }
}

/** Writes the types twice: TypeScript reads a `.d.ts` of this package as an ES module, a `.d.cts` as CommonJS. */
function copyAllTypes() {
  const files = new Set(Object.values(entries).map((path) => path.replace(/ts$/, 'd.ts')))
  for (const file of files) {
    const text = readFileSync(join('build', file), 'utf8')
    const copy = join('dist/types', relative('src', file))
    mkdirSync(dirname(copy), { recursive: true })
    writeFileSync(copy, text)
    writeFileSync(copy.replace(/ts$/, 'cts'), text.replaceAll(imported, '$1$2.cjs'))
    for (const [, , path] of text.matchAll(imported)) {
      files.add(join(dirname(file), `${path}.d.ts`))
    }
  }
}
