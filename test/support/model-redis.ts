/** A small model of a Redis server in this process. A scheduler orders its steps, and its replies may be lost. */

import assert from 'node:assert/strict'
import { pino } from 'pino'
import { scripts } from '../../src/store/redis/bucket.js'
import type { Command, RedisValue, Reply, Servers } from '../../src/store/redis/client.js'
import { NotConnectedError, TimeoutError } from '../../src/store/redis/errors.js'
import { openRedisStore } from '../../src/store/redis/store.js'

/** What happens to a command: it is executed and answered, not sent, executed without an answer, or executed later. */
export type Fate = 'passed' | 'unsent' | 'lost' | 'late'

interface Steps {
  /** Resolves when the scheduler chooses to take the next step. */
  step(label: string): Promise<unknown>
  fate(): Fate
  /** Resolves when a store is to poll for changes again. */
  pause(): Promise<unknown>
}

const [prefix, buckets] = ['m:', 2]
const log = pino({ level: 'silent' })
const servers = [0, 1].map(() => ({ isReady: () => true }))
const failures = {
  unsent: new NotConnectedError(new Error('the model')),
  lost: new TimeoutError('lost'),
  late: new TimeoutError('late'),
}

export class ModelRedis {
  readonly #hashes = new Map<string, Map<string, string>>()
  readonly #numbers = new Set<string>()
  readonly #steps: Steps
  readonly #isCluster: boolean

  constructor(steps: Steps, isCluster: boolean) {
    this.#steps = steps
    this.#isCluster = isCluster
  }

  open(maxCachedBytes: number) {
    const own: Servers = {
      firstAttempt: Promise.resolve(),
      isReady: () => true,
      hasRoom: () => true,
      send: (commands) => this.#send(commands),
      ...(this.#isCluster && { serverOf: (key) => servers[key.includes('{1}') ? 1 : 0] }),
      close() {},
    }
    const { pause } = this.#steps
    const options = { url: '', prefix, buckets, maxCachedBytes, timeout: 1000, log, pause }
    return openRedisStore(options, () => own)
  }

  /** Texts of all items, sorted. */
  items(): string[] {
    const values = [...this.#hashes.values()].flatMap((hash) => [...hash.values()])
    return values.filter((value) => value.startsWith('{')).sort()
  }

  async #send(commands: readonly Command[]): Promise<readonly Reply[]> {
    const { step, fate } = this.#steps
    const replies: Reply[] = []
    for (const { parts } of commands) {
      const [name = '', ...args] = parts.map(String)
      const its = fate()
      if (its === 'late') void step(`${name}, late`).then(() => this.#run(name, args))
      else if (its !== 'unsent') await step(name)
      const value = its === 'passed' || its === 'lost' ? this.#run(name, args) : null
      if (its !== 'passed' && !this.#isCluster) throw failures[its]
      replies.push(its === 'passed' ? { value, client: this } : failures[its])
    }
    await step('replies')
    return replies
  }

  #hash(key: string): Map<string, string> {
    return this.#hashes.get(key) ?? new Map()
  }

  #set(key: string, ...fields: string[]): void {
    const hash = this.#hash(key)
    for (let at = 0; at < fields.length; at += 2) hash.set(fields[at] ?? '', fields[at + 1] ?? '')
    this.#hashes.set(key, hash)
  }

  #run(name: string, [key = '', ...args]: string[]): RedisValue {
    const hash = this.#hash(key)
    switch (name) {
      case 'HGET':
        return bulk(hash.get(args[0] ?? ''))
      case 'HMGET':
        return args.map((field) => bulk(hash.get(field)))
      case 'HLEN':
        return hash.size
      case 'HSCAN':
        return [Buffer.from('0'), [...hash].flat().map(bulk)]
      case 'ZADD':
        for (const number of args) this.#numbers.add(number)
        return 0
      case 'SORT':
        return this.#sorted(args.filter((_, place) => args[place - 1] === 'GET'))
      case 'EVAL': {
        const [, record = '', count = '', format = ''] = args
        this.#set(record, 'buckets', count, 'format', format)
        return [bulk(count), bulk(format)]
      }
      default:
        return this.#evaluate(key, args)
    }
  }

  #sorted(patterns: string[]): RedisValue {
    return [...this.#numbers].flatMap((number) =>
      patterns.map((pattern) => {
        const [key = '', field = ''] = pattern.replace('*', number).split('->')
        return bulk(pattern === '#' ? number : this.#hash(key).get(field))
      }),
    )
  }

  /** Does what the scripts in src/store/redis/bucket.ts do. */
  #evaluate(digest: string, [count = '', ...rest]: string[]): RedisValue {
    const [key = ''] = rest
    const [id = '', kind, text = '', , time, digits] = rest.slice(Number(count))
    const hash = this.#hash(key)
    const [bytes = 0, items = 0, last = 0] = (hash.get('bytes') ?? '0 0 0-')
      .split(/[ -]/)
      .map(Number)
    const old = hash.get(id) ?? ''
    assert.equal(digest, scripts.change.digest)
    if ((kind === 'create') !== (old === '')) return 0
    const version = `${Math.max(last + 1, Number(time))}${digits}`
    const [from, to] = [projectIn(old), projectIn(text)]
    for (const project of new Set([from, to])) {
      if (project === undefined) continue
      const number = Number.parseInt(hash.get(`:${project}`) ?? '0', 10)
      const change = Number(project === to) - Number(project === from)
      this.#set(key, `:${project}`, `${number + change} ${version}`)
    }
    const number = items + Number(kind === 'create') - Number(kind === 'delete')
    this.#set(key, 'bytes', `${bytes + text.length - old.length} ${number} ${version}`)
    if (kind === 'delete') hash.delete(id)
    else this.#set(key, id, text)
    return from === undefined ? 1 : [1, bulk(from)]
  }
}

function projectIn(text: string): string | undefined {
  return /"project_id":"(.*?)"/.exec(text)?.[1]
}

function bulk(value: string | undefined): Buffer | null {
  return value === undefined ? null : Buffer.from(value)
}
