/** Bodies of requests that create an item, a little shorter than the default of `MAX_BODY_BYTES`. */

const bodyBytes = Math.floor(15.9 * 1024 * 1024)

export const bodies: Record<string, () => Buffer> = {
  'distinct names': () => object(members()),
  'brackets in brackets': () =>
    value(`${'['.repeat(bodyBytes / 2 - 10)}${']'.repeat(bodyBytes / 2 - 10)}`),
  'empty arrays': () => value(`[${repeated('[],')}]`),
  'small objects': () => value(`[${repeated('{"a":1},')}]`),
  'one string': () => value(`"${repeated('x')}"`),
  'one string of escapes': () => value(`"${repeated('\\u00e9')}"`),
  'one number': () => value(repeated('1')),
}

function value(text: string) {
  return object(`"a":${text}`)
}

function object(text: string) {
  return Buffer.from(`{"data":{${text}}}`)
}

/** Repeats text until it fills a request body, and removes the last comma, if any. */
function repeated(text: string) {
  return text.repeat((bodyBytes - 30) / text.length).replace(/,$/, '')
}

/** Returns as many members as an item may have. Their names fill a request body. */
function members() {
  const count = 65_536
  const length = Math.floor(bodyBytes / count) - '"":1,'.length
  return Array.from({ length: count }, (_, place) => `"${String(place).padEnd(length)}":1`).join()
}
