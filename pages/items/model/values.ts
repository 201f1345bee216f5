/** The types of JSON values: how each one is recognized, sorted and shown. @module */

interface ValueType {
  readonly name: 'number' | 'string' | 'boolean' | 'nested' | 'null'
  readonly firsts: string // first characters of the JSON text of its values
  readonly blank: string // JSON text of its empty value, for a new item
  readonly look: string // CSS classes of its table cells
  /**
   * Width of a shown value: this fraction of the characters of its JSON text, less the second number. Letters are
   * narrower than digits on average, strings have no quotes, and nested values have a smaller font.
   */
  readonly width: readonly [share: number, less: number]
}

const nullType: ValueType = {
  name: 'null',
  firsts: 'n',
  blank: 'null',
  look: 'null',
  width: [0.88, 1],
}

/** In the order of the sort. */
const valueTypes: readonly ValueType[] = [
  { name: 'number', firsts: '-0123456789', blank: '0', look: 'number', width: [1, 0] },
  { name: 'string', firsts: '"', blank: '""', look: 'string', width: [0.93, 2] },
  { name: 'boolean', firsts: 'f', blank: 'false', look: 'boolean', width: [0.88, 1] },
  { name: 'boolean', firsts: 't', blank: 'false', look: 'boolean on', width: [0.88, 1] },
  { name: 'nested', firsts: '[', blank: '[]', look: 'nested', width: [0.88, 1] },
  { name: 'nested', firsts: '{', blank: '{}', look: 'nested', width: [0.88, 1] },
  nullType,
]

/** @param text of a JSON value, or its beginning. */
export function typeOf(text: string): ValueType {
  return valueTypes.find(({ firsts }) => firsts.includes(text.charAt(0))) ?? nullType
}

export function rankOf(type: ValueType): number {
  return valueTypes.indexOf(type)
}
