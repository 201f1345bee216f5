/**
 * Bundles the command and what other programs import into `dist`, the files that are published: opening
 * and compiling a file for each module takes longer than everything else that the service does when it
 * starts (bench/CHOICES.md). Packages stay outside; they are installed along with this one.
 */

import { cpSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build } from 'rolldown'

/** What other programs import: the name in `dist`, and the source without its ending. */
const entries = { index: 'app', models: 'interface/models' }

const sources = Object.entries(entries).map(([name, path]) => [name, `src/${path}.ts`])
await build({
  input: { cli: 'src/cli.ts', ...Object.fromEntries(sources) },
  platform: 'node',
  external: /^[^./]/,
  output: { dir: 'dist', format: 'esm', chunkFileNames: '[name].js' },
  logLevel: 'warn',
})

const copied = new Set()
for (const path of Object.values(entries)) copyTypes(`${path}.d.ts`)

/** Copies the types of a module, as the compiler has written them, and those that they refer to. */
function copyTypes(file) {
  if (copied.has(file)) return
  copied.add(file)
  const source = join('build/src', file)
  cpSync(source, join('dist/types', file))
  const references = readFileSync(source, 'utf8').matchAll(/(?:from |import\()["'](\..+?)\.js["']/g)
  for (const [, path] of references) copyTypes(join(dirname(file), `${path}.d.ts`))
}
