/** Names the keys that a person presses, on any keyboard and with any input method. @module */

const composing = 229 // of an input method; Safari also sends it for the Enter that ends the input

/**
 * Returns the name of the pressed key; an empty string while an input method composes text. Caps Lock and Shift do not
 * change a letter. On a keyboard without Latin letters, a letter is named by its place.
 */
export function keyOf({ key, code, isComposing, keyCode }: KeyboardEvent): string {
  if (isComposing || keyCode === composing) return ''
  if (/^[a-z]$/i.test(key)) return key.toLowerCase()
  const isForeign = key.length === 1 && key > '\x7f'
  return isForeign && code.startsWith('Key') ? code.slice(3).toLowerCase() : key
}

export function isCommand({ ctrlKey, metaKey }: KeyboardEvent): boolean {
  return ctrlKey || metaKey
}
