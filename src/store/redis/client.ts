/**
 * Connects a client of `@redis/client`, once.
 *
 * The client's own ways to wait and to reconnect are not used: its deadline ends when a command is sent,
 * it waits forever for the reply to its greeting, and what it queues while it is not connected is sent
 * later, when nobody waits for it any more.
 *
 * @module
 */

import { require } from '../../require.js'
import { connectErrorOf, NotPrimaryError, TimeoutError } from './errors.js'

const { RedisClient, RESP_TYPES }: typeof import('@redis/client') = require('@redis/client')

export interface ClientOptions {
  /** `redis:`, `rediss:` or `redis+unix:`, with user, password and number of the database. */
  readonly url: string
  /** Whether the server has to belong to a cluster; if not, it must not. */
  readonly isClusterNode: boolean
  /** Maximum time to wait for a reply, for room in flight, and for a connection, in milliseconds. */
  readonly timeout: number
}

export interface Command {
  /** Its name and arguments. */
  readonly parts: readonly (string | Buffer)[]
  /** Maximum length of its reply in bytes, if it is known. */
  readonly replyBytes?: number | undefined
  /** Whether another server of the cluster is handing the key over to the one that gets this. */
  readonly isAsking?: boolean
}

export type RedisValue = Buffer | number | null | RedisValue[]

export interface RedisReply {
  readonly value: RedisValue
  /** Stands for the process that it came from: another one is reached by another client only. */
  readonly client: object
}

/** A reply, or an error reply. */
export type Reply = RedisReply | Error

/** Called before other commands are sent, with what sends a command ahead of them. */
export type OnCheck = (send: (parts: Command['parts']) => Promise<RedisValue>) => void

export type Client = ReturnType<typeof newClient>

/**
 * Connects once, and makes sure that the server takes commands and is of the right kind.
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
  /** The first error is the reason, such as bytes that are no reply; that the connection ends follows. */
  let reason: unknown
  client.on('error', (error) => {
    reason ??= error
  })
  try {
    const isOpen = new Promise((resolve) => client.once('connect', resolve))
    const isReady = client.connect()
    await Promise.race([isOpen, isReady]) // bounded by `connectTimeout`; it cannot be ended before
    signal.throwIfAborted()
    // Fails if the server requires a password and the URL has none.
    const greeting = isReady.then(() => client.sendCommand<RedisValue>(firstCommand))
    return { client, reply: await withTimeout(timeout, greeting) }
  } catch (error) {
    client.destroy()
    throw connectErrorOf(reason ?? error, url)
  }
}

/** Sends commands one after the other. @param received called with each reply, in the order of the commands. */
export function sendEach(
  client: Client,
  commands: readonly Command[],
  received: (reply: Reply) => void,
): void {
  for (const command of commands) {
    // ASKING is for the next command alone, and fails only together with it.
    if (command.isAsking) client.sendCommand(['ASKING']).catch(() => undefined)
    client
      .sendCommand<RedisValue>(command.parts)
      .then((value) => received({ value, client }), received)
  }
}

/** Why a server is not used, if it is not of the kind that the address names. */
function mismatchIn(info: string, isClusterNode: boolean): Error | undefined {
  if (infoField(info, 'redis_mode') === 'sentinel') {
    return new Error('the server is a sentinel: STORE_URL must begin with redis+sentinel:')
  }
  // In a cluster, replicas are asked for the table of slots, and answer MOVED to all else.
  if (!isClusterNode && isReplica(info)) return new NotPrimaryError('the server is a replica')
  if (/^cluster_enabled:1/m.test(info) === isClusterNode) return undefined
  return new Error(
    isClusterNode
      ? 'the server does not belong to a cluster: STORE_URL must name one host, with redis: or rediss:'
      : 'the server belongs to a cluster: STORE_URL must begin with redis+cluster: or rediss+cluster:',
  )
}

/** `createClient` makes a class with a method for each command wherever the URL changes, for tens of milliseconds. */
function newClient(url: string, timeout: number) {
  return new RedisClient({
    url: url.replace(/^redis\+unix:/, 'unix:'),
    RESP: 2, // the newer version adds nothing here but a greeting
    disableOfflineQueue: true,
    disableClientInfo: true, // a server that refuses the connection answers it, and nobody would be told
    commandOptions: { timeout: 0, typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } },
    socket: { connectTimeout: timeout, reconnectStrategy: false },
  })
}

/** Whether `INFO` says that the server is a replica, whose items can be of any age. */
export function isReplica(info: string): boolean {
  return infoField(info, 'role') === 'slave'
}

/** A value that `INFO` answers under this name. */
export function infoField(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1]
}

/** @throws {TimeoutError} unless it settles in time, in milliseconds. */
export async function withTimeout<T>(time: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    // What arrived while this process was busy is read before the time counts as over.
    const expire = () => setImmediate(reject, new TimeoutError(`no reply within ${time} ms`))
    timer = setTimeout(expire, time)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
