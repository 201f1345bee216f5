/** What is found in a JSON text: members of objects, and errors. @module */

/** Position of an object's member in the text, in bytes; ends are exclusive. */
export interface Member {
  /** The name as written between its quotes, including escapes. */
  readonly nameStart: number
  readonly nameEnd: number
  /** Whether the name contains an escape. */
  readonly isEscaped: boolean
  readonly valueStart: number
  readonly valueEnd: number
}

/** A member that is being read. */
export type OpenMember = { -readonly [Field in keyof Member]: Member[Field] }

/** One for each level of objects to visit, and one for the whole text. */
export function openMembers(levels: number): OpenMember[] {
  const open = { nameStart: 0, nameEnd: 0, isEscaped: false, valueStart: 0, valueEnd: 0 }
  return Array.from({ length: levels + 1 }, () => ({ ...open }))
}

/** The one of a level that is visited. */
export function memberAt(members: readonly OpenMember[], depth: number): OpenMember {
  return members[depth] as OpenMember // one for each level
}

/**
 * Called with each member of the outermost object, which has depth 1, and of nested objects, once it has
 * been read: members of a nested object come before the member whose value that object is. The member is
 * valid during the call only.
 */
export type Visit = (member: Member, depth: number) => void

/** The text is not valid JSON: what is wrong, and at which byte. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError'
  readonly offset: number

  constructor(message: string, offset: number) {
    super(message)
    this.offset = offset
  }
}

/** What may be wrong at a byte. */
export const problems = {
  value: 'expected a value',
  name: 'expected a name in double quotes',
  colon: 'expected a colon',
  digit: 'expected a digit',
  quote: 'expected the closing quote of the string',
  control: 'control characters must be escaped',
  escape: 'invalid escape; expected one of \\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX',
  rest: 'unexpected text after the value',
  /** Follows another one. */
  endsHere: ', but the text ends here',
}

/** @param bits the innermost level is the last bit: 1 for an object, 0 for an array. */
export function expectsComma(bits: number): string {
  return `expected a comma or "${(bits & 1) === 1 ? '}' : ']'}"`
}
