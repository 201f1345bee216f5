/** Tracks which items must exist according to the responses, and checks that the service has them to the byte. */

import { type Act, Finding } from './acts.js'

/** The text of an item after its id; `undefined` if there is no item. */
type Tail = string | undefined

/** The items of one service, across all conversations. */
export class Ledger {
  /** The existing items, in the order of creation. */
  readonly items = new Map<string, string>()
  /** Ids of some that were deleted. */
  readonly deleted: string[] = []

  /**
   * Compares the responses with the items that must exist, and then adopts the items of the list.
   * @param list the body of a list that was read after the conversation.
   * @throws {Finding} when an item is lost, was changed, or was created by nobody.
   */
  settle(acts: readonly Act[], list: string): void {
    const created = new Map<string, string>()
    for (const act of acts) {
      if (act.request.plan.what === 'create' && act.outcome === 'done') {
        const id = createdId(act)
        if (created.has(id) || this.items.has(id)) throw new Finding(`the id ${id} came twice`)
        created.set(id, act.request.tail ?? '')
      }
    }
    const unknown = acts.flatMap(({ request: { plan, tail }, outcome }) =>
      plan.what === 'create' && outcome === 'unknown' && tail !== undefined ? [tail] : [],
    )
    for (const [place, act] of acts.entries()) this.#check(act, acts, place, created, unknown)
    this.#takeOver(acts, list, created, unknown)
  }

  #check(
    act: Act,
    acts: readonly Act[],
    place: number,
    created: Map<string, string>,
    unknown: readonly string[],
  ): void {
    const { answer, request } = act
    const { what } = request.plan
    const { isHead } = request
    if (answer === undefined || answer.status === 401) return
    const before = acts.slice(0, place).filter(({ connection }) => connection === act.connection)
    const others = acts.filter(({ connection }) => connection !== act.connection)
    const possible = (id: string) => [
      ...(lastWrite(before, id) ?? [this.items.get(id)]),
      ...others.filter((other) => mayWrite(other, id)).map((other) => other.request.tail),
    ]
    if (what === 'list' && answer.status === 200 && !isHead) {
      const there = new Map<string, string>()
      const texts = (id: string) => [...possible(id), created.get(id), ...unknown]
      for (const [id, tail] of itemsOf(answer.body, texts)) there.set(id, tail)
      for (const id of this.items.keys()) {
        if (!possible(id).includes(there.get(id))) throw new Finding(`a list lacks ${id}`)
      }
      for (const other of before) {
        if (other.request.plan.what !== 'create' || other.outcome !== 'done') continue
        if (!there.has(createdId(other)))
          throw new Finding(`a list lacks its own ${createdId(other)}`)
      }
      const known = [...there.keys()].filter((id) => this.items.has(id))
      if (known.join() !== [...this.items.keys()].filter((id) => there.has(id)).join()) {
        throw new Finding('a list is not in the order of creation')
      }
    }
    const { id } = request
    if (id === undefined || ![200, 204, 404].includes(answer.status)) return
    const tails = possible(id)
    const isThere = answer.status !== 404
    if (!tails.some((tail) => (tail !== undefined) === isThere)) {
      throw new Finding(
        `${what} of ${id}: ${answer.status}, but it must ${isThere ? 'not ' : ''}be there`,
      )
    }
    const allowed = what === 'replace' ? [request.tail] : tails
    if (!isThere || isHead || what === 'delete') return
    const status = what === 'replace' ? 'updated' : 'success'
    if (!allowed.some((tail) => isEnvelope(answer.body, status, id, tail))) {
      throw new Finding(
        `${what} of ${id}: ${answer.body.slice(0, 500)}; expected ${allowed.join(' or ').slice(0, 500)}`,
      )
    }
  }

  #takeOver(
    acts: readonly Act[],
    list: string,
    created: Map<string, string>,
    unknown: string[],
  ): void {
    const ends = new Map([...this.items.keys()].map((id) => [id, this.#endsOf(acts, id)]))
    const there = new Map<string, string>()
    for (const [id, tail] of itemsOf(list, (id) => {
      const end = ends.get(id) ?? (created.has(id) ? [created.get(id)] : unknown)
      return end
    })) {
      if (!ends.has(id) && !created.has(id)) unknown.splice(unknown.indexOf(tail), 1)
      there.set(id, tail)
    }
    for (const [id, tails] of ends) {
      if (!there.has(id) && !tails.includes(undefined)) throw new Finding(`${id} is lost`)
      if (!there.has(id)) this.deleted.push(id)
    }
    for (const id of created.keys()) {
      if (!there.has(id)) throw new Finding(`${id} is lost, just created`)
    }
    this.items.clear()
    for (const [id, tail] of there) this.items.set(id, tail)
    this.deleted.splice(0, this.deleted.length - 20)
  }

  /** Returns the possible texts of an item after the conversation. */
  #endsOf(acts: readonly Act[], id: string): Tail[] {
    const writes = acts.filter((act) => mayWrite(act, id))
    const deletes = writes.filter(
      ({ request, outcome }) => request.plan.what === 'delete' && outcome === 'done',
    )
    if (deletes.length > 1) throw new Finding(`${id} was deleted twice`)
    if (deletes.length === 1) return [undefined]
    const connections = new Set(writes.map(({ connection }) => connection))
    const last = [...connections].flatMap((connection) => {
      const own = writes.filter((act) => act.connection === connection)
      return lastWrite(own, id) ?? []
    })
    const open = writes.filter(({ outcome }) => outcome === 'unknown')
    return [
      ...(last.length === 0 ? [this.items.get(id)] : last),
      ...open.map(({ request }) => request.tail),
    ]
  }
}

function mayWrite({ request, outcome }: Act, id: string): boolean {
  const { what } = request.plan
  return request.id === id && outcome !== 'refused' && (what === 'replace' || what === 'delete')
}

/** Returns the text that the last certain write among these acts gave an item. */
function lastWrite(acts: readonly Act[], id: string): [Tail] | undefined {
  const last = acts.findLast((act) => mayWrite(act, id) && act.outcome === 'done')
  return last === undefined ? undefined : [last.request.tail]
}

function createdId({ answer, request: { tail } }: Act): string {
  const id =
    /^\{"session_id":"[^"]*","status":"created","message":"[^"]*","data":\{"id":"([^"]*)/.exec(
      answer?.body ?? '',
    )?.[1]
  if (id === undefined || !isEnvelope(answer?.body ?? '', 'created', id, tail)) {
    throw new Finding(
      `a create is answered with ${answer?.body.slice(0, 500)}; expected ${tail?.slice(0, 500)}`,
    )
  }
  if (!answer?.head.includes(`\r\nLocation: /api/v1/items/${id}\r\n`)) {
    throw new Finding(`the create of ${id} has another Location`)
  }
  return id
}

function isEnvelope(body: string, status: string, id: string, tail: Tail): boolean {
  const start = body.indexOf(`"status":"${status}","message":"Item `)
  const data = body.indexOf('","data":', start)
  return start > 0 && tail !== undefined && body.slice(data + 9) === `{"id":"${id}${tail}}`
}

/**
 * Finds the items of a list without parsing them.
 * @param texts returns the possible texts after an id.
 */
function* itemsOf(
  body: string,
  texts: (id: string) => readonly Tail[],
): Generator<[string, string]> {
  const seen = new Set<string>()
  const opening = '"data":['
  let at = body.indexOf(opening) + opening.length
  while (!body.startsWith(']}', at)) {
    const id = body.slice(at + '{"id":"'.length, at + 43)
    const rest = at + 43
    const tail = texts(id).find((text) => text !== undefined && body.startsWith(text, rest))
    if (tail === undefined) {
      throw new Finding(
        `a list has at ${at} of ${body.length}: ${body.slice(at, at + 500)}; expected ${texts(id).join(' or ').slice(0, 500)}`,
      )
    }
    if (seen.has(id)) throw new Finding(`a list has ${id} twice`)
    seen.add(id)
    yield [id, tail]
    at = rest + tail.length
    if (body[at] === ',') at += 1
  }
  if (at + 2 !== body.length) throw new Finding('a list goes on after its end')
}
