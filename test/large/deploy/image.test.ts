/** The Dockerfile: its lines are run in a clean folder, and what comes of them serves. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, test } from 'node:test'
import { serviceAt } from '../../conformance/client.js'
import { assertServesWithoutSecret } from '../../support/missing-secret.js'
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

test('Dockerfile: built from a clean checkout, it serves without writing a file, as told by its health check', async () => {
  const { cwd, env, user, healthcheck, entrypoint, cmd, ...image } = buildImage(dockerfile, folder)
  const app = join(image.folder, cwd)
  assert.match(user, /^[1-9]\d*(:[1-9]\d*)?$/, 'a number, and not root')
  const present = (name: string) => existsSync(join(app, 'node_modules', name))
  assert.deepEqual([present('pino'), present('rolldown')], [true, false], 'only what runs')
  assert.deepEqual(readdirSync(app).sort(), [
    'LICENSE',
    'SECURITY.md',
    'dist',
    'docs',
    'node_modules',
    'package.json',
  ])

  const secret = 'a secret of at least thirty-two bytes'
  const port = await freePort()
  const without = { PATH: process.env.PATH, ...env, PORT: String(port) }
  const environment = { ...without, JWT_SECRET: secret }
  const [program, ...args] = [...entrypoint, ...cmd]
  assert.equal(program, 'node')
  const run = (env: NodeJS.ProcessEnv) =>
    ownProcess([process.execPath, ...writesNothing, ...args], { cwd: app, env })
  await assertServesWithoutSecret(run(without))
  const own = run(environment)
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

/** A stage as far as it is built. Paths in the image are below `folder`. */
interface Stage {
  readonly folder: string
  /** `WORKDIR`, a path in the image. */
  cwd: string
  readonly env: Record<string, string>
  user: string
  healthcheck: string[]
  entrypoint: string[]
  cmd: string[]
}

/**
 * Builds an image without a container engine: runs every instruction of a Dockerfile in folders. Its context is a
 * clean checkout without what .dockerignore names. It supports only what this project's Dockerfile needs; anything else is an error.
 * @param into an empty folder.
 * @returns the last stage.
 */
function buildImage(dockerfile: string, into: string): Stage {
  const context = join(into, 'context')
  copyContext(context)
  const stages = new Map<string, Stage>()
  let stage: Stage | undefined
  for (const { keyword, text } of instructions(dockerfile)) {
    if (keyword === 'FROM') {
      const [, name = 'final'] = / AS (\S+)$/.exec(text) ?? []
      const folder = join(into, name)
      mkdirSync(folder)
      stage = { folder, cwd: '/', env: {}, user: 'root', healthcheck: [], entrypoint: [], cmd: [] }
      stages.set(name, stage)
      continue
    }
    assert.ok(stage !== undefined, `${keyword} before FROM`)
    const from = (name: string | undefined) =>
      name === undefined ? context : (stages.get(name)?.folder ?? assert.fail(`no stage ${name}`))
    apply(stage, keyword, text, from)
  }
  assert.ok(stage !== undefined, 'no FROM')
  return stage
}

function apply(
  stage: Stage,
  keyword: string,
  text: string,
  from: (name: string | undefined) => string,
): void {
  const folder = join(stage.folder, stage.cwd)
  switch (keyword) {
    case 'WORKDIR':
      stage.cwd = text
      mkdirSync(join(stage.folder, text), { recursive: true })
      break
    case 'ENV':
      for (const [, name = '', value = ''] of text.matchAll(/(\w+)=(\S+)/g)) stage.env[name] = value
      break
    case 'COPY': {
      const [, name, paths = ''] = /^(?:--from=(\S+) )?(.*)$/.exec(text) ?? []
      const [target = '', ...sources] = paths.split(' ').reverse()
      for (const source of sources) copy(join(from(name), source), join(folder, target))
      break
    }
    case 'RUN':
      run(text, folder, stage.env)
      break
    case 'USER':
      stage.user = text
      break
    case 'HEALTHCHECK':
      stage.healthcheck = JSON.parse(text.replace(/^.*? CMD /, ''))
      break
    case 'ENTRYPOINT':
      stage.entrypoint = JSON.parse(text)
      break
    case 'CMD':
      stage.cmd = JSON.parse(text)
      break
    case 'EXPOSE':
      break
    default:
      assert.fail(`no idea how to run ${keyword} ${text}`)
  }
}

/** Copies the content of a folder, or a file under its own name, into the target. */
function copy(source: string, target: string): void {
  const to = statSync(source).isDirectory() ? target : join(target, basename(source))
  cpSync(source, to, { recursive: true, verbatimSymlinks: true })
}

function run(command: string, cwd: string, env: Readonly<Record<string, string>>): void {
  // npm sets it to the folder of the outer project, and would take that for the one in the image.
  const { npm_config_local_prefix, NODE_TEST_CONTEXT, ...inherited } = process.env
  const { status, stdout, stderr } = spawnSync('sh', ['-ec', command], {
    cwd,
    env: { ...inherited, ...env },
    encoding: 'utf8',
    timeout: 120_000,
  })
  assert.equal(status, 0, `RUN ${command} ended with ${status}:\n${stdout}\n${stderr}`)
}

/** Without comments; lines that end with a backslash are joined. */
function instructions(dockerfile: string): { keyword: string; text: string }[] {
  return dockerfile
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\s*\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [keyword = '', ...rest] = line.trim().split(/\s+/)
      return { keyword, text: rest.join(' ') }
    })
}

/** The files of a fresh clone, with uncommitted changes. */
function copyContext(target: string): void {
  const lines = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n')
  // The patterns are like those of Git, but all begin at the root.
  const patterns = lines.filter((line) => /^[^#]/.test(line)).map((line) => `--exclude=/${line}`)
  const filesOf = (...options: string[]) => {
    const args = ['ls-files', '-z', ...options, ...patterns]
    return spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout.split('\0').slice(0, -1)
  }
  const ignored = new Set(filesOf('--cached', '--ignored'))
  const files = filesOf('--cached', '--others', '--exclude-standard').filter(
    (file) => !ignored.has(file) && existsSync(join(root, file)),
  )
  assert.ok(files.length > 0, 'this is no clone of the repository')
  for (const file of files) cpSync(join(root, file), join(target, file))
}
