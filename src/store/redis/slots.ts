/** The slots of a cluster: those of keys, and the table of which master has which slot. @module */

import type { RedisValue } from './client.js'
import { pauseAfter } from './connection.js'
import { errorReplyOf } from './errors.js'

const slotCount = 16_384

/** Returns the slot of a key as servers compute it: CRC-16/XMODEM of the text in its first braces. */
export function slotOf(key: string): number {
  const [, tag] = /^[^{]*\{([^}]+)\}/.exec(key) ?? []
  let sum = 0
  for (const byte of Buffer.from(tag ?? key)) {
    sum ^= byte << 8
    for (let bit = 0; bit < 8; bit += 1) sum = sum & 0x8000 ? (sum << 1) ^ 0x1021 : sum << 1
    sum &= 0xffff
  }
  return sum % slotCount
}

/**
 * Returns host and port of the master of each slot. Slots without a master are left out.
 * @param reply to CLUSTER SLOTS: for each range of slots its first, its last, and its servers, the master first.
 * @param sender host and port of the server that replied; where it leaves a host out, it means its own.
 */
export function mastersOf(reply: RedisValue, sender: string): Map<number, string> {
  const masters = new Map<number, string>()
  for (const range of listIn(reply)) {
    const [first, last, master] = listIn(range)
    const [host, port] = listIn(master)
    const address = addressOf(String(host ?? ''), String(port), sender)
    for (let slot = Number(first); slot <= Number(last); slot += 1) masters.set(slot, address)
  }
  return masters
}

/** The server to which another server redirects a command. */
export interface Redirection {
  /** Host and port. */
  readonly address: string
  /** Whether it has this key alone, and requires ASKING: the slot is being moved key by key. */
  readonly isAsk: boolean
}

/** @param sender host and port of the server that replied with the error. */
export function redirectionOf(error: unknown, sender: string): Redirection | undefined {
  const [, kind, host, port] = /^(MOVED|ASK) \d+ (\S*):(\d+)$/.exec(errorReplyOf(error) ?? '') ?? []
  if (host === undefined || port === undefined) return undefined
  return { address: addressOf(host, port, sender), isAsk: kind === 'ASK' }
}

function addressOf(host: string, port: string, sender: string): string {
  if (host === '') return sender.replace(/(:\d+)?$/, `:${port}`)
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

function listIn(value: RedisValue | undefined): RedisValue[] {
  return Array.isArray(value) ? value : []
}

interface SlotTableOptions {
  /**
   * Asks servers for the masters by slot.
   * @param isByHosts whether to ask the hosts of the URL rather than the known masters.
   * @throws {Error} if no server replies.
   */
  readonly read: (isByHosts: boolean) => Promise<Map<number, string>>
  /** Connects to masters before they are used, so that a slot that has moved is served at once. */
  readonly connect: (masters: ReadonlySet<string>) => Promise<unknown>
  /** Called once the masters are used. */
  readonly onAdopted: (masters: ReadonlySet<string>) => void
  /** Called when every slot has a master. */
  readonly onComplete: () => void
  readonly onFailure: (error: unknown) => void
  readonly signal: AbortSignal
}

/** Which master has which slot. The table is read at first, and again whenever it is outdated, until the signal. */
export class SlotTable {
  /** Resolves once the first attempt to read the table has succeeded or failed; there will be others. */
  readonly firstAttempt: Promise<void>
  readonly #options: SlotTableOptions
  /** Slots by key: computing one takes 0.3 µs. */
  readonly #slots = new Map<string, number>()
  /** Host and port of the master of each slot that has one. */
  #masters = new Map<number, string>()
  /** Why the table could not be read last; `undefined` if it was. */
  #cause: unknown
  /** Counts the events that have made the table outdated, and how many of them the last reading has seen. */
  #events = { known: 1, read: 0 }
  /** Ends the wait until the table is outdated. */
  #wake = () => {}
  /** Called after the next attempt to read the table. */
  #awaitingAttempt: (() => void)[] = []

  constructor(options: SlotTableOptions) {
    this.#options = options
    this.firstAttempt = this.#nextAttempt()
    options.signal.addEventListener('abort', () => this.#wake())
    void this.#stayCurrent()
  }

  get isComplete(): boolean {
    return this.#masters.size === slotCount
  }

  get cause(): unknown {
    return this.#cause
  }

  /** Returns host and port of the master that has the key. */
  masterOf(key: string): string | undefined {
    return this.#masters.get(this.#slotOf(key))
  }

  /** Enters the master to which a server has redirected. Other slots have moved as well. */
  correct(key: string, master: string): void {
    this.#masters.set(this.#slotOf(key), master)
    this.markOutdated()
  }

  markOutdated(): void {
    this.#events.known += 1
    this.#wake()
  }

  /** Waits until the table is up to date, or cannot be read. */
  async untilRead(): Promise<void> {
    const { known } = this.#events
    while (this.#events.read < known && this.#cause === undefined) await this.#nextAttempt()
  }

  #slotOf(key: string): number {
    const slot = this.#slots.get(key) ?? slotOf(key)
    this.#slots.set(key, slot)
    return slot
  }

  #nextAttempt(): Promise<void> {
    return new Promise((resolve) => this.#awaitingAttempt.push(resolve))
  }

  async #stayCurrent(): Promise<void> {
    const { signal, onComplete, onFailure } = this.#options
    for (let failures = 0; !signal.aborted; ) {
      const { known } = this.#events
      try {
        await this.#read(failures % 2 === 1)
        this.#events.read = known
        this.#cause = undefined
        onComplete()
        failures = 0
      } catch (error) {
        this.#cause = error
        failures += 1
        if (!signal.aborted) onFailure(error)
      }
      for (const resolve of this.#awaitingAttempt.splice(0)) resolve()
      const isWoken = new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      const isOutdated = this.#events.read < this.#events.known
      if (!isOutdated && !signal.aborted) await isWoken
      await pauseAfter(failures, signal)
    }
    for (const resolve of this.#awaitingAttempt.splice(0)) resolve()
  }

  /** @throws {Error} if no server replies, or some slot has no master. */
  async #read(isByHosts: boolean): Promise<void> {
    const masters = await this.#options.read(isByHosts)
    // A server that has left the cluster knows fewer masters.
    if (masters.size >= this.#masters.size) {
      const addresses = new Set(masters.values())
      await this.#options.connect(addresses)
      this.#masters = masters
      this.#options.onAdopted(addresses)
    }
    const missing = slotCount - masters.size
    if (missing > 0) throw new Error(`${missing} of ${slotCount} slots have no server`)
  }
}
