/**
 * Which rows of a long list, and which of many columns, are rendered. All rows have the same height, so a division
 * is enough.
 *
 * @module
 */

export interface Range {
  readonly first: number
  /** After the last one. */
  readonly end: number
}

/** How many are added and removed at a time, so that not every scroll event renders. */
const block = 8
/** How many are rendered beyond the visible ones, so that fast scrolling shows no gaps. */
const rowMargin = 16
const columnMargin = 2

/** The tallest element that all browsers can lay out and scroll through, in CSS pixels; Firefox's limit is the lowest. */
const tallest = 16_000_000

/** How many rows can be reached by scrolling; a search finds the others. */
export function reachableRows(rowHeight: number): number {
  return Math.floor(tallest / rowHeight)
}

/** @param top how far the list is scrolled, @param height of its visible part; all in CSS pixels. */
export function rowsAt(top: number, height: number, rowHeight: number, count: number): Range {
  const end = Math.ceil((top + height) / rowHeight)
  return inBlocks(Math.floor(top / rowHeight) - rowMargin, end + rowMargin, count)
}

/** The same for columns between two distances from the left. @param ends where each of them ends. */
export function columnsAt(left: number, right: number, ends: readonly number[]): Range {
  const columnAt = (place: number) => ends.filter((end) => end <= place).length
  return inBlocks(columnAt(left) - columnMargin, columnAt(right) + 1 + columnMargin, ends.length)
}

function inBlocks(first: number, end: number, count: number): Range {
  const toBlock = (place: number) => Math.floor(place / block) * block
  return {
    first: Math.max(0, Math.min(toBlock(first), count)),
    end: Math.max(0, Math.min(toBlock(end) + block, count)),
  }
}

/** Where to scroll to, as little as possible, so that a row is visible. */
export function topFor(row: number, top: number, height: number, rowHeight: number): number {
  const start = row * rowHeight
  return Math.min(start, Math.max(top, start + rowHeight - height))
}
