/** What a hash of items has: a field for each item, with its text, and the field `bytes`. @module */

import { bytesField } from './scripts.js'

const itemStart = '{"id":"'
const idLength = 36
const closeBrace = 0x7d

/** The field `bytes`. @param entries fields and their values in turn. */
export function bytesIn(entries: readonly Buffer[]): Buffer | undefined {
  for (let place = 0; place < entries.length; place += 2) {
    if (isBytesField(entries[place])) return entries[place + 1]
  }
  return undefined
}

/**
 * The texts of items.
 * @param entries fields and their values in turn.
 * @param seen ids of items to leave out, to which these are added.
 */
export function textsIn(entries: readonly Buffer[], seen?: Set<string>): Buffer[] {
  const texts: Buffer[] = []
  for (let place = 0; place < entries.length; place += 2) {
    const [field, text] = [entries[place], entries[place + 1]]
    if (field === undefined || text === undefined || isBytesField(field)) continue
    const id = seen && field.toString('latin1')
    if (id !== undefined && seen?.has(id)) continue
    if (id !== undefined) seen?.add(id)
    texts.push(text)
  }
  return texts
}

/** The first field that is neither an item's nor `bytes`. */
export function unexpectedFieldIn(entries: readonly Buffer[]): Buffer | undefined {
  for (let place = 0; place < entries.length; place += 2) {
    const [field, text] = [entries[place], entries[place + 1]]
    if (field === undefined || text === undefined) return undefined
    if (!isBytesField(field) && !isItem(field.toString('latin1'), text)) return field
  }
  return undefined
}

/** Whether the text begins with the id, as `{"id":"…"`, and ends like an object. */
export function isItem(id: string, text: Buffer): boolean {
  return (
    id.length === idLength &&
    text.length > itemStart.length + idLength + 1 &&
    text.toString('latin1', 0, itemStart.length + idLength) === itemStart + id &&
    text[text.length - 1] === closeBrace
  )
}

function isBytesField(field: Buffer | undefined): boolean {
  return field?.length === bytesField.length && field.toString('latin1') === bytesField
}

/** Texts, each after a comma, in memory of their own: a slice of Node's pool would hold all of the pool. */
export function joined(texts: readonly Buffer[]): Buffer {
  const length = texts.reduce((sum, text) => sum + 1 + text.length, 0)
  const whole = Buffer.allocUnsafeSlow(length)
  let end = 0
  for (const text of texts) {
    end += whole.write(',', end)
    end += text.copy(whole, end)
  }
  return whole
}
