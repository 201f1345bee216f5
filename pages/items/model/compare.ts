/** Compares two values of the same type. Numbers of any length are compared exactly. @module */

const collator = new Intl.Collator('en')

export function compareCharacters(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}

export function compareWords(one: string, other: string): number {
  return collator.compare(one, other) || compareCharacters(one, other)
}

export function compareNumbers(one: string, other: string): number {
  const [a, b] = [decimalOf(one), decimalOf(other)]
  if (a.sign !== b.sign) return a.sign - b.sign
  if (a.exponent !== b.exponent) return a.exponent < b.exponent ? -a.sign : a.sign
  return a.digits === b.digits ? 0 : a.digits < b.digits ? -a.sign : a.sign
}

/** Parses a number into sign × 0.digits × 10 ^ exponent. The digits neither begin nor end with zeros. */
function decimalOf(text: string) {
  const isNegative = text.startsWith('-')
  const [mantissa = '', power = '0'] = text.slice(isNegative ? 1 : 0).split(/[eE]/)
  const [whole = '', fraction = ''] = mantissa.split('.')
  const all = whole + fraction
  let end = all.length
  while (all[end - 1] === '0') end -= 1
  const written = all.slice(0, end)
  const digits = written.replace(/^0+/, '')
  if (digits === '') return { sign: 0, exponent: 0n, digits }
  const shift = whole.length - (written.length - digits.length)
  // `BigInt` rejects a plus sign. An exponent can have any number of digits.
  const exponent = BigInt(power.replace('+', '')) + BigInt(shift)
  return { sign: isNegative ? -1 : 1, exponent, digits }
}
