/** A small model of a Redis server in this process. A scheduler orders its steps, and its replies may be lost. */

import assert from 'node:assert/strict'
import { pino } from 'pino'
import { changeScript, noItem } from '../../src/store/redis/bucket.js'
import type { Command, RedisValue, Reply, Servers } from '../../src/store/redis/client.js'
import { NotConnectedError, TimeoutError } from '../../src/store/redis/errors.js'
import { openRedisStore } from '../../src/store/redis/store.js'

/** Fate of a command: executed and answered, not sent, executed without an answer, or executed later. */
export type Fate = 'passed' | 'unsent' | 'lost' | 'late'

interface Steps {
  step(label: string): Promise<unknown> // resolves when the scheduler takes it
  fate(): Fate
  pause(): Promise<unknown> // resolves when a store is to poll again
}

const log = pino({ level: 'silent' })
const nodes = [0, 1].map(() => ({ isReady: () => true }))
const record = { key: 'm:{store}', buckets: 2 }
const failures = {
  unsent: new NotConnectedError(new Error('the model')),
  lost: new TimeoutError('lost'),
  late: new TimeoutError('late'),
}

export function createModelRedis({ step, fate, pause }: Steps, isCluster: boolean) {
  const script = changeScript(isCluster ? undefined : record)
  const hashes = new Map<string, Map<string, string>>()
  const numbers = new Set<string>()
  const hashAt = (key: string) => hashes.get(key) ?? new Map<string, string>()

  function set(key: string, ...fields: string[]): void {
    const hash = hashAt(key)
    for (let at = 0; at < fields.length; at += 2) hash.set(fields[at] ?? '', fields[at + 1] ?? '')
    hashes.set(key, hash)
  }

  async function send(commands: readonly Command[]): Promise<readonly Reply[]> {
    const replies: Reply[] = []
    for (const { parts } of commands) {
      const [name = '', key = '', ...args] = parts.map(String)
      const its = fate()
      if (its === 'late') void step(`${name}, late`).then(() => run(name, key, args))
      else if (its !== 'unsent') await step(name)
      const value = its === 'passed' || its === 'lost' ? run(name, key, args) : null
      if (its !== 'passed' && !isCluster) throw failures[its]
      replies.push(its === 'passed' ? { value, client: hashes } : failures[its])
    }
    await step('replies')
    return replies
  }

  function run(name: string, key: string, args: string[]): RedisValue {
    const hash = hashAt(key)
    if (name === 'HGET') return bulk(hash.get(args[0] ?? ''))
    if (name === 'HMGET') return args.map((field) => bulk(hash.get(field)))
    if (name === 'HLEN') return hash.size
    if (name === 'HSCAN') return [Buffer.from('0'), [...hash].filter(isListed).flat().map(bulk)]
    if (name === 'SORT') return sorted(args.filter((_, place) => args[place - 1] === 'GET'))
    if (name === 'EVALSHA') return change(key, args)
    if (name === 'ZADD') for (const number of args) numbers.add(number)
    if (name !== 'EVAL') return 0
    const [, record = '', count = '', format = ''] = args
    set(record, 'buckets', count, 'format', format)
    return [bulk(count), bulk(format)]
  }

  function sorted(patterns: string[]): RedisValue {
    return [...numbers].flatMap((number) =>
      patterns.map((pattern) => {
        const [key = '', field = ''] = pattern.replace('*', number).split('->')
        return bulk(pattern === '#' ? number : hashAt(key).get(field))
      }),
    )
  }

  function change(digest: string, [, key = '', ...rest]: string[]): RedisValue {
    assert.equal(digest, script.digest)
    const [id = '', text = '', expected, time, digits] = rest
    const hash = hashAt(key)
    const totals = (hash.get('bytes') ?? '0 0 0-').split(/[ -]/).map(Number)
    const [bytes = 0, items = 0, last = 0] = totals
    const old = hash.get(id) ?? ''
    if ((expected === noItem) !== (old === '')) return 0
    const version = `${Math.max(last + 1, Number(time))}${digits}`
    const [from, to] = [projectIn(old), projectIn(text)]
    for (const project of new Set([from, to])) {
      if (project === undefined) continue
      const number = Number.parseInt(hash.get(`:${project}`) ?? '0', 10)
      const added = Number(project === to) - Number(project === from)
      set(key, `:${project}`, `${number + added} ${version}`)
    }
    const number = items + Number(old === '') - Number(text === '')
    set(key, 'bytes', `${bytes + text.length - old.length} ${number} ${version}`)
    if (text === '') hash.delete(id)
    else set(key, id, text)
    return from === undefined || from === to ? 1 : [1, bulk(from)]
  }

  return {
    open(maxCachedBytes: number) {
      const servers: Servers = {
        firstAttempt: Promise.resolve(),
        isReady: () => true,
        hasRoom: () => true,
        send,
        ...(isCluster && { serverOf: (key) => nodes[key.includes('{1}') ? 1 : 0] }),
        close() {},
      }
      const options = { url: '', prefix: 'm:', buckets: 2, timeout: 1000, log, pause }
      return openRedisStore({ ...options, maxCachedBytes }, () => servers)
    },

    items(): string[] {
      const values = [...hashes.values()].flatMap((hash) => [...hash.values()])
      return values.filter((value) => value.startsWith('{')).sort()
    },
  }
}

function isListed([name]: [string, string]): boolean {
  return !name.startsWith(':')
}

function projectIn(text: string): string | undefined {
  return /"project_id":"(.*?)"/.exec(text)?.[1]
}

function bulk(value: string | undefined): Buffer | null {
  return value === undefined ? null : Buffer.from(value)
}
