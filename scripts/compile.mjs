/**
 * Compiles TypeScript into `build`, and bundles the published files into `dist`. The bundle of the
 * command starts faster than many files. Pages load the client, which is one file without imports.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build } from 'rolldown'
import { root } from './ready.mjs'

/** Modules that other programs import, with their source paths. */
const entries = { client: 'client/client', index: 'index', models: 'interface/models' }

process.chdir(root)
for (const folder of ['build', 'dist']) rmSync(folder, { recursive: true, force: true })
await Promise.all([
  tool('typescript/bin/tsc').then(copyAllTypes),
  tool('typescript/bin/tsc', '--project', 'pages'),
  bundle(),
  tool(
    'vite/bin/vite.js',
    'build',
    '--config',
    'pages/vite.config.mjs',
    '--configLoader',
    'native',
  ),
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
  /** @type {import('rolldown').InputOptions} */
  const common = { external: /^[^./]/, logLevel: 'warn' }
  /** @type {import('rolldown').OutputOptions} */
  const output = {
    dir: 'dist',
    format: 'esm',
    chunkFileNames: '[name].js',
    sourcemap: process.env.NODE_V8_COVERAGE === undefined ? false : 'inline',
  }
  const { client, ...others } = Object.fromEntries(
    Object.entries(entries).map(([name, path]) => [name, `src/${path}.ts`]),
  )
  await build({ ...common, input: { client: String(client) }, platform: 'neutral', output })
  await build({
    ...common,
    input: { cli: 'src/commands/cli.ts', ...others },
    platform: 'node',
    plugins: [
      {
        name: 'client',
        resolveId: (source) =>
          source.endsWith('/client/client.js') ? { id: './client.js', external: true } : undefined,
      },
    ],
    output,
  })
  await build({
    input: {
      'conformance-tests': 'test/conformance/main.ts',
      'conformance-spec': 'test/conformance/spec.ts',
      'conformance-junit': 'test/conformance/junit.ts',
    },
    ...common,
    platform: 'node',
    output,
  })
}

function copyAllTypes() {
  const files = new Set(Object.values(entries).map((path) => `${path}.d.ts`))
  for (const file of files) {
    const source = join('build/src', file)
    cpSync(source, join('dist/types', file))
    const text = readFileSync(source, 'utf8')
    for (const [, path] of text.matchAll(/(?:from |import ?\(?)["'](\..+?)\.js["']/g)) {
      files.add(join(dirname(file), `${path}.d.ts`))
    }
  }
}
