/**
 * The connection to one server: made again whenever it is lost, with a deadline for every answer.
 *
 * When an answer is late, those to later commands are late too, so the connection is dropped with all
 * that waits on it.
 *
 * @module
 */

import { setTimeout as delay } from 'node:timers/promises'
import { type Client, type ClientOptions, connect, inTime, type Reply } from './client.js'
import { NotConnectedError } from './failures.js'
import type { Reporter } from './report.js'
import type { Script } from './scripts.js'
import { createTurns } from './turns.js'

export interface ConnectionOptions extends ClientOptions {
  /** Is told when the connection is there, and each time that it is lost or cannot be made. */
  readonly report: Reporter
}

/** A server that takes commands. Nothing is sent twice; every failure comes after a bounded time. */
export interface Server {
  /** Stands for the connection that there is, until it is lost; `undefined` while there is none. */
  session(): object | undefined
  send(command: readonly (string | Buffer)[]): Promise<Reply>
  /** Runs a script on one key. */
  run(script: Script, key: string, ...args: readonly (string | Buffer)[]): Promise<Reply>
}

export interface Connection extends Server {
  /** The same server, for keys that another server of the cluster is handing over to it. */
  readonly asking: Server
  /** Resolves once the first attempt has succeeded or failed; there will be others. */
  readonly tried: Promise<void>
  /** Nothing may be sent any more; what has no answer yet fails. */
  close(): void
}

/** Shortest and longest time until the next attempt, in milliseconds. */
const pauses = { first: 50, last: 1000 }

/** Waits before the next attempt, the longer the more have failed, or until the signal comes. */
export async function pauseAfter(failures: number, signal: AbortSignal): Promise<void> {
  const pause = Math.min(pauses.last, pauses.first * 2 ** failures)
  // Services that lost the same server do not all come back at the same moment.
  const wait = pause * (0.5 + Math.random() / 2)
  await delay(wait, undefined, { signal }).catch(() => undefined)
}

/** What a server says of its memory under a name of `INFO memory`; `undefined` if it says nothing. */
export async function memoryInfo(server: Server, name: string): Promise<string | undefined> {
  const info = String(await server.send(['INFO', 'memory']))
  return new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1]
}

export function openConnection(options: ConnectionOptions): Connection {
  const { timeout, report } = options
  const closing = new AbortController()
  const turns = createTurns(timeout)
  let client: Client | undefined
  /** Why there is no connection, since when it was lost. */
  let cause: unknown

  function lost(error: unknown): void {
    client = undefined
    cause = error
    report.lost(error)
  }

  async function stayConnected(onAttempt: () => void): Promise<void> {
    for (let failures = 0; !closing.signal.aborted; ) {
      try {
        const fresh = await connect(options, closing.signal)
        const isGone = new Promise<void>((resolve) => {
          fresh.once('end', resolve).once('error', (error) => {
            if (fresh === client) lost(error)
            resolve()
          })
        })
        client = fresh
        report.found()
        failures = 0
        onAttempt()
        await isGone
        fresh.destroy()
      } catch (error) {
        failures += 1
        if (!closing.signal.aborted) lost(error)
        onAttempt()
      }
      await pauseAfter(failures, closing.signal)
    }
  }

  /**
   * Calls with the client that there is, when it is its turn; the time of all that is done with it is
   * bounded.
   * @param sent what the call sends.
   */
  async function use(
    sent: readonly (string | Buffer)[],
    call: (client: Client) => Promise<Reply>,
  ): Promise<Reply> {
    const current = client
    if (current === undefined) throw new NotConnectedError(cause)
    return await turns.take(lengthOf(sent), async () => {
      if (current !== client) throw new NotConnectedError(cause) // it was lost meanwhile
      return await inTime(timeout, call(current), () => {
        if (current !== client) return
        lost(new Error(`no answer within ${timeout} ms`))
        current.destroy()
      })
    })
  }

  /** @param sendOne sends one command. */
  function serverOf(sendOne: typeof sendNow): Server {
    return {
      session: () => client,

      send: (command) => use(command, (current) => sendOne(current, command)),

      run: ({ text, digest }, ...[key, ...args]) =>
        use(args, async (current) => {
          const rest = ['1', key, ...args]
          try {
            return await sendOne(current, ['EVALSHA', digest, ...rest])
          } catch (error) {
            // The engine forgets scripts when it is started again; nothing has been done then.
            if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
            return await sendOne(current, ['EVAL', text, ...rest])
          }
        }),
    }
  }

  const tried = new Promise<void>((resolve) => {
    void stayConnected(resolve)
  })

  return {
    ...serverOf(sendNow),
    asking: serverOf(sendAsking),
    tried,
    close() {
      closing.abort()
      client?.destroy()
      client = undefined
    },
  }
}

function lengthOf(parts: readonly (string | Buffer)[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0)
}

function sendNow(client: Client, command: readonly (string | Buffer)[]): Promise<Reply> {
  return client.sendCommand<Reply>(command)
}

/** ASKING is for the next command only, and the client sends in the order in which it is told to. */
function sendAsking(client: Client, command: readonly (string | Buffer)[]): Promise<Reply> {
  client.sendCommand(['ASKING']).catch(() => undefined) // the command fails then, too
  return sendNow(client, command)
}
