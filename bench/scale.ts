/**
 * Measures how much memory items, connections and waiting reads take, and how long a read waits while many items
 * change. Linux only. Items have 250 bytes; after the churn, 200 to 300. A read is sent every two milliseconds; the time
 * in parentheses is the longest delay of the reading process itself. Memory is resident memory after some idle seconds.
 */

import { setTimeout as delay } from 'node:timers/promises'
import { residentBytes } from '../test/support/process.js'
import { newAccess } from './lib/access.js'
import { requests } from './lib/client.js'
import {
  createItem,
  createItems,
  inParallel,
  openConnection,
  openedAtOnce,
  type Server,
} from './lib/connections.js'
import { itemBytes } from './lib/item.js'
import { describeMachine } from './lib/machine.js'
import { integer, readOptions } from './lib/options.js'
import { startReading, type Waits } from './lib/probe.js'
import { cores, kill, pinSelf } from './lib/processes.js'
import { count, print, report, table } from './lib/results.js'
import { itemStore } from './peers/sides.js'

const help = `Usage: npm run bench -- scale [options]   (Linux only)

  --items N,N,...  numbers of items [1000000]; 10,000,000 take 4 GB of memory
`
const options = readOptions(help, { items: { type: 'string', default: '1000000' } })
const fewItems = 100_000 // below, fluctuations of the process's memory hide that of the items
const warmUp = 20_000 // items, so that memory for compiled code doesn't count
const connections = 10_000 // half of them later wait for an item, the others for the list
const settlingTime = 5_000 // milliseconds

const facts = describeMachine()
pinSelf(cores.load)
const results: Awaited<ReturnType<typeof measure>>[] = []
for (const items of options.items.split(',').map((text) => integer('items', text, fewItems))) {
  results.push(await measure(items))
}

type Result = (typeof results)[number]
const row = (name: string, cell: (result: Result) => string) => [name, ...results.map(cell)]
const waitsRow = (name: string, waitsOf: (waits: Result['waits']) => Waits) =>
  row(`longest wait of a read while ${name}, ms`, ({ waits }) => {
    const { longest, ownStall } = waitsOf(waits)
    return `${longest.toFixed(1)} (${ownStall.toFixed(1)})`
  })
report('Scale', facts, [
  table(
    ['', ...results.map(({ items }) => `${count(items)} items`)],
    [
      row('memory of an item beyond its own, bytes', ({ beyond }) => beyond.toFixed(0)),
      row('the same after churn', ({ beyondAfterChurn }) => beyondAfterChurn.toFixed(0)),
      row('memory left when all items are deleted, MB', ({ left }) => (left / 1e6).toFixed(0)),
      row('memory of an idle connection, kB', ({ idle }) => (idle / 1e3).toFixed(1)),
      row('memory of a waiting read, with its connection, kB', ({ waiting }) =>
        (waiting / 1e3).toFixed(1),
      ),
      waitsRow('items are created', ({ creating }) => creating),
      waitsRow('a list is read', ({ listing }) => listing),
      waitsRow('items are replaced and deleted', ({ churning }) => churning),
      waitsRow(`a create answers ${count(connections / 2)} waiting reads`, ({ waking }) => waking),
    ],
  ),
])

/** Returns memory in bytes, and waits in milliseconds. */
async function measure(items: number) {
  const { port, secret, headers } = await newAccess()
  const server = { port, headers }
  const settings = { MAX_CONNECTIONS: String(connections + 1500) }
  const [service] = await itemStore.start({ port, secret, items: 0, settings })
  const memory = async (step: string) => {
    await delay(settlingTime)
    const bytes = residentBytes({ child: { pid: service?.pid } })
    print(`  ${step}: ${count(bytes / 1e6)} MB`)
    return bytes
  }
  const remove = (ids: string[]) =>
    inParallel(server, ids.length, (ask, place) => ask(requests.remove(ids[place] ?? '')))
  try {
    await remove(await createItems(server, warmUp))
    const [kept = ''] = await createItems(server, 1)
    const before = await memory('before')

    let ids: string[] = []
    const creating = await probed(server, kept, async () => {
      ids = await createItems(server, items)
    })
    const full = await memory(`${count(items)} items`)
    const listing = await probed(server, kept, async () => {
      const { body } = await fetch(`http://127.0.0.1:${port}${requests.list().path}`, { headers })
      await body?.pipeTo(new WritableStream())
    })
    const churning = await probed(server, kept, () =>
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

    const all: { close: () => void; wait: () => Promise<{ status: number }> }[] = []
    for (let place = 0; place < connections; place += 1) {
      const { ask, close } = await openConnection(port)
      const each = place % 2 === 0 ? requests.read(ids[place] ?? '') : requests.list()
      const { tag } = await ask({ ...each, method: 'HEAD', headers })
      const conditions = { ...headers, 'If-None-Match': tag, Prefer: 'wait=60' }
      all.push({ close, wait: () => ask({ ...each, method: 'HEAD', headers: conditions }) })
    }
    const withIdle = await memory(`${count(connections)} idle connections`)
    const answered: number[] = []
    const answers: Promise<number>[] = []
    for (const { wait } of all) {
      const answer = wait().then(({ status }) => answered.push(status))
      answer.catch(() => undefined) // some connections close during the wait
      answers.push(answer)
      if (answers.length % openedAtOnce === 0) await delay(openedAtOnce)
    }
    const withWaiting = await memory(`${count(connections)} waiting reads`)
    if (answered.length > 0)
      throw new Error(`${answered.length} reads got ${[...new Set(answered)]}`)
    const waking = await probed(server, kept, async () => {
      await remove(await createItems(server, 1))
      await Promise.all(answers.filter((_, place) => place % 2 === 1))
    })
    for (const { close } of all) close()

    await remove([...ids, kept])
    const empty = await memory('all deleted')
    return {
      items,
      beyond: (full - before) / items - itemBytes,
      beyondAfterChurn: (afterChurn - before) / items - itemBytes,
      left: empty - before,
      idle: (withIdle - afterChurn) / connections,
      waiting: (withWaiting - afterChurn) / connections,
      waits: { creating, listing, churning, waking },
    }
  } finally {
    if (service !== undefined) await kill(service)
  }
}

/** Reads one item over and over during an action. @returns the waits @throws if a read fails */
async function probed(
  { port, headers }: Server,
  id: string,
  act: () => Promise<void>,
): Promise<Waits> {
  const stop = await startReading(port, [{ ...requests.read(id), headers }])
  await act()
  const waits = await stop()
  if (waits.problem !== undefined) throw new Error(waits.problem)
  return waits
}
