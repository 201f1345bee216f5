/** Tracks which items must exist according to the responses, and compares them with a list. */

import type { Act } from './acts.js'

type Tail = string | undefined // text of an item after its id; `undefined` if it doesn't exist
/** For each id, the texts that the item may have now. A change with an unknown outcome adds one. */
type Possible = Map<string, readonly Tail[]>

/** A client's requests in order, and the ids of items that no other client changes. */
export interface Client {
  readonly ids: readonly string[]
  readonly acts: readonly Act[]
}

export class Ledger {
  readonly items = new Map<string, string>() // texts after the ids, in order of creation
  readonly deleted: string[] = []

  /** @throws {Error} if an item is missing from the list, or if the list has a changed or unknown item. */
  settle(clients: readonly Client[], list: string): void {
    const all: Possible = new Map([...this.items].map(([id, tail]) => [id, [tail]]))
    const unknown: string[] = [] // texts of items that may have been created
    const known = new Set(this.items.keys())
    for (const { ids, acts } of clients) {
      const own: Possible = new Map(ids.map((id) => [id, [this.items.get(id)]]))
      for (const act of acts) this.#follow(act, own, unknown)
      for (const [id, tails] of own) {
        if (!ids.includes(id) && known.has(id)) throw new Error(`the id ${id} was assigned twice`)
        known.add(id)
        all.set(id, tails)
      }
    }
    this.#checkList(list, all)
    const now = new Map<string, string>()
    for (const id of idsIn(list)) {
      const tails = all.get(id) ?? unknown
      const tail = tails.find((each) => each !== undefined && list.includes(textOf(id, each)))
      if (tail === undefined) throw new Error(`the list has ${id}, which no client has created`)
      if (tails === unknown) unknown.splice(unknown.indexOf(tail), 1)
      now.set(id, tail)
    }
    const texts = [...now].map(([id, tail]) => textOf(id, tail))
    if (!list.endsWith(`"data":[${texts}]}`)) throw new Error('the list has more than its items')
    this.deleted.push(...[...this.items.keys()].filter((id) => !now.has(id)))
    this.deleted.splice(0, this.deleted.length - 20)
    this.items.clear()
    for (const [id, tail] of now) this.items.set(id, tail)
  }

  /** @throws {Error} if the outcome contradicts every text that the item may have. */
  #follow(act: Act, own: Possible, unknown: string[]): void {
    const { answer, outcome, request } = act
    const { id, tail, isHead, plan } = request
    if (plan.what === 'create') {
      if (outcome === 'done') own.set(createdId(act), [tail])
      else if (outcome === 'unknown' && tail !== undefined) unknown.push(tail)
    }
    if (plan.what === 'list' && outcome === 'done' && !isHead) {
      this.#checkList(answer?.body ?? '', own)
    }
    if (id === undefined) return
    const before = own.get(id) ?? [undefined]
    const written = plan.what === 'read' ? before : [tail]
    if (outcome === 'unknown') own.set(id, [...before, ...written])
    if (answer === undefined || ![200, 204, 404].includes(answer.status)) return
    const isThere = answer.status !== 404
    let tails: readonly Tail[] = before.filter((each) => (each !== undefined) === isThere)
    if (tails.length > 0 && isThere) tails = plan.what === 'read' ? tails : written
    if (answer.status === 200 && !isHead) {
      const status = plan.what === 'read' ? 'success' : 'updated'
      tails = tails.filter((each) => isEnvelope(answer.body, status, id, each))
    }
    if (tails.length === 0) {
      const texts = before.map((each) => each?.slice(0, 500)).join(' or ')
      const given = `${answer.status} ${answer.body.slice(0, 500)}`
      throw new Error(`${plan.what} of ${id}: ${given}; it was ${texts}`)
    }
    own.set(id, tails)
  }

  #checkList(list: string, possible: Possible): void {
    for (const [id, tails] of possible) {
      const isRight = tails.some((tail) => tail !== undefined && list.includes(textOf(id, tail)))
      const mayLack = tails.includes(undefined) && !list.includes(`{"id":"${id}"`)
      if (!isRight && !mayLack) throw new Error(`a list lacks ${id} or has another text for it`)
    }
    const ids = idsIn(list)
    if (new Set(ids).size < ids.length) throw new Error('a list has an item twice')
    const inOrder = [...this.items.keys()].filter((id) => ids.includes(id))
    if (ids.filter((id) => this.items.has(id)).join() !== inOrder.join()) {
      throw new Error('a list is not in the order of creation')
    }
  }
}

function idsIn(list: string): string[] {
  return [...list.matchAll(/\{"id":"([0-9a-f-]{36})","project_id":/g)].map(([, id = '']) => id)
}

function textOf(id: string, tail: string): string {
  return `{"id":"${id}${tail}`
}

function createdId({ answer, request: { tail } }: Act): string {
  const { head = '', body = '' } = answer ?? {}
  const [id = ''] = idsIn(body)
  if (!isEnvelope(body, 'created', id, tail)) {
    const texts = `${body.slice(0, 500)}; expected ${tail?.slice(0, 500)}`
    throw new Error(`the response to a create is ${texts}`)
  }
  if (!head.includes(`\r\nLocation: /api/v1/items/${id}\r\n`)) {
    throw new Error(`the create of ${id} has another Location`)
  }
  return id
}

function isEnvelope(body: string, status: string, id: string, tail: Tail): boolean {
  const start = body.indexOf(`"status":"${status}","message":"Item `)
  const data = body.indexOf('","data":', start)
  return start > 0 && tail !== undefined && body.slice(data + 9) === `${textOf(id, tail)}}`
}
