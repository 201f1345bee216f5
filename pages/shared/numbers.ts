/** Numbers as text. @module */

const format = new Intl.NumberFormat('en')

/** `100,000`. */
export function formatted(count: number): string {
  return format.format(count)
}

/** `1 item`, `100,000 items`. */
export function counted(count: number, thing: string): string {
  return `${formatted(count)} ${thing}${count === 1 ? '' : 's'}`
}
