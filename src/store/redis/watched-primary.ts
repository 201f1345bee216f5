/**
 * A connection to a primary that sentinels watch. A former primary goes on accepting changes, which are then lost, so
 * commands are sent only while recent answers of the sentinels name the connected server. @module
 */

import type { Address } from './address.js'
import { type Servers, withTimeout } from './client.js'
import { RedisConnection, type RedisConnectionOptions } from './connection.js'
import { errorReplyOf, NotPrimaryError, reasonOf } from './errors.js'
import { type Answer, answerTimeout, createSentinel, type Sentinel } from './sentinel.js'

const interval = 1000 // ms between two queries to the sentinels
const validFor = 1500 // ms after a query
const silentFor = interval + 2 * answerTimeout // ms until a primary without valid answers is given up

const reasons: Readonly<Record<Answer['state'], (named: string) => string>> = {
  up: (named) => `the sentinels name another primary, ${named}`,
  down: () => 'the sentinels cannot reach the primary',
  retiring: () => 'a failover has begun',
}

export function watchPrimary(
  address: Address,
  options: Omit<RedisConnectionOptions, 'url' | 'isClusterNode'>,
): Servers {
  const closing = new AbortController()
  let epoch = 0 // number of the failover in the latest accepted answer
  let named: string | undefined // primary last named by the sentinels; `undefined` if it may not be used
  let cause: unknown // why there is no primary, or the former one is no longer used
  let used: string | undefined // host and port of the connected server
  let validUntil = 0 // of the sentinels' latest answers (`performance.now()`)
  let isSilenceLogged = false
  let pending: Promise<void> | undefined

  const isExpired = () => performance.now() >= validUntil
  // Answers may be older than an event that arrives during a query, so another query follows.
  const onEvent = () => void (pending ?? Promise.resolve()).then(ask)
  const sentinels = address.hosts.map((host) =>
    createSentinel(host, address, options.timeout, closing.signal, onEvent),
  )
  const connection = new RedisConnection({ ...options, url: find, isClusterNode: false })
  const timer = setInterval(() => void ask(), interval).unref()

  async function find(): Promise<string> {
    await ask()
    if (named === undefined || isExpired()) throw cause
    used = named
    return address.urlOf(named)
  }

  function ask(): Promise<void> {
    pending ??= askAll().finally(() => {
      pending = undefined
    })
    return pending
  }

  async function askAll(): Promise<void> {
    const asked = performance.now()
    const { answers, failures } = await answersOf(sentinels)
    const primary = primaryIn(answers, sentinels.length, epoch, named)
    if (primary === undefined) return goOn(faultIn(answers, failures))
    if (isSilenceLogged) options.log.info('the sentinels can be reached again')
    isSilenceLogged = false
    epoch = primary.epoch
    named = primary.state === 'up' ? primary.address : undefined
    validUntil = asked + validFor
    cause = new NotPrimaryError(reasons[primary.state](primary.address))
    if (used !== named) connection.leave(cause)
  }

  /** Handles a failed query: keeps using the connection, if there is one, but allows no new one. */
  function goOn(reason: string): void {
    cause = new Error(reason)
    if (!connection.isReady()) {
      named = undefined
      return
    }
    validUntil = performance.now() + silentFor
    if (isSilenceLogged) return
    isSilenceLogged = true
    options.log.warn({ cause: reason }, 'a failover will not be noticed until a sentinel replies')
  }

  return {
    firstAttempt: connection.firstAttempt,
    isReady: () => connection.isReady(),
    hasRoom: () => connection.hasRoom(),

    /** Sends commands. Returns the replies only if the sentinels still name the same server afterwards. */
    async send(commands) {
      while (isExpired() && connection.isReady()) await ask()
      const replies = await connection.send(commands)
      const server = used // a call may have waited for a new primary
      // If this process was paused for a while, the server may no longer be the primary.
      while (isExpired() && connection.isReady()) await ask()
      if (server !== named) throw cause
      // NOREPLICAS may mean that a network fault separates the primary from replicas and sentinels.
      if (replies.some((reply) => errorReplyOf(reply)?.includes('NOREPLICAS'))) void ask()
      return replies
    },

    close() {
      clearInterval(timer)
      closing.abort()
      for (const sentinel of sentinels) sentinel.close()
      connection.close()
    },
  }
}

function faultIn(answers: readonly Answer[], failures: readonly unknown[]): string {
  if (answers.length > 0) return 'the sentinels that reply have missed a failover'
  const reasons = failures.map(reasonOf)
  if (reasons.some((reason) => reason.startsWith('ERR No such master'))) {
    return 'the sentinels know no primary with the name in STORE_URL'
  }
  return `no sentinel replied: ${reasons[0]}`
}

/** Waits for the sentinels that answered the last query in time, or for all if none did. */
async function answersOf(sentinels: readonly Sentinel[]) {
  const answers: Answer[] = []
  const failures: unknown[] = []
  const present = new Set(sentinels.filter(({ isPresent }) => isPresent))
  const replies = sentinels.map(async (sentinel) => {
    const reply = sentinel.ask().then(
      (answer) => answers.push(answer),
      (error: unknown) => failures.push(error),
    )
    if (present.size === 0 || present.has(sentinel)) await reply
  })
  await withTimeout(answerTimeout, Promise.all(replies)).catch((error) => failures.push(error))
  return { answers: [...answers], failures }
}

/**
 * Returns the primary that most answers with the highest epoch name; in a tie, the one known before. If that epoch is
 * lower than the known one, and no majority of the sentinels has answered, returns `undefined`.
 */
export function primaryIn(
  answers: readonly Answer[],
  count: number,
  knownEpoch: number,
  before?: string,
): Answer | undefined {
  const epoch = Math.max(...answers.map((answer) => answer.epoch))
  if (epoch < knownEpoch && answers.length <= count / 2) return undefined
  const newest = answers.filter((answer) => answer.epoch === epoch)
  const votes = (address: string) =>
    newest.filter((answer) => answer.address === address).length + (address === before ? 0.5 : 0)
  const [first] = newest.map(({ address }) => address).sort((a, b) => votes(b) - votes(a))
  if (first === undefined) return undefined
  const states = newest.filter(({ address }) => address === first).map(({ state }) => state)
  const isDown = states.filter((state) => state === 'down').length > count / 2
  const state = isDown ? 'down' : states.includes('retiring') ? 'retiring' : 'up'
  return { address: first, epoch, state }
}
