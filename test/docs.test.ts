/** The docs are true: the README's first session is run, and the tables are those of the code. */

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { settings } from '../src/config.js'
import { errorKinds } from '../src/http/errors.js'

const root = join(dirname(fileURLToPath(import.meta.url)), '../..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const interfaceDocs = readFileSync(join(root, 'docs/interface.md'), 'utf8')
const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

test('README: the first session is answered word for word', async () => {
  const secret = /^export JWT_SECRET=(.*)$/m.exec(readme)?.[1] ?? ''
  const server = spawn(process.execPath, ['dist/src/cli.js', 'serve', '--port', '0'], {
    cwd: root,
    env: { ...process.env, JWT_SECRET: secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const [line] = await once(server.stdout, 'data')
    const { url }: { url: string } = JSON.parse(String(line).split('\n', 1)[0] ?? '')
    const blocks = [...readme.matchAll(/^```sh\n(.*?)^```\n\n```json\n(.*?)^```$/gms)]
    assert.ok(blocks.length >= 7)
    const mark = '-- end of block --'
    const script = blocks.map(([, commands = '']) => `${commands}\necho '${mark}'`).join('\n')
    const { stdout, status } = spawnSync('bash', ['-e'], {
      cwd: root,
      input: script.replaceAll('http://localhost:8000', url).replaceAll('curl ', 'curl -s '),
      encoding: 'utf8',
    })
    assert.equal(status, 0)
    const answers = stdout.split(`${mark}\n`).slice(0, -1)
    const normal = (text: string) => text.replaceAll(uuid, '<uuid>').trim()
    assert.deepEqual(
      answers.map(normal),
      blocks.map(([, , answer = '']) => normal(answer)),
    )
  } finally {
    server.kill()
    await once(server, 'exit')
  }
})

/** The rows of the table with this head. */
function rowsUnder(text: string, head: string): string[] {
  const [, table = ''] = text.split(`${head}\n`)
  return table.split('\n\n', 1).flatMap((rows) => rows.trimEnd().split('\n').slice(1))
}

/** Defaults that depend on the machine. */
const partsOfMemory: Record<string, string> = {
  MAX_STORE_PAGES: '1 for each 2 KiB of heap',
  MAX_CONNECTIONS: '10000',
  MAX_PENDING_BYTES: '1/10 of memory',
  MAX_STORE_BYTES: 'half of memory',
  MAX_MEMORY_BYTES: '9/10 of memory',
}

test('README: the table of settings is the table in the code', () => {
  const expected = Object.values(settings).map(({ name, default: value, meaning }) => {
    return `| \`${name}\` | ${partsOfMemory[name] ?? value ?? 'off'} | ${meaning} |`
  })
  assert.deepEqual(rowsUnder(readme, '| variable | default | meaning |'), expected)
})

test('docs/interface.md: the table of errors is the catalogue in the code', () => {
  const expected = Object.entries(errorKinds).map(([code, { status, when }]) => {
    return `| ${status} | \`${code}\` | ${when} |`
  })
  assert.deepEqual(rowsUnder(interfaceDocs, '| status | `error_code` | when |'), expected)
})

test('docs/dependencies.md names every dependency', () => {
  const manifest: Record<'dependencies' | 'devDependencies', Record<string, string>> = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  )
  const docs = readFileSync(join(root, 'docs/dependencies.md'), 'utf8')
  const named = [...docs.matchAll(/^\| `(.*?)` \|/gm)].map(([, name]) => name)
  const all = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies })
  assert.deepEqual(named.sort(), all.sort())
})
