/** What all checks do: read numbers from their options, and say what they found. */

/** @throws {Error} unless the option is a number above 0. */
export function positive(name: string, text: string): number {
  const number = Number(text)
  if (number > 0) return number
  throw new Error(`--${name} is "${text}"; expected a number above 0`)
}

export function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
