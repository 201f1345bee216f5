/** Where bytes stop to be UTF-8 (RFC 3629). @module */

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Position of the first byte that is not UTF-8: the first that decoding and encoding changes. */
export function firstInvalid(bytes: Uint8Array): number {
  return Buffer.from(decoder.decode(bytes)).findIndex((byte, at) => byte !== bytes[at])
}

/** The end of the bytes without a last character that is cut short. */
export function incompleteEnd(bytes: Uint8Array): number {
  for (let length = 1; length < 4 && length <= bytes.length; length += 1) {
    const byte = bytes[bytes.length - length] as number // within the bytes
    if (byte < 0x80) break
    if (byte >= 0xc0) {
      const needed = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
      return length < needed ? bytes.length - length : bytes.length
    }
  }
  return bytes.length
}
