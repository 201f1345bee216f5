/** Formats numbers for display. @module */

const format = new Intl.NumberFormat('en')

export function formatted(count: number): string {
  return format.format(count)
}

export function counted(count: number, thing: string): string {
  return `${formatted(count)} ${thing}${count === 1 ? '' : 's'}`
}
