/**
 * Connects a client of `@redis/client` once, and reads what servers say of themselves.
 *
 * The client's own deadlines and reconnection are not used. Its deadline ends when a command is sent, it waits forever
 * for the reply to its greeting, and it sends commands queued while disconnected after their callers have given up.
 *
 * @module
 */

import { createRequire } from 'node:module'
import type { StoreSize } from '../item-store.js'
import { connectErrorOf, NotPrimaryError, TimeoutError } from './errors.js'

const { RedisClient, RESP_TYPES }: typeof import('@redis/client') = createRequire(import.meta.url)(
  '@redis/client',
) // as for pino in process/log.ts

export interface ClientOptions {
  /** `redis:`, `rediss:` or `redis+unix:`, with user, password and number of the database. */
  readonly url: string
  /** Whether the server has to belong to a cluster; if not, it must not. */
  readonly isClusterNode: boolean
  /** Maximum time to wait for a reply, for the in-flight limit, and for a connection, in milliseconds. */
  readonly timeout: number
}

export interface Command {
  /** Its name and arguments. */
  readonly parts: readonly (string | Buffer)[]
  /** Picks the server of a cluster that gets the command. */
  readonly key: string
  /** Maximum length of its reply in bytes, if known. */
  readonly replyBytes?: number | undefined
  /** Whether `ASKING` goes first, because the slot of the key is being moved to the server that gets this. */
  readonly isAsking?: boolean
}

export type RedisValue = Buffer | number | null | RedisValue[]

export interface RedisReply {
  readonly value: RedisValue
  /** Identifies the server process that replied. A restarted server always has a new client object. */
  readonly client: object
}

/** A reply, or an error reply. */
export type Reply = RedisReply | Error

/** Called before other commands are sent, with a function that sends a command ahead of them. */
export type OnCheck = (send: (parts: Command['parts']) => Promise<RedisValue>) => void

export interface Servers {
  /** Resolves once the first attempt to connect has succeeded or failed; there will be others. */
  readonly firstAttempt: Promise<void>
  /** Whether every server that items can be on is connected. */
  readonly isReady: boolean
  /** Whether a reply of unknown length may be asked of the server that has the key. */
  hasRoom(key: string): boolean
  /**
   * Sends commands as one call to each server that has some of their keys.
   * @returns a reply for each command.
   * @throws {Error} for `storeError`, after a bounded time.
   */
  send(commands: readonly Command[]): Promise<readonly Reply[]>
  /** Returns the server that has the key; only a cluster has this method. */
  serverOf?(key: string): { readonly isReady: boolean } | undefined
  close(): void
}

export type Client = ReturnType<typeof newClient>

/**
 * Connects once, and checks that the server takes commands and is of the right kind.
 * @throws {Error} after twice the timeout at most, or when the signal has come in between.
 */
export async function connect(
  { url, isClusterNode, timeout }: ClientOptions,
  signal: AbortSignal,
): Promise<{ client: Client; evictionPolicy: string | undefined }> {
  const { client, reply } = await open(url, ['INFO'], timeout, signal)
  const info = String(reply)
  const mismatch = mismatchIn(info, isClusterNode)
  if (mismatch === undefined) return { client, evictionPolicy: infoField(info, 'maxmemory_policy') }
  client.destroy()
  throw mismatch
}

/** Connects to a server of any kind, and sends the first command. @throws {Error} like `connect`. */
export async function open(
  url: string,
  firstCommand: Command['parts'],
  timeout: number,
  signal: AbortSignal,
): Promise<{ client: Client; reply: RedisValue }> {
  const client = newClient(url, timeout)
  /** The first error, such as bytes that are no reply; the end of the connection follows from it. */
  let reason: unknown
  client.on('error', (error) => {
    reason ??= error
  })
  try {
    const isOpen = new Promise((resolve) => client.once('connect', resolve))
    const isReady = client.connect()
    await Promise.race([isOpen, isReady]) // bounded by `connectTimeout`; cannot be cancelled before
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

/** Returns an error if the server is not of the kind that the address names. */
function mismatchIn(info: string, isClusterNode: boolean): Error | undefined {
  // Valkey 8 names the field `server_mode`.
  if ((infoField(info, 'redis_mode') ?? infoField(info, 'server_mode')) === 'sentinel') {
    return new Error('the server is a sentinel: STORE_URL must begin with redis+sentinel:')
  }
  // In a cluster, replicas reply to CLUSTER SLOTS, and with MOVED to all else.
  if (!isClusterNode && isReplica(info)) return new NotPrimaryError('the server is a replica')
  if (/^cluster_enabled:1/m.test(info) === isClusterNode) return undefined
  return new Error(
    isClusterNode
      ? 'the server does not belong to a cluster: STORE_URL must name one host, with redis: or rediss:'
      : 'the server belongs to a cluster: STORE_URL must begin with redis+cluster: or rediss+cluster:',
  )
}

/** Avoids `createClient`, which takes tens of milliseconds to make a class with all commands for each new URL. */
function newClient(url: string, timeout: number) {
  return new RedisClient({
    url: url.replace(/^redis\+unix:/, 'unix:'),
    RESP: 2, // the newer version adds nothing here but a greeting
    disableOfflineQueue: true,
    disableClientInfo: true, // its reply would hide the error of a server that refuses the connection
    commandOptions: { timeout: 0, typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } },
    socket: { connectTimeout: timeout, reconnectStrategy: false },
  })
}

/** Whether `INFO` says that the server is a replica. The items of a replica can be of any age. */
export function isReplica(info: string): boolean {
  return infoField(info, 'role') === 'slave'
}

/** Returns the value of this name in a reply to `INFO`. */
function infoField(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1]
}

/**
 * Adds up the memory that the servers of a store report.
 * @param infos the reply of each server to `INFO memory`.
 */
export function memoryIn(infos: readonly string[]): Omit<StoreSize, 'items' | 'itemBytes'> {
  const valuesOf = (name: string) => infos.map((info) => Number(infoField(info, name) ?? 0))
  const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0)
  const memoryBytes = sum(valuesOf('used_memory'))
  const limits = valuesOf('maxmemory') // 0 means no limit
  const maxBytes = limits.includes(0) ? undefined : sum(limits)
  return { memoryBytes, usedBytes: memoryBytes, maxBytes }
}

/** @param time in milliseconds. @throws {TimeoutError} unless the promise settles in time. */
export async function withTimeout<T>(time: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    // A reply that arrived while this process was busy is read first.
    const expire = () => setImmediate(reject, new TimeoutError(`no reply within ${time} ms`))
    timer = setTimeout(expire, time)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
