import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

const script = `
  import { readdirSync } from 'node:fs'
  import { getPriority } from 'node:os'
  import { serveFirst } from ${JSON.stringify(new URL('threads.js', import.meta.url).href)}
  const before = getPriority()
  serveFirst()
  const others = readdirSync('/proc/self/task').map(Number).filter((id) => id !== process.pid)
  console.log(JSON.stringify({ before, serves: getPriority(), others: others.map((id) => getPriority(id)) }))`

const isLinux = process.platform === 'linux'

test('on one core, all threads of V8 have a lower priority than the main thread', {
  skip: !isLinux && 'only Linux lists threads',
}, () => {
  // The first core may not be available to a container.
  const status = readFileSync('/proc/self/status', 'utf8')
  const core = /^Cpus_allowed_list:\s*(\d+)/m.exec(status)?.[1] ?? '0'
  const { before, serves, others } = JSON.parse(
    execFileSync(
      'taskset',
      ['-c', core, process.execPath, '--input-type=module', '--eval', script],
      {
        encoding: 'utf8',
      },
    ),
  )
  assert.equal(serves, before)
  assert.ok(others.length >= 4)
  assert.deepEqual(new Set(others), new Set([Math.min(before + 10, 19)]))
})
