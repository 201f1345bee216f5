/** Log lines, for programs and for people. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

/** What a process prints that logs two lines. */
function printed(isTerminal: boolean): string {
  const script = `
    import { createLog } from ${JSON.stringify(new URL('log.js', import.meta.url).href)}
    const log = createLog('info', ${isTerminal})
    log.debug('unheard')
    log.info({ url: 'http://a' }, 'listening')
    log.fatal({ err: new Error('a planted fault') }, 'stopping')`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script])
  return String(stdout)
}

test('for programs each line is a JSON object', () => {
  const [first, second] = printed(false).trimEnd().split('\n')
  const { time, ...rest } = JSON.parse(first ?? '')
  assert.deepEqual(rest, { level: 30, url: 'http://a', msg: 'listening' })
  assert.equal(new Date(time).toISOString(), time)
  assert.match(JSON.parse(second ?? '').err.stack, /^Error: a planted fault\n/)
})

test('for people each line has time, level, message and fields, and a fault its stack', () => {
  assert.match(
    printed(true),
    /^\d\d:\d\d:\d\d INFO {2}listening url=http:\/\/a\n\d\d:\d\d:\d\d FATAL stopping\nError: a planted fault\n {4}at /,
  )
})
