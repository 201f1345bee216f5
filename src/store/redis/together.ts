/** Commands for several servers of a cluster, sent as one call to each of them. @module */

import type { Command, RedisReply, Reply } from './client.js'
import type { RedisConnection } from './connection.js'
import { NotConnectedError } from './errors.js'

interface Servers {
  serverOf(key: string): Pick<RedisConnection, 'sendTogether'> | undefined
  /** Sends a command to wherever the key is now. */
  send(command: Command, key: string): Promise<RedisReply>
}

/**
 * Sends commands that change nothing. One that its server does not execute, as the key may have moved, is sent
 * again by itself.
 * @returns the replies in the order of the commands.
 * @throws {Error} for `storeError`, after a bounded time, but not for error replies.
 */
export async function sendToEachServer(
  servers: Servers,
  commands: readonly Command[],
  keys: readonly string[],
): Promise<readonly Reply[]> {
  const calls = new Map<ReturnType<Servers['serverOf']>, Call>()
  for (const [place, command] of commands.entries()) {
    const server = servers.serverOf(keys[place] ?? '')
    const call = calls.get(server) ?? { places: [], commands: [] }
    calls.set(server, call)
    call.places.push(place)
    call.commands.push(command)
  }
  const replies: Reply[] = []
  const sendAgain = async (place: number) => {
    const [command, key] = [commands[place], keys[place]]
    if (command === undefined || key === undefined) return
    replies[place] = await servers.send(command, key).catch((error) => error)
  }
  const sent = [...calls].map(async ([server, { places, commands }]) => {
    const received = (await server?.sendTogether(commands).catch(unlessNotConnected)) ?? []
    for (const [index, place] of places.entries()) {
      replies[place] = received[index] ?? new NotConnectedError(undefined)
    }
    await Promise.all(places.filter((place) => replies[place] instanceof Error).map(sendAgain))
  })
  await Promise.all(sent)
  return replies
}

/** Commands for one server, and their places among all. */
interface Call {
  readonly places: number[]
  readonly commands: Command[]
}

/** Nothing was sent then, and another server may have what this one had. */
function unlessNotConnected(error: unknown): undefined {
  if (!(error instanceof NotConnectedError)) throw error
}
