/** Formats numbers for display. @module */

const format = new Intl.NumberFormat('en')

/** Formats a number with thousands separators, such as `100,000`. */
export function formatted(count: number): string {
  return format.format(count)
}

/** Returns a number with a noun, such as `1 item` or `100,000 items`. */
export function counted(count: number, thing: string): string {
  return `${formatted(count)} ${thing}${count === 1 ? '' : 's'}`
}
