/** Negotiates the content coding of a file (RFC 9110 §12.5.3). @module */

/** The content codings that the files of the pages come in, the one with the shortest result first. */
const codings = ['br', 'gzip', 'identity'] as const
export type ContentCoding = (typeof codings)[number]

/** Weight of `identity` for a client that does not mention it: a last resort. */
const unmentioned = 0.0005

/**
 * The coding that the client prefers; of equal ones, the one with the shortest result.
 * @param acceptEncoding the header; without it, or if it allows nothing, nothing is compressed.
 */
export function preferredCoding(acceptEncoding = ''): ContentCoding {
  const weights = weightsIn(acceptEncoding)
  const weightOf = (coding: ContentCoding) =>
    weights.get(coding) ?? weights.get('*') ?? (coding === 'identity' ? unmentioned : 0)
  const [best] = codings
    .filter((coding) => weightOf(coding) > 0)
    .sort((one, other) => weightOf(other) - weightOf(one)) // stable: equals stay in order
  return best ?? 'identity'
}

/** The weight of each coding, in lower case: from 0, not acceptable, to 1. */
function weightsIn(header: string): Map<string, number> {
  const part = /^\s*([^\s;]+)\s*(?:;\s*q=([01](?:\.\d{0,3})?)\s*)?$/i
  const entries = header.split(',').flatMap((text) => {
    const [, name, weight = '1'] = part.exec(text) ?? []
    return name === undefined ? [] : [[name.toLowerCase(), Number(weight)] as const]
  })
  return new Map(entries)
}
