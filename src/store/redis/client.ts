/** Connects to Redis servers with `@redis/client`, and checks what kind they are. @module */

import type { StoreSize } from '../item-store.js'
import { connectErrorOf, errorReplyOf, NotPrimaryError, redis, TimeoutError } from './errors.js'

export interface Command {
  readonly parts: readonly (string | Buffer)[]
  /** Determines which server in a cluster gets the command. */
  readonly key: string
  readonly replyBytes?: number | undefined // in bytes, at most, if known
  readonly isAsking?: boolean // sends `ASKING` first, because the key's slot is being moved to the server
}

export function keyCommand(
  parts: readonly [name: string, key: string, ...args: (string | Buffer)[]],
  replyBytes?: number,
): Command {
  return { parts, key: parts[1], replyBytes }
}

export type RedisValue = Buffer | number | null | RedisValue[]

export interface RedisReply {
  readonly value: RedisValue
  /** Identifies the server process that replied. A restarted one always has a new client object. */
  readonly client: object
}

export type Reply = RedisReply | Error

/** @throws {Error} for an error in place of a reply. */
export function valid<T>(result: T): Exclude<T, Error> {
  if (result instanceof Error) throw result
  return result as Exclude<T, Error> // errors have been thrown
}

export function listIn(value: RedisValue | undefined): RedisValue[] {
  return Array.isArray(value) ? value : []
}

export interface Servers {
  readonly firstAttempt: Promise<void> // resolves after the first attempt to connect, even if it failed
  /** True if there is a connection to every server that has items. */
  isReady(): boolean
  /** True if a reply of unknown length may now be requested from the key's server. */
  hasRoom(key: string): boolean
  /** Sends commands, and returns the replies in the same order. Never waits forever. @throws {Error} */
  send(commands: readonly Command[]): Promise<readonly Reply[]>
  /** Returns the server that has the key; only in a cluster. */
  serverOf?(key: string): { isReady(): boolean } | undefined
  close(): void
}

export type Client = ReturnType<typeof newClient>

/** Connects within twice the timeout. @throws {Error} otherwise, or if the server is of another kind. */
export async function connect(
  { url, isClusterNode, timeout }: { url: string; isClusterNode: boolean; timeout: number },
  signal: AbortSignal,
) {
  const { client, reply } = await open(url, ['INFO'], timeout, signal)
  const info = String(reply)
  // A replica will do in a cluster: it answers CLUSTER SLOTS, and redirects all other commands.
  const mismatch = isClusterNode ? undefined : mismatchIn(info)
  if (mismatch === undefined) return { client, policy: infoField(info, 'maxmemory_policy') }
  client.destroy()
  throw mismatch
}

/** Connects to a server of any kind, and sends `firstCommand`. @throws {Error} like `connect`. */
export async function open(
  url: string,
  firstCommand: Command['parts'],
  timeout: number,
  signal: AbortSignal,
) {
  const client = newClient(url, timeout)
  let reason: unknown // first error of the connection, which causes all others
  client.on('error', (error) => {
    reason ??= error
  })
  try {
    const isOpen = new Promise((resolve) => client.once('connect', resolve))
    const isReady = client.connect()
    await Promise.race([isOpen, isReady]) // takes up to `connectTimeout`, and cannot be cancelled earlier
    signal.throwIfAborted()
    // Fails if the server requires a password and the URL has none.
    const greeting = isReady.then(() => client.sendCommand<RedisValue>(firstCommand))
    const reply = await withTimeout(timeout, greeting)
    signal.throwIfAborted()
    return { client, reply }
  } catch (error) {
    client.destroy()
    throw connectErrorOf(reason ?? error, url)
  }
}

function mismatchIn(info: string): Error | undefined {
  // Valkey 8 names the field `server_mode`.
  if ((infoField(info, 'redis_mode') ?? infoField(info, 'server_mode')) === 'sentinel') {
    return new Error('the server is a sentinel: STORE_URL must begin with redis+sentinel:')
  }
  if (isReplica(info)) return new NotPrimaryError('the server is a replica')
  if (!/^cluster_enabled:1/m.test(info)) return undefined
  return new Error(
    'the server belongs to a cluster: STORE_URL must begin with redis+cluster: or rediss+cluster:',
  )
}

/** Creates a client without `createClient`, which takes tens of milliseconds per URL to build all commands. */
function newClient(url: string, timeout: number) {
  return new redis.RedisClient({
    url: url.replace(/^redis\+unix:/, 'unix:'),
    RESP: 2, // RESP 3 would only add the command HELLO
    disableOfflineQueue: true,
    disableClientInfo: true, // the reply to CLIENT SETINFO would hide the error of a server that refuses the connection
    commandOptions: { timeout: 0, typeMapping: { [redis.RESP_TYPES.BLOB_STRING]: Buffer } },
    // By default, the package would reconnect, and send commands whose callers have given up.
    socket: { connectTimeout: timeout, reconnectStrategy: false },
  })
}

const ofReplica = /^(?:ERR Error running script.*[ -])?(?:READONLY|MASTERDOWN) /

export function isOfReplica(reply: Reply): boolean {
  return ofReplica.test(errorReplyOf(reply) ?? '')
}

export function isReplica(info: string): boolean {
  return infoField(info, 'role') === 'slave'
}

function infoField(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1]
}

/** Adds up the memory of all servers. @param infos replies to `INFO memory`. */
export function memoryIn(infos: readonly string[]): Omit<StoreSize, 'items' | 'itemBytes'> {
  const valuesOf = (name: string) => infos.map((info) => Number(infoField(info, name) ?? 0))
  const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0)
  const memoryBytes = sum(valuesOf('used_memory'))
  const limits = valuesOf('maxmemory') // 0 means no limit
  const maxBytes = limits.includes(0) ? undefined : sum(limits)
  return { memoryBytes, usedBytes: memoryBytes, maxBytes }
}

/** Waits up to `time` ms for a promise. @throws {TimeoutError} */
export function withTimeout<T>(time: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    // `setImmediate` lets Node first read a reply that arrived while this process was busy.
    const expire = () => setImmediate(reject, new TimeoutError(`no reply within ${time} ms`))
    const timer = setTimeout(expire, time)
    void promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
