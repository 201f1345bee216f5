/** The Dockerfile: its lines are run in a clean folder, and what comes of them serves. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { serviceAt } from '../../conformance/client.js'
import { buildImage } from '../../support/image.js'
import { ownProcess } from '../../support/own-process.js'
import { freePort } from '../../support/process.js'
import { requireTool, root } from '../../support/tools.js'

const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8')
const folder = mkdtempSync(join(tmpdir(), 'item-store-image-'))
after(() => rmSync(folder, { recursive: true, force: true }))

test('Dockerfile: the linter of the Docker extension finds nothing', () => {
  interface Linter {
    validate(text: string): { message: string; range: { start: { line: number } } }[]
  }
  const { validate }: Linter = requireTool('dockerfile-utils')
  assert.deepEqual(validate(dockerfile), [])
  assert.notDeepEqual(validate(dockerfile.replace('WORKDIR', 'WORKDIT')), [])
})

/** No file may be written, as with a file system that is read-only. */
const writesNothing = [
  process.allowedNodeEnvironmentFlags.has('--permission')
    ? '--permission'
    : '--experimental-permission',
  '--allow-fs-read=*',
  ...(process.allowedNodeEnvironmentFlags.has('--allow-net') ? ['--allow-net'] : []),
]

// The longest of these tests, as it installs and builds everything from nothing, which is what it is about.
test('Dockerfile: built from a clean checkout, it serves without writing a file, as told by its health check', async () => {
  const { cwd, env, user, healthcheck, entrypoint, cmd, ...image } = buildImage(dockerfile, folder)
  const app = join(image.folder, cwd)
  assert.match(user, /^[1-9]\d*(:[1-9]\d*)?$/, 'a number, and not root')
  const present = (name: string) => existsSync(join(app, 'node_modules', name))
  assert.deepEqual([present('pino'), present('rolldown')], [true, false], 'only what runs')
  assert.deepEqual(readdirSync(app).sort(), [
    'LICENSE',
    'dist',
    'docs',
    'node_modules',
    'package.json',
  ])

  const secret = 'a secret of at least thirty-two bytes'
  const port = await freePort()
  const environment = { PATH: process.env.PATH, ...env, JWT_SECRET: secret, PORT: String(port) }
  const [program, ...args] = [...entrypoint, ...cmd]
  assert.equal(program, 'node')
  const own = ownProcess([process.execPath, ...writesNothing, ...args], {
    cwd: app,
    env: environment,
  })
  await own.printed(/"msg":"listening on /)
  const service = serviceAt(new URL(`http://127.0.0.1:${port}/api/v1`), secret)
  const { status } = await service.call('POST', '/items', { data: { a: 1 } })
  assert.equal(status, 201)

  for (const path of ['/docs', '/llms.txt', '/docs/reference/interface.md']) {
    assert.equal((await service.requestTarget('GET', path)).status, 200, path)
  }

  const health = () =>
    spawnSync(process.execPath, healthcheck.slice(1), { cwd: app, env: environment })
  assert.equal(healthcheck[0], 'node')
  assert.equal(health().status, 0)
  own.child.kill('SIGTERM')
  assert.deepEqual(await own.ended(), [0, null])
  assert.equal(health().status, 1)
})
