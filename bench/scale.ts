/**
 * Measures how much memory items, connections and waiting reads take, and how long a read waits while many items
 * change. Linux only. Items have 250 bytes; after the churn, 200 to 300. A read is sent every two milliseconds; the time
 * in parentheses is the longest delay of the reading process itself. Memory is resident memory after some idle seconds.
 */

import { setTimeout as delay } from 'node:timers/promises'
import { residentBytes } from '../test/support/process.js'
import { headerOf } from '../test/support/socket.js'
import { createItem, createItems, inParallel, openConnection } from './lib/connections.js'
import { items } from './lib/options.js'
import { startReading } from './lib/probe.js'
import { kill, pinSelf } from './lib/processes.js'
import { addressed, itemBytes, requests } from './lib/requests.js'
import { count, print, report, table } from './lib/results.js'
import { itemStore, startSide } from './peers/sides.js'

const warmUp = 20_000 // items, so that memory for compiled code doesn't count
const connections = 10_000 // half of them later wait for an item, the others for the list
const openedAtOnce = 100 // many more could overflow the listening socket's queue
const settlingTime = 13_000 // ms; an idle process collects garbage after ten seconds

pinSelf()
const settings = { MAX_CONNECTIONS: String(connections + 1500) }
const { server, programs } = await startSide(itemStore, settings)

await remove(await createItems(server, warmUp))
const [kept = ''] = await createItems(server, 1)
const before = await memory('before')

let ids: string[] = []
const creating = await longestWait(async () => {
  ids = await createItems(server, items)
})
const full = await memory(`${count(items)} items`)
const listing = await longestWait(async () => {
  const { path, headers = {} } = addressed(server, requests.list)
  const { body } = await fetch(`http://127.0.0.1:${server.port}${path}`, { headers })
  await body?.pipeTo(new WritableStream())
})
const churning = await longestWait(() =>
  inParallel(server, items, async (ask) => {
    const place = Math.floor(Math.random() * items)
    const id = ids[place] ?? ''
    const more = Math.floor(Math.random() * 101) - 50
    if (place % 2 === 0) return await ask(requests.replace(id, more))
    ids[place] = await createItem(ask, more)
    await ask(requests.remove(id))
  }),
)
const afterChurn = await memory('after churn')

const waits: (() => Promise<{ status: number }>)[] = []
const closes: (() => void)[] = []
for (let place = 0; place < connections; place += 1) {
  const { ask, close } = await openConnection(server)
  const read = place % 2 === 0 ? requests.read(ids[place] ?? '') : requests.list
  const { head } = await ask({ ...read, method: 'HEAD' })
  const headers = { 'If-None-Match': headerOf(head, 'etag') ?? '', Prefer: 'wait=60' }
  waits.push(() => ask({ ...read, method: 'HEAD', headers }))
  closes.push(close)
}
const withIdle = await memory(`${count(connections)} idle connections`)
const answered: number[] = []
const answers: Promise<number>[] = []
for (const wait of waits) {
  const answer = wait().then(({ status }) => answered.push(status))
  answer.catch(() => undefined) // some connections close during the wait
  answers.push(answer)
  if (answers.length % openedAtOnce === 0) await delay(openedAtOnce)
}
const withWaiting = await memory(`${count(connections)} waiting reads`)
if (answered.length > 0) throw new Error(`${answered.length} reads got ${[...new Set(answered)]}`)
const waking = await longestWait(async () => {
  await remove(await createItems(server, 1))
  await Promise.all(answers.filter((_, place) => place % 2 === 1))
})
for (const close of closes) close()

await remove([...ids, kept])
const empty = await memory('all deleted')
await kill(programs)

const perItem = (bytes: number) => (bytes / items - itemBytes).toFixed(0)
const perConnection = (bytes: number) => (bytes / connections / 1e3).toFixed(1)
report(
  'Scale',
  [],
  [
    table(
      ['', `${count(items)} items`],
      [
        ['memory of an item beyond its own, bytes', perItem(full - before)],
        ['the same after churn', perItem(afterChurn - before)],
        ['memory left when all items are deleted, MB', ((empty - before) / 1e6).toFixed(0)],
        ['memory of an idle connection, kB', perConnection(withIdle - afterChurn)],
        [
          'memory of a waiting read, with its connection, kB',
          perConnection(withWaiting - afterChurn),
        ],
        ['longest wait of a read while items are created, ms', creating],
        ['longest wait of a read while a list is read, ms', listing],
        ['longest wait of a read while items are replaced and deleted, ms', churning],
        [
          `longest wait of a read while a create answers ${count(connections / 2)} waiting reads, ms`,
          waking,
        ],
      ],
    ),
  ],
)

async function remove(ids: string[]) {
  await inParallel(server, ids.length, (ask, place) => ask(requests.remove(ids[place] ?? '')))
}

/** Returns the resident memory of the service, in bytes. */
async function memory(step: string) {
  await delay(settlingTime)
  const bytes = residentBytes({ child: { pid: programs[0]?.pid } })
  print(`  ${step}: ${count(bytes / 1e6)} MB`)
  return bytes
}

/** Reads one item over and over during an action. @returns the longest wait in ms @throws if a read fails */
async function longestWait(act: () => Promise<void>) {
  const stop = await startReading(server, [requests.read(kept)])
  await act()
  const { longest, ownStall, problem } = await stop()
  if (problem !== undefined) throw new Error(problem)
  return `${longest.toFixed(1)} (${ownStall.toFixed(1)})`
}
