import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { after, test } from 'node:test'

function printed(isReadable: boolean, calls: string): string {
  const script = `
    import { createLog } from ${JSON.stringify(new URL('log.js', import.meta.url).href)}
    const log = createLog('info', ${isReadable})
    ${calls}`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script])
  return String(stdout)
}

const twoLines = `
  log.debug('unheard')
  log.info({ url: 'http://a' }, 'listening')
  log.fatal({ err: new Error('a\\n12:00:00 INFO  so\\u001b[0m') }, 'stopping')`

test('in the format for programs, each line is a JSON object', () => {
  const [first, second] = printed(false, twoLines).trimEnd().split('\n')
  const { time, ...rest } = JSON.parse(first ?? '')
  assert.deepEqual(rest, { level: 'info', url: 'http://a', msg: 'listening' })
  assert.equal(new Date(time).toISOString(), time)
  assert.match(JSON.parse(second ?? '').err.stack, /^Error: a\n12:00:00 INFO {2}so/)
})

test('in the format for people, no line of an error can be mistaken for an entry', () => {
  const text = printed(true, twoLines).replaceAll(/^\d\d:\d\d:\d\d /gm, '')
  const error = '  Error: a\n  12:00:00 INFO  so\\u{1b}[0m\n      at '
  assert.ok(text.startsWith(`INFO  listening url=http://a\nFATAL stopping\n${error}`), text)
})

const id = 'a8d6f4a6-4c50-4bd1-9f5b-2a8f4f1b9d53'
const request = { session_id: id, method: 'GET', path: '/api/v1/items', status: 200, ms: 0.812 }

const entries: [what: string, fields: object, msg: string, line: string][] = [
  ['a request', request, 'answered', 'GET /api/v1/items 200 0.8 ms'],
  [
    'a refused request',
    { ...request, status: 401, error_code: 'INVALID_TOKEN', client: '::1', sub: 'a' },
    'answered',
    `GET /api/v1/items 401 INVALID_TOKEN 0.8 ms session_id=${id}`,
  ],
  [
    'an error of a request',
    { ...request, ms: undefined, status: 507, error_code: 'STORE_FULL' },
    'full',
    `INFO  GET /api/v1/items 507 STORE_FULL full session_id=${id}`,
  ],
  [
    'control characters and line breaks',
    { a: 'x\r\n12:00:00', b: '\u2028\u001b[2J\u009b\u202e\u{e0001}/é' },
    'so\n',
    'INFO  so\\u{a} a=x\\u{d}\\u{a}12:00:00 b=\\u{2028}\\u{1b}[2J\\u{9b}\\u{202e}\\u{e0001}/é',
  ],
  ['an object, and thrown text', { a: { b: [1] }, err: 'x' }, 'so', 'INFO  so a={"b":[1]} err=x'],
]
for (const [what, fields, msg, line] of entries) {
  test(`the format for people: ${what}`, () => {
    const text = printed(true, `log.info(${JSON.stringify(fields)}, ${JSON.stringify(msg)})`)
    assert.equal(text.replace(/^\d\d:\d\d:\d\d /, ''), `${line}\n`)
  })
}

test('if nobody reads the log, its lines are dropped and counted, and memory stays bounded', async () => {
  const script = `
    import { createLog } from ${JSON.stringify(new URL('log.js', import.meta.url).href)}
    const log = createLog('info', false)
    for (let line = 0; line < 100_000; line += 1) {
      log.info({ line, pad: 'x'.repeat(100) }, 'a line')
      if (line % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    process.stderr.write(String(process.stdout.writableLength))`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script])
  after(() => child.kill('SIGKILL'))
  const [waiting] = await once(child.stderr, 'data')
  assert.ok(Number(waiting) < 2_000_000, `${waiting} bytes wait`)
  let text = ''
  for await (const chunk of child.stdout) text += chunk
  const lines: Record<string, unknown>[] = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  const logged = lines.filter(({ msg }) => msg === 'a line').length
  const dropped = lines.filter(({ msg }) => String(msg).includes('dropped'))
  assert.equal(dropped.length, 1)
  assert.ok(logged > 100 && logged < 100_000)
  assert.equal(logged + Number(dropped[0]?.dropped), 100_000)
})
