/**
 * One connection to one server, made once.
 *
 * The client's own ways to wait and to connect again are not used: its deadline ends when a command is
 * sent, it waits forever for the answer to its greeting, and what it queues while it is not connected is
 * sent later, when nobody waits for it any more.
 *
 * @module
 */

import { require } from '../../require.js'
import { causeOf, LateError, refusalOf } from './failures.js'

const { RedisClient, RESP_TYPES, SocketClosedUnexpectedlyError }: typeof import('@redis/client') =
  require('@redis/client')

export interface ClientOptions {
  /** `redis:`, `rediss:` or `redis+unix:`, with user, password and number of the database. */
  readonly url: string
  /** Whether the server has to belong to a cluster; if not, it must not. */
  readonly isOfCluster: boolean
  /** Maximum time to wait for an answer, and for a connection, in milliseconds. */
  readonly timeout: number
}

/** What a server answers. */
export type Reply = Buffer | number | null | Reply[]

export type Client = ReturnType<typeof newClient>

/**
 * Connects, and makes sure that commands are answered, by a server of the right kind.
 * @throws {Error} after twice the timeout at most, or when the signal has come in between.
 */
export async function connect(options: ClientOptions, signal: AbortSignal): Promise<Client> {
  const { timeout, isOfCluster } = options
  const client = newClient(options)
  /** What went wrong first, such as an answer that is none; that the connection ends comes after it. */
  let first: unknown
  client.on('error', (error) => {
    first ??= error
  })
  try {
    const isOpen = new Promise((resolve) => client.once('connect', resolve))
    const isReady = client.connect()
    await Promise.race([isOpen, isReady]) // bounded by `connectTimeout`; it cannot be ended before
    signal.throwIfAborted()
    await inTime(
      timeout,
      isReady.then(() => assertKind(client, isOfCluster)),
    )
    return client
  } catch (error) {
    client.destroy()
    throw withCause(first ?? error, options.url)
  }
}

/** Why no connection has come about, without the password: a server may repeat what it has been sent. */
function withCause(error: unknown, url: string): unknown {
  if (error instanceof SocketClosedUnexpectedlyError || Object(error).code === 'EPIPE') {
    return new Error('the server has closed the connection without an answer')
  }
  if (error instanceof Error && error.message.startsWith('Unknown RESP type')) {
    return new Error('what answers there does not speak the protocol of Redis')
  }
  if (refusalOf(error) === undefined) return error
  const [, password = ''] = /^[^/]*\/\/[^:@]*:([^@]*)@/.exec(url) ?? []
  const said = String(Object(causeOf(error)).message)
  return new Error(password === '' ? said : said.replaceAll(decodeURIComponent(password), '***'))
}

/**
 * @param onLate is called before it throws.
 * @throws {LateError}
 */
export function inTime<T>(time: number, answer: Promise<T>, onLate?: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      // What arrived while this process was busy is read before the time counts as over.
      setImmediate(() => {
        if (isAnswered) return
        reject(new LateError(`no answer within ${time} ms`))
        onLate?.()
      })
    }, time)
    let isAnswered = false
    const answered = () => {
      isAnswered = true
      clearTimeout(timer)
    }
    answer.then(answered, answered)
    answer.then(resolve, reject)
  })
}

/** `createClient` makes a class with a method for each command wherever the URL changes, for tens of milliseconds. */
function newClient({ url, timeout }: ClientOptions) {
  return new RedisClient({
    url: url.replace(/^redis\+unix:/, 'unix:'),
    RESP: 2, // the newer version adds nothing here but a greeting
    disableOfflineQueue: true,
    disableClientInfo: true, // a server that refuses the connection answers it, and nobody would be told
    commandOptions: { timeout: 0, typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } },
    socket: { connectTimeout: timeout, reconnectStrategy: false },
  })
}

/** Is refused without a password that the server wants. */
async function assertKind(client: Client, isOfCluster: boolean): Promise<void> {
  const info = String(await client.sendCommand<Buffer>(['INFO', 'cluster']))
  if (/^cluster_enabled:1/m.test(info) === isOfCluster) return
  throw new Error(
    isOfCluster
      ? 'the server belongs to no cluster: STORE_URL has to name one host, with redis: or rediss:'
      : 'the server belongs to a cluster: STORE_URL has to begin with redis+cluster: or rediss+cluster:',
  )
}
