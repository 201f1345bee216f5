/** Bodies of requests that create an item, a little shorter than the default of `MAX_BODY_BYTES`. */

const bodyBytes = Math.floor(15.9 * 1024 * 1024)

export const bodies: Record<string, () => Buffer> = {
  'distinct names': () => object(names()),
  'the same name': () => object(repeated('"":1,')),
  'brackets in brackets': () =>
    value(`${'['.repeat(bodyBytes / 2 - 10)}${']'.repeat(bodyBytes / 2 - 10)}`),
  'empty arrays': () => value(`[${repeated('[],')}]`),
  ones: () => value(`[${repeated('1,')}]`),
  'small objects': () => value(`[${repeated('{"a":1},')}]`),
  'one string': () => value(`"${repeated('x')}"`),
  'one string of escapes': () => value(`"${repeated('\\u00e9')}"`),
  'one string of two-byte characters': () => value(`"${'é'.repeat(bodyBytes / 2 - 10)}"`),
  'one number': () => value(repeated('1')),
  'white space': () => value(`${repeated(' ')}1`),
}

function value(text: string) {
  return object(`"a":${text}`)
}

function object(members: string) {
  return Buffer.from(`{"data":{${members}}}`)
}

/** Repeats text until it fills a request body, and removes the last comma, if any. */
function repeated(text: string) {
  return text.repeat((bodyBytes - 30) / text.length).replace(/,$/, '')
}

function names() {
  const length = Math.floor(bodyBytes / '"10000":1,'.length) - 3
  return Array.from({ length }, (_, number) => `"${(36 ** 4 + number).toString(36)}":1`).join(',')
}
