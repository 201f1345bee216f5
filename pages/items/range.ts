/** Decides which rows and columns of a large table are rendered. All rows are the same height. @module */

/** Rows or columns to render: index of the first one, and index after the last one. */
export type Range = ReturnType<typeof inBlocks>

/** Number of rows or columns that are rendered together, so that not every scroll event causes rendering. */
const block = 4
/** Numbers of rows and columns rendered on either side of the visible ones, so that fast scrolling shows no gaps. */
const rowMargin = 12
const columnMargin = 2

/** Height of the tallest element that all browsers can scroll, in CSS pixels. Firefox has the lowest limit. */
const tallest = 16_000_000

/** Returns the number of rows that the user can reach by scrolling. Only searching finds the rows after these. */
export function reachableRows(rowHeight: number): number {
  return Math.floor(tallest / rowHeight)
}

/** Returns the rows to render. @param top scroll position of the table. @param height visible height of the table. */
export function rowsAt(top: number, height: number, rowHeight: number, count: number) {
  const end = Math.ceil((top + height) / rowHeight)
  return inBlocks(Math.floor(top / rowHeight) - rowMargin, end + rowMargin, count)
}

/** Returns the columns to render if those from `left` to `right` are visible. @param ends right edge of each column. */
export function columnsAt(left: number, right: number, ends: readonly number[]) {
  const columnAt = (place: number) => ends.filter((end) => end <= place).length
  return inBlocks(columnAt(left) - columnMargin, columnAt(right) + 1 + columnMargin, ends.length)
}

function inBlocks(first: number, end: number, count: number) {
  const toBlock = (place: number) => Math.floor(place / block) * block
  return {
    first: Math.max(0, Math.min(toBlock(first), count)),
    end: Math.max(0, Math.min(toBlock(end) + block, count)),
  }
}

/** Returns the scroll position nearest to `top` at which a row is visible, in CSS pixels. */
export function topFor(row: number, top: number, height: number, rowHeight: number): number {
  const start = row * rowHeight
  return Math.min(start, Math.max(top, start + rowHeight - height))
}
