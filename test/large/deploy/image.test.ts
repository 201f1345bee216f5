/** Runs the instructions of the Dockerfile in a clean folder, and starts the resulting service. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { after, test } from 'node:test'
import { serviceAt } from '../../conformance/client.js'
import { create } from '../../conformance/expect.js'
import { freePort, outputOf, ownProcess } from '../../support/process.js'
import { cleanEnvironment, emptyFolder, readText, requireTool, root } from '../../support/tools.js'

const dockerfile = readText('Dockerfile')
const folder = emptyFolder()
after(() => rmSync(folder, { recursive: true, force: true }))

test('Dockerfile: the linter of the Docker extension finds no problem', () => {
  const { validate }: { validate(text: string): object[] } = requireTool('dockerfile-utils')
  assert.deepEqual(validate(dockerfile), [])
})

/** Node.js options that forbid writing files, to simulate a read-only file system. */
const known = process.allowedNodeEnvironmentFlags
const writesNothing = [
  known.has('--permission') ? '--permission' : '--experimental-permission',
  ...['--allow-fs-read=*', '--allow-net'].filter((flag) => known.has(flag.replace('=*', ''))),
]

test('Dockerfile: built from a clean checkout, the service runs without writing files, with a health check', async () => {
  const { app, env } = buildImage()
  assert.match(dockerfile, /^USER [1-9]\d*(:[1-9]\d*)?$/m, 'USER is a number, not root')
  const present = (name: string) => existsSync(join(app, 'node_modules', name))
  assert.deepEqual([present('pino'), present('rolldown')], [true, false], 'no dev packages')
  const names = ['LICENSE', 'SECURITY.md', 'dist', 'docs', 'node_modules', 'package.json']
  assert.deepEqual(readdirSync(app).sort(), names)

  const secret = 'a secret of at least thirty-two bytes'
  const port = await freePort()
  const environment = { PATH: process.env.PATH, ...env, PORT: String(port), JWT_SECRET: secret }
  const [node, ...args] = [...argumentsOf('ENTRYPOINT'), ...argumentsOf('CMD')]
  const [checker, ...healthcheck] = argumentsOf('HEALTHCHECK')
  assert.deepEqual([node, checker], ['node', 'node'])
  const command = [process.execPath, ...writesNothing, ...args] as const
  const own = ownProcess(command, { cwd: app, env: environment })
  await own.printed(/"msg":"listening on /)
  const service = serviceAt(new URL(`http://127.0.0.1:${port}/api/v1`), secret)
  await create(service, { a: 1 })
  for (const path of ['/docs', '/llms.txt', '/docs/reference/interface.md']) {
    assert.equal((await service.requestTarget('GET', path)).status, 200, path)
  }

  const health = () => spawnSync(process.execPath, healthcheck, { cwd: app, env: environment })
  assert.equal(health().status, 0)
  own.child.kill('SIGTERM')
  assert.deepEqual(await own.ended(), [0, null])
  assert.equal(health().status, 1)
})

function argumentsOf(keyword: string): string[] {
  return JSON.parse(new RegExp(`^${keyword} [^\\[]*(.*)`, 'm').exec(dockerfile)?.[1] ?? '')
}

/** Builds the image without a container engine. Each build stage is a folder. */
function buildImage(): { app: string; env: Record<string, string> } {
  const context = join(folder, 'context')
  copyContext(context)
  let [stage, cwd, env]: [string, string, Record<string, string>] = ['', '', {}]
  const inStage = (name: string, path = '.') => join(folder, name, path)
  for (const [, keyword, text = ''] of dockerfile.matchAll(/^([A-Z]+) (.*)$/gm)) {
    if (keyword === 'FROM') {
      stage = / AS (\S+)$/.exec(text)?.[1] ?? 'final'
      env = {}
    } else if (keyword === 'WORKDIR') {
      cwd = inStage(stage, text)
      mkdirSync(cwd, { recursive: true })
    } else if (keyword === 'ENV') {
      for (const [, name = '', value = ''] of text.matchAll(/(\w+)=(\S+)/g)) env[name] = value
    } else if (keyword === 'COPY') {
      const [, name, paths = ''] = /^(?:--from=(\S+) )?(.*)$/.exec(text) ?? []
      const [target = '', ...sources] = paths.split(' ').reverse()
      for (const source of sources) copy(inStage(name ?? 'context', source), join(cwd, target))
    } else if (keyword === 'RUN') {
      outputOf('sh', ['-ec', text], { cwd, env: { ...cleanEnvironment(), ...env } })
    } else {
      assert.ok(/^(USER|EXPOSE|HEALTHCHECK|ENTRYPOINT|CMD)$/.test(keyword ?? ''), keyword)
    }
  }
  return { app: cwd, env }
}

function copy(source: string, target: string): void {
  const to = statSync(source).isDirectory() ? target : join(target, basename(source))
  cpSync(source, to, { recursive: true, verbatimSymlinks: true })
}

/** Copies files that Git tracks or would add, except those that .dockerignore excludes. */
function copyContext(target: string): void {
  const patterns = readText('.dockerignore').match(/^[^#\n].*$/gm) ?? []
  const excluded = patterns.map((pattern) => `:(exclude,glob)${pattern}`)
  const command = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', '.']
  const listed = outputOf('git', [...command, ...excluded], { cwd: root })
  const files = listed.split('\0').filter((file) => file !== '' && existsSync(join(root, file)))
  assert.ok(files.length > 0, 'the tests have to run in a clone of the repository')
  for (const file of files) cpSync(join(root, file), join(target, file))
}
