/**
 * The connection to a primary that sentinels watch. The sentinels are asked for the primary before each attempt to
 * connect, every second while it is connected, and whenever one of them publishes an event.
 *
 * A former primary accepts changes until the sentinels reach it, about ten seconds after another server has taken over.
 * These changes are lost. So nothing is sent, and no reply counts, unless the sentinels have just named the server
 * (docs/reference/redis.md).
 *
 * @module
 */

import type { SentinelAddress } from './address.js'
import { type Command, type Reply, withTimeout } from './client.js'
import type { ClusterOptions } from './cluster.js'
import { RedisConnection } from './connection.js'
import { errorReplyOf, NotPrimaryError, type Reachability, reasonOf } from './errors.js'
import { type Answer, answerTimeout, createSentinel, type Sentinel } from './sentinel.js'

/** Time between two questions to the sentinels, in milliseconds. */
const interval = 1000
/** Time for which answers count, in milliseconds from the question. After it, commands and replies wait for new answers. */
const validFor = 1500
/** Time for which a failed question counts, in milliseconds: the next question has failed before it is over. */
const silentFor = interval + 2 * answerTimeout

/** Reasons to leave a server. */
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
  /** The newest epoch that any sentinel has answered with. */
  #epoch = 0
  /** Host and port of the primary that the sentinels named last; `undefined` while there is none. */
  #named: string | undefined
  /** Why no primary is named, or why the one before is not used any more. */
  #cause: unknown
  /** Host and port of the server that the connection was given last. */
  #used: string | undefined
  /** Time until which the last answers count, as `performance.now()` has it. */
  #validUntil = 0
  /** Whether the log says that no sentinel answers. */
  #isSilenceLogged = false
  #pending: Promise<void> | undefined

  constructor(address: SentinelAddress, options: SentinelOptions) {
    const { timeout } = options
    this.#options = options
    this.#address = address
    const onEvent = () => {
      // Answers that are under way may be older than the event.
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

  /** Sends commands only while the sentinels name the server, and returns the replies only if they still do. */
  async send(commands: readonly Command[]): Promise<readonly Reply[]> {
    if (!this.#isValid) await this.#makeSure()
    const server = this.#used
    const replies = await this.#connection.send(commands)
    // If this process was stopped, the replies may be of any age.
    if (!this.#isValid) await this.#makeSure()
    if (server !== this.#named) throw this.#cause
    // A primary without replicas may be cut off from the sentinels too.
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

  /** @returns the URL of the primary. @throws {Error} if the sentinels name none. */
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
      this.#goOn(answers.length > 0 ? 'the sentinels that reply were cut off' : noReply(failures))
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

  /** Without answers that count, keeps using an existing connection, and makes no new one. */
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

/** Asks all sentinels. Waits for those that answered the last question in time, or for all if none did. */
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
 * Returns the server that sentinels with the highest epoch name, because sentinels agree in that way. If they name
 * several, the one that most of them name counts, or else the one before.
 *
 * If most of all sentinels cannot reach the server, or one has been told to replace it, changes that it accepts will be
 * lost.
 *
 * A minority that answers with a lower epoch than the known one has been cut off, and names a former primary. A majority
 * with a lower epoch has been set up again.
 * @param count number of all sentinels.
 * @returns `undefined` if no answer counts.
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
