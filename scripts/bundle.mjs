/**
 * Bundles the command and what other programs import into `dist`, the files that are published: opening
 * and compiling a file for each module takes longer than everything else that the service does when it
 * starts (bench/CHOICES.md). Packages stay outside; they are installed along with this one. The client is
 * one file that imports nothing, so that a page can load it as it is; the library imports that file.
 */

import { cpSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build } from 'rolldown'

/** What other programs import: the name in `dist`, and the source without its ending. */
const entries = { client: 'client/client', index: 'index', models: 'interface/models' }

const common = { external: /^[^./]/, logLevel: 'warn' }
const output = { dir: 'dist', format: 'esm', chunkFileNames: '[name].js' }
const { client, ...others } = Object.fromEntries(
  Object.entries(entries).map(([name, path]) => [name, `src/${path}.ts`]),
)

await build({ ...common, input: { client }, platform: 'neutral', output })
await build({
  ...common,
  input: { cli: 'src/cli.ts', ...others },
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
