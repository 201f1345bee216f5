/** Which compressed form of a file a client takes (RFC 9110 §12.5.3). @module */

/** The content codings that the files of the pages are kept in, the shortest result first. */
const codings = ['br', 'gzip', 'identity'] as const
export type ContentCoding = (typeof codings)[number]

/** Weight of sending a file as it is, where a client says nothing about that: the last choice. */
const unmentioned = 0.0005

/**
 * The coding that the client prefers; of those that it likes equally, the one with the shortest result.
 * @param acceptEncoding the header; without it, or if it allows nothing, nothing is compressed.
 */
export function preferredCoding(acceptEncoding = ''): ContentCoding {
  const weights = weightsIn(acceptEncoding)
  const weightOf = (coding: ContentCoding) =>
    weights.get(coding) ?? weights.get('*') ?? (coding === 'identity' ? unmentioned : 0)
  const [best] = codings
    .filter((coding) => weightOf(coding) > 0)
    .sort((one, other) => weightOf(other) - weightOf(one)) // keeps the order of equals
  return best ?? 'identity'
}

/** Each coding in lower case with its weight, from 0 for one that is refused to 1. */
function weightsIn(header: string): Map<string, number> {
  const part = /^\s*([^\s;]+)\s*(?:;\s*q=([01](?:\.\d{0,3})?)\s*)?$/i
  const entries = header.split(',').flatMap((text) => {
    const [, name, weight = '1'] = part.exec(text) ?? []
    return name === undefined ? [] : [[name.toLowerCase(), Number(weight)] as const]
  })
  return new Map(entries)
}
