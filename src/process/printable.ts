/** Texts from elsewhere, for people to read. @module */

/**
 * Escapes every character that a terminal or a viewer would act on instead of showing it, line breaks too, and those
 * that no XML may contain.
 */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\ufffe\uffff]/gu, (character) => {
    return `\\u{${character.codePointAt(0)?.toString(16)}}`
  })
}
