/** Sentinels: where the primary is at present, as most of them say. @module */

import type { SentinelAddress } from './address.js'
import { ask, type RedisValue } from './client.js'
import { reasonOf } from './reachability-log.js'

/**
 * Asks all sentinels at once, and does not wait for the others once a majority names the same server. One that was
 * cut off may name a former primary, which then says itself that it is not one, or does not answer.
 * @returns the URL of the primary.
 * @throws {Error} after four times the timeout at most.
 */
export async function primaryUrl(
  sentinels: SentinelAddress,
  timeout: number,
  signal: AbortSignal,
): Promise<string> {
  const count = sentinels.hosts.length
  const votes = new Map<string, number>()
  const failures: unknown[] = []
  const replies = sentinels.hosts.map((host) => addressBy(host, sentinels, timeout, signal))
  const isAgreed = new Promise<void>((resolve) => {
    for (const reply of replies) {
      const vote = (address: string) => {
        votes.set(address, (votes.get(address) ?? 0) + 1)
        if ((votes.get(address) ?? 0) > count / 2) resolve()
      }
      reply.then(vote, (error: unknown) => failures.push(error))
    }
  })
  await Promise.race([isAgreed, Promise.allSettled(replies)])
  const [first] = [...votes].sort(([, a], [, b]) => b - a)
  if (first !== undefined) return sentinels.serverUrl(first[0])
  const unknown = failures.find((error) => error instanceof UnknownNameError)
  throw unknown ?? new Error(`no sentinel replied: ${reasonOf(failures[0])}`)
}

class UnknownNameError extends Error {}

/** Host and port of the primary, as one sentinel says. */
async function addressBy(
  host: string,
  { name, sentinelUrl }: SentinelAddress,
  timeout: number,
  signal: AbortSignal,
): Promise<string> {
  const command = ['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name]
  const askWith = (hasCredentials: boolean) =>
    ask(sentinelUrl(host, hasCredentials), command, timeout, signal)
  // A server of any kind refuses a password if it requires none.
  const reply = await askWith(false).catch((error: unknown) => {
    if (/^(?:NOAUTH|NOPERM) /.test(reasonOf(error))) return askWith(true)
    throw error
  })
  if (reply === null) throw new UnknownNameError(`the sentinels know no primary named ${name}`)
  return addressIn(reply)
}

function addressIn(reply: RedisValue): string {
  const [host, port] = Array.isArray(reply) ? reply.map(String) : []
  return host?.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
