/** Formats numbers for people. @module */

const format = new Intl.NumberFormat('en')

/** Formats a number with thousands separators: `100,000`. */
export function formatted(count: number): string {
  return format.format(count)
}

/** Formats a number with a noun: `1 item`, `100,000 items`. */
export function counted(count: number, thing: string): string {
  return `${formatted(count)} ${thing}${count === 1 ? '' : 's'}`
}
