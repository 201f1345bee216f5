/** The load of the scale run: creates, lists, churns and deletes, and reports how long it took. */

import { setPriority } from 'node:os'
import { rawRequest, readList, sendAll } from '../lib/client.mjs'
import { anyId, itemBytes, requestText } from '../lib/item.mjs'
import { createdId, interfaceRequests } from '../peers/interface.mjs'
import { answerWith, workerArguments } from './worker.mjs'

const connections = 16
/** Items that stay unchanged while the others churn, for the probe to read. */
const keptItems = 1000
/** Lengths of the items that churn, in bytes: on average as long as the others. */
const churnBytes = { minimum: itemBytes - 50, maximum: itemBytes + 50 }

// The probe runs on the same core and must not wait for this process.
setPriority(10)

const { port, headers } = workerArguments()
const listText = rawRequest({ ...interfaceRequests.list(), headers })
const deleteText = cut(interfaceRequests.delete())
const replaceTexts = new Map()
const createTexts = new Map()
let kept = []
let ids = []

answerWith({
  /** Creates `count` more items. Returns the seconds it took, and ids for the probe. */
  async create(count) {
    const created = []
    const seconds = await timed(() =>
      repeat(count, () => createOne(itemBytes, (id) => created.push(id))),
    )
    const step = Math.max(2, Math.ceil(created.length / keptItems))
    kept = kept.concat(created.filter((_, index) => index % step === 0))
    ids = ids.concat(created.filter((_, index) => index % step !== 0))
    return { seconds, kept }
  },

  /**
   * Replaces and deletes at random, with a create for each delete, for at least this many seconds
   * and until at least this many items are written. Returns the time it took, the items written,
   * and the requests per second.
   */
  async churn({ seconds: minimum, writes }) {
    const following = []
    let sent = 0
    let written = 0
    const deadline = performance.now() + minimum * 1000
    const goesOn = () => written < writes || performance.now() < deadline
    const seconds = await timed(() =>
      sendAll({
        port,
        connections,
        next() {
          const queued = following.pop()
          if (queued === undefined && !goesOn()) return undefined
          sent += 1
          if (queued !== undefined) return queued
          written += 1
          return change(following)
        },
      }),
    )
    return { seconds, written, perSecond: sent / seconds }
  },

  /** One listing of everything, read as fast as it arrives. */
  async list() {
    let bytes = 0
    const seconds = await timed(async () => {
      bytes = await readList(port, listText)
    })
    return { seconds, bytes }
  },

  /** Deletes everything. */
  async clear() {
    const all = [...ids, ...kept]
    ids = []
    kept = []
    let next = 0
    const seconds = await timed(() =>
      repeat(all.length, () => {
        next += 1
        return deleteOne(all[next - 1], () => {})
      }),
    )
    return { perSecond: all.length / seconds }
  },
})

/** One change: takes an item out of the list of ids until its last response has arrived. */
function change(following) {
  const index = Math.floor(Math.random() * ids.length)
  const id = ids[index]
  ids[index] = ids.at(-1)
  ids.pop()
  const bytes =
    churnBytes.minimum + Math.floor(Math.random() * (churnBytes.maximum - churnBytes.minimum + 1))
  if (Math.random() < 0.5) return replaceOne(id, bytes, () => ids.push(id))
  return deleteOne(id, () => following.push(createOne(bytes, (created) => ids.push(created))))
}

function createOne(bytes, then) {
  if (!createTexts.has(bytes)) {
    const request = { ...interfaceRequests.create(), body: requestText(bytes), headers }
    createTexts.set(bytes, rawRequest(request))
  }
  return {
    text: createTexts.get(bytes),
    answered: (status, body) => then(createdId(status, body)),
  }
}

function replaceOne(id, bytes, then) {
  if (!replaceTexts.has(bytes)) {
    const request = { ...interfaceRequests.replace(anyId), body: requestText(bytes) }
    replaceTexts.set(bytes, cut(request))
  }
  const [before, after] = replaceTexts.get(bytes)
  return { text: before + id + after, answered: (status) => expect(status, 200, then) }
}

function deleteOne(id, then) {
  const [before, after] = deleteText
  return { text: before + id + after, answered: (status) => expect(status, 204, then) }
}

function expect(status, expected, then) {
  if (status !== expected) throw new Error(`answered ${status} instead of ${expected}`)
  then()
}

/** The text of a request before and after its id. */
function cut(request) {
  return rawRequest({ ...request, headers }).split(anyId)
}

function repeat(count, makeRequest) {
  let left = count
  return sendAll({
    port,
    connections,
    next() {
      if (left === 0) return undefined
      left -= 1
      return makeRequest()
    },
  })
}

async function timed(action) {
  const started = performance.now()
  await action()
  return (performance.now() - started) / 1000
}
