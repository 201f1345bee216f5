/**
 * The connection to a Redis primary that sentinels watch (docs/reference/redis.md).
 * After a failover, the former primary accepts changes for about ten seconds. These changes are lost.
 * So commands are sent only while recent answers of the sentinels name the connected server. @module
 */

import type { SentinelAddress } from './address.js'
import { type Command, type Reply, withTimeout } from './client.js'
import type { ClusterOptions } from './cluster.js'
import { RedisConnection } from './connection.js'
import { errorReplyOf, NotPrimaryError, type Reachability, reasonOf } from './errors.js'
import { type Answer, answerTimeout, createSentinel, type Sentinel } from './sentinel.js'

/** Time between two queries to the sentinels, in milliseconds. */
const interval = 1000
/** How long answers are valid after the query, in milliseconds. */
const validFor = 1500
/** How long the primary stays in use after a query without a valid answer, in milliseconds. */
const silentFor = interval + 2 * answerTimeout

const reasons: Readonly<Record<Answer['state'], (named: string) => string>> = {
  up: (named) => `the sentinels name another primary, ${named}`,
  down: () => 'the sentinels cannot reach the primary',
  retiring: () => 'a failover has begun',
}

interface SentinelOptions extends ClusterOptions {
  readonly reachability: Reachability
}

export class WatchedPrimary {
  readonly #options: SentinelOptions
  readonly #address: SentinelAddress
  readonly #sentinels: readonly Sentinel[]
  readonly #connection: RedisConnection
  readonly #closing = new AbortController()
  readonly #timer: NodeJS.Timeout
  /** Epoch (failover number) of the last answer that was not ignored. */
  #epoch = 0
  /** Host and port of the primary that the sentinels named last, if the primary may be used. */
  #named: string | undefined
  /** Why there is no primary, or why the former primary is no longer used. */
  #cause: unknown
  /** Host and port of the server that the connection uses. */
  #used: string | undefined
  /** Time at which the last answers expire, on the clock of `performance.now()`. */
  #validUntil = 0
  #isSilenceLogged = false
  #pending: Promise<void> | undefined

  constructor(address: SentinelAddress, options: SentinelOptions) {
    const { timeout } = options
    this.#options = options
    this.#address = address
    const onEvent = () => {
      // Answers to the current query may be older than the event, so another query follows.
      void (this.#pending ?? Promise.resolve()).then(() => this.#ask())
    }
    const { signal } = this.#closing
    this.#sentinels = address.hosts.map((host) =>
      createSentinel(host, address, timeout, signal, onEvent),
    )
    this.#connection = new RedisConnection({
      ...options,
      url: () => this.#find(),
      isClusterNode: false,
    })
    this.#timer = setInterval(() => void this.#ask(), interval).unref()
  }

  get firstAttempt(): Promise<void> {
    return this.#connection.firstAttempt
  }

  get isReady(): boolean {
    return this.#connection.isReady
  }

  hasRoom(): boolean {
    return this.#connection.hasRoom()
  }

  /** Returns replies only if the sentinels still name the same server afterwards. */
  async send(commands: readonly Command[]): Promise<readonly Reply[]> {
    if (!this.#isValid) await this.#makeSure()
    const server = this.#used
    const replies = await this.#connection.send(commands)
    // If this process was stopped for a while, the server may no longer be the primary.
    if (!this.#isValid) await this.#makeSure()
    if (server !== this.#named) throw this.#cause
    // NOREPLICAS may mean that a network fault separates the primary from the sentinels too.
    if (replies.some((reply) => errorReplyOf(reply)?.includes('NOREPLICAS'))) void this.#ask()
    return replies
  }

  close(): void {
    clearInterval(this.#timer)
    this.#closing.abort()
    for (const sentinel of this.#sentinels) sentinel.close()
    this.#connection.close()
  }

  get #isValid(): boolean {
    return performance.now() < this.#validUntil && this.#used === this.#named
  }

  async #makeSure(): Promise<void> {
    while (performance.now() >= this.#validUntil && this.isReady) await this.#ask()
    this.#leaveFormer()
  }

  /** @returns the URL of the primary. @throws {Error} if the sentinels name no primary. */
  async #find(): Promise<string> {
    await this.#ask()
    if (this.#named === undefined || performance.now() >= this.#validUntil) throw this.#cause
    this.#used = this.#named
    return this.#address.serverUrl(this.#named)
  }

  #ask(): Promise<void> {
    this.#pending ??= this.#askAll().finally(() => {
      this.#pending = undefined
    })
    return this.#pending
  }

  async #askAll(): Promise<void> {
    const asked = performance.now()
    const { answers, failures } = await answersOf(this.#sentinels)
    const primary = primaryIn(answers, this.#sentinels.length, this.#epoch, this.#named)
    if (primary === undefined) {
      this.#goOn(
        answers.length > 0 ? 'the sentinels that reply have missed a failover' : noReply(failures),
      )
      return
    }
    if (this.#isSilenceLogged) this.#options.log.info('the sentinels can be reached again')
    this.#isSilenceLogged = false
    this.#epoch = primary.epoch
    this.#named = primary.state === 'up' ? primary.address : undefined
    this.#validUntil = asked + validFor
    this.#cause = new NotPrimaryError(reasons[primary.state](primary.address))
    this.#leaveFormer()
  }

  /** Handles a query without valid answers. Only an existing connection stays in use. */
  #goOn(cause: string): void {
    this.#cause = new Error(cause)
    if (!this.#connection.isReady) {
      this.#named = undefined
      return
    }
    this.#validUntil = performance.now() + silentFor
    if (this.#isSilenceLogged) return
    this.#isSilenceLogged = true
    this.#options.log.warn({ cause }, 'a failover will not be noticed until a sentinel replies')
  }

  #leaveFormer(): void {
    if (this.#used !== this.#named) this.#connection.leave(this.#cause)
  }
}

function noReply(failures: readonly unknown[]): string {
  const reasons = failures.map(reasonOf)
  if (reasons.some((reason) => reason.startsWith('ERR No such master'))) {
    return 'the sentinels know no primary with the name in STORE_URL'
  }
  return `no sentinel replied: ${reasons[0]}`
}

/** Waits only for the sentinels that answered the last query in time, if any. */
async function answersOf(
  sentinels: readonly Sentinel[],
): Promise<{ answers: readonly Answer[]; failures: readonly unknown[] }> {
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
 * Returns the primary that most sentinels with the highest epoch name or, in a tie, the former primary.
 * A minority whose epoch is below the known epoch has missed a failover, and is ignored.
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
