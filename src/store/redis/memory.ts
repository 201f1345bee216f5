/** What servers say about their memory, of all that hold items together. @module */

import type { StoreSize } from '../item-store.js'
import { infoField } from './client.js'

/** @param infos the reply of each server to `INFO memory`. */
export function memoryIn(infos: readonly string[]): Omit<StoreSize, 'items' | 'itemBytes'> {
  const valuesOf = (name: string) => infos.map((info) => Number(infoField(info, name) ?? 0))
  const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0)
  const memoryBytes = sum(valuesOf('used_memory'))
  const limits = valuesOf('maxmemory') // 0 for none
  const maxBytes = limits.includes(0) ? undefined : sum(limits)
  return { memoryBytes, usedBytes: memoryBytes, maxBytes }
}
