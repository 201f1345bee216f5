/** The types of JSON values: how each one is recognized, sorted and shown. @module */

interface ValueType {
  readonly name: 'number' | 'string' | 'boolean' | 'nested' | 'null'
  /** First characters of the JSON text of its values. */
  readonly firsts: string
  /** JSON text of its empty value, with which a new item starts. */
  readonly blank: string
  /** CSS classes of its table cells. */
  readonly look: string
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

/** All types in the order in which their values are sorted. */
const valueTypes: readonly ValueType[] = [
  { name: 'number', firsts: '-0123456789', blank: '0', look: 'number', width: [1, 0] },
  { name: 'string', firsts: '"', blank: '""', look: 'string', width: [0.93, 2] },
  { name: 'boolean', firsts: 'f', blank: 'false', look: 'boolean', width: [0.88, 1] },
  { name: 'boolean', firsts: 't', blank: 'false', look: 'boolean on', width: [0.88, 1] },
  { name: 'nested', firsts: '[', blank: '[]', look: 'nested', width: [0.88, 1] },
  { name: 'nested', firsts: '{', blank: '{}', look: 'nested', width: [0.88, 1] },
  nullType,
]

/** @param text JSON text of a value, or the beginning of such text. */
export function typeOf(text: string): ValueType {
  return valueTypes.find(({ firsts }) => firsts.includes(text.charAt(0))) ?? nullType
}

/** Returns the place of a type in the sort order. */
export function rankOf(type: ValueType): number {
  return valueTypes.indexOf(type)
}
