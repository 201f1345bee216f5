/** Builds an image without a container engine: runs the instructions of a Dockerfile in a folder. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { root } from './tools.js'

/** A built stage. Paths in the image are below `folder`. */
export interface Image {
  readonly folder: string
  /** `WORKDIR`, a path in the image. */
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly user: string
  readonly healthcheck: readonly string[]
  /** `ENTRYPOINT` and `CMD` together. */
  readonly command: readonly string[]
}

interface Stage extends Image {
  cwd: string
  env: Record<string, string>
  user: string
  healthcheck: string[]
  entrypoint: string[]
  cmd: string[]
}

/**
 * Runs every instruction of a Dockerfile; its context is a clean checkout without what .dockerignore names.
 * It supports only what this project's Dockerfile needs; anything else is an error.
 * @param into an empty folder.
 * @returns the last stage.
 */
export function buildImage(dockerfile: string, into: string): Image {
  const context = join(into, 'context')
  copyContext(context)
  const stages = new Map<string, Stage>()
  let stage: Stage | undefined
  for (const { keyword, text } of instructions(dockerfile)) {
    if (keyword === 'FROM') {
      const [, name = 'final'] = / AS (\S+)$/.exec(text) ?? []
      stage = newStage(join(into, name))
      stages.set(name, stage)
      continue
    }
    assert.ok(stage !== undefined, `${keyword} before FROM`)
    const from = (name: string | undefined) =>
      name === undefined ? context : (stages.get(name)?.folder ?? assert.fail(`no stage ${name}`))
    apply(stage, keyword, text, from)
  }
  assert.ok(stage !== undefined, 'no FROM')
  return { ...stage, command: [...stage.entrypoint, ...stage.cmd] }
}

function newStage(folder: string): Stage {
  mkdirSync(folder)
  const lists = { healthcheck: [], entrypoint: [], cmd: [], command: [] }
  return { folder, cwd: '/', env: {}, user: 'root', ...lists }
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

/** Of a folder, the content is copied into the target; a file keeps its name. */
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
  const ignored = ignoredBy(readFileSync(join(root, '.dockerignore'), 'utf8'))
  const options = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const { stdout } = spawnSync('git', options, { cwd: root, encoding: 'utf8' })
  const files = stdout.split('\0').filter((file) => file !== '' && !ignored(file))
  assert.ok(files.length > 0, 'this is no clone of the repository')
  for (const file of files.filter((file) => existsSync(join(root, file)))) {
    cpSync(join(root, file), join(target, file))
  }
}

/** The patterns of .dockerignore: paths from the root, with `*` and `**`. */
function ignoredBy(dockerignore: string): (file: string) => boolean {
  const lines = dockerignore.split('\n').filter((line) => /^[^#]/.test(line))
  const patterns = lines.map((line) => {
    assert.doesNotMatch(line, /[!?[\]]/, 'a pattern that this does not know')
    const parts = line.split(/(\*\*\/|\*)/).map((part) => {
      if (part === '**/') return '(?:.*/)?'
      return part === '*' ? '[^/]*' : part.replaceAll(/[.+^${}()|\\]/g, '\\$&')
    })
    return new RegExp(`^${parts.join('')}(?:/|$)`)
  })
  return (file) => patterns.some((pattern) => pattern.test(file))
}
