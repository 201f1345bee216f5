/** The widths of the columns, from what is in them. @module */

import { useMemo, useRef } from 'preact/hooks'
import { shownName } from './item.js'
import { widest } from './overview.js'

/** Narrowest column, in characters. */
const narrowest = 5
/** Space beside the text of a cell, and for the sign of the order, in characters. */
const space = 4

/** How wide each column is, in characters. None gets narrower, so that little moves under what one reads. */
export function useTracks(
  columns: readonly string[],
  widths: ReadonlyMap<string, number>,
): readonly number[] {
  const widestShown = useRef(new Map<string, number>())
  const tracks = columns.map((name) => {
    const length = Math.max(narrowest, shownName(name).length, widths.get(name) ?? 0)
    const width = Math.max(Math.min(length, widest) + space, widestShown.current.get(name) ?? 0)
    widestShown.current.set(name, width)
    return width
  })
  return useMemo(() => tracks, [tracks.join()])
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0)
}
