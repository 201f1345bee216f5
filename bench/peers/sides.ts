/** The implementations that benchmarks compare: this service and others. Each of them is called a side. */

import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../test/support/process.js'
import { readText, root, toolsFolder, v8Flags } from '../../test/support/tools.js'
import { buildRevision } from '../lib/builds.js'
import type { Headers } from '../lib/client.js'
import { createItems } from '../lib/connections.js'
import { itemText } from '../lib/item.js'
import { type Child, cores, isInstalled, scratch, startServer } from '../lib/processes.js'

interface StartOptions {
  port: number
  secret: string // key that signs tokens
  list: number // number of items that a list returns; 0 if the workload has no list
  settings?: Record<string, string> // settings of this service that differ from the defaults
}

export interface Side {
  name: string
  about: string
  skips?: string[] // names of workloads in which this side is not measured
  version?: () => string | undefined // `undefined` if the side is not installed
  start: (options: StartOptions) => Promise<Child[]> // returns the side's programs, the server first
  /** Creates up to `count` items within `seconds` seconds, and returns their ids. */
  create: (
    server: { port: number; headers: Headers },
    count: number,
    seconds: number,
  ) => Promise<string[]>
}

export const itemStore = builtIn(
  root,
  'item-store',
  `this service: \`node ${v8Flags.join(' ')} dist/cli.js serve\`, as in the Docker image`,
)

export function itemStoreAt(revision: string) {
  const { commit, folder } = buildRevision(revision)
  const about = `this service at commit ${commit}, built and measured in the same run`
  return builtIn(folder, `item-store@${commit}`, about)
}

function builtIn(folder: string, name: string, about: string): Side {
  return {
    name,
    about,
    create: createItems,
    start: async ({ port, secret, settings }) => {
      const env = { HOST: '127.0.0.1', PORT: String(port), JWT_SECRET: secret, ...settings }
      const args = [...v8Flags, join(folder, 'dist/cli.js'), 'serve']
      return [await startServer({ port, args, env })]
    },
  }
}

const itemStoreOnRedis: Side = {
  ...itemStore,
  name: 'item-store-redis',
  about:
    'this service with its items on a redis-server without persistence, which has its own core or shares that of the load generator',

  version() {
    if (!isInstalled('redis-server')) return undefined
    const { stdout } = spawnSync('redis-server', ['--version'], { encoding: 'utf8' })
    return `redis ${/v=(\S+)/.exec(stdout)?.[1]}`
  },

  async start({ port, secret }) {
    const redisPort = await freePort()
    const redis = await startServer({
      port: redisPort,
      command: 'redis-server',
      args: ['--port', String(redisPort), '--bind', '127.0.0.1', '--save', ''],
      core: availableParallelism() > 2 ? 2 : cores.load,
    })
    const settings = { STORE_URL: `redis://127.0.0.1:${redisPort}` }
    return [...(await itemStore.start({ port, secret, list: 0, settings })), redis]
  },
}

const bare: Side = {
  name: 'bare',
  about:
    'bare `node:http`: responses with the same headers and bytes, prepared in advance; no routing, token or store',
  create: async (_server, count) => Array.from({ length: count }, () => randomUUID()),
  start: async ({ port, list }) => [
    await startServer({ port, args: [program('bare'), String(port), String(list)] }),
  ],
}

export const jsonParse: Side = {
  name: 'json-parse',
  about: 'bare `node:http` with `JSON.parse`, `JSON.stringify` and a `Map`; no tokens',
  create: createItems,
  start: async ({ port }) => [
    await startServer({ port, args: [program('json-parse'), String(port)] }),
  ],
}

function program(name: string) {
  return fileURLToPath(new URL(`${name}.js`, import.meta.url))
}

const python = '/usr/bin/python3' // the operating system's Python, whose packages include FastAPI
const printVersions = `
import platform, fastapi, httptools, jwt, pydantic, uvicorn, uvloop
print(f"Python {platform.python_version()}, fastapi {fastapi.__version__}, pydantic {pydantic.VERSION}, uvicorn {uvicorn.__version__}")
`

export const fastapi: Side = {
  name: 'fastapi',
  about:
    'the same interface in FastAPI with response models, as in its tutorial: one uvicorn worker with uvloop and httptools, no access log',
  skips: ['list-100000'], // would take over a minute
  create: createItems,

  version() {
    const { status, stdout } = spawnSync(python, ['-c', printVersions], { encoding: 'utf8' })
    return status === 0 ? stdout.trim() : undefined
  },

  async start({ port, secret }) {
    const args = [
      ...['-m', 'uvicorn', 'fastapi_app:app', '--app-dir', join(root, 'bench/peers')],
      ...['--host', '127.0.0.1', '--port', String(port), '--loop', 'uvloop', '--http', 'httptools'],
      ...['--log-level', 'warning', '--no-access-log'],
    ]
    const env = { JWT_SECRET: secret, PYTHONDONTWRITEBYTECODE: '1' }
    return [await startServer({ port, command: python, args, env })]
  },
}

export const jsonServer: Side = {
  name: 'json-server',
  about: 'json-server with one file, which it writes after each change; no tokens',
  create: async (_server, count) => Array.from({ length: count }, (_, number) => idOf(number)),

  version() {
    const { version } = JSON.parse(readText('tools/node_modules/json-server/package.json'))
    return `json-server ${version}`
  },

  async start({ port, list }) {
    const file = join(mkdtempSync(join(scratch, 'json-server-')), 'db.json')
    const items = Array.from({ length: list }, (_, number) => itemText(idOf(number)))
    writeFileSync(file, `{"health":{"status":"healthy"},"items":[${items.join(',')}]}`)
    const command = join(toolsFolder, 'node_modules/json-server/lib/bin.js')
    const args = [command, file, '--host', '127.0.0.1', '--port', String(port)]
    return [await startServer({ port, args })]
  },
}

function idOf(number: number) {
  return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
}

/** The sides that the benchmark `compare` measures. */
export const sides = [itemStore, itemStoreOnRedis, bare, fastapi]

export function isAvailable({ version }: Side) {
  return version === undefined || version() !== undefined
}

export function describeSide({ name, about, version }: Side) {
  if (version === undefined) return `- ${name}: ${about}`
  const installed = version()
  if (installed === undefined) return `- ${name}: left out because it is not installed`
  return `- ${name}: ${about} (${installed})`
}
