/** What tests start ends with them, however they end. */

import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ownProcess } from '../support/own-process.js'
import { until } from '../support/until.js'

const folder = mkdtempSync(join(tmpdir(), 'item-store-'))
const helper = new URL('../support/own-process.js', import.meta.url).href

/** Starts a process that does not end when it is told to, and prints its id. */
const start = `
  const stubborn = "trap '' TERM; echo ready; while :; do sleep 1; done"
  const own = ownProcess(['sh', '-c', stubborn], { cwd: '.', env: process.env })
  await own.printed(/ready/)
  console.log('started', own.child.pid)`

const files = [
  { title: 'its test passes', code: `test('a', async () => {${start}})`, status: 0 },
  { title: 'its test fails', code: `test('a', async () => {${start}; throw 1})`, status: 1 },
  {
    title: 'its test never ends',
    code: `test('a', async () => {${start}; await new Promise(() => {})})`,
    status: 1,
  },
  {
    title: 'its file throws',
    code: `test('a', () => {})\n${start}\nthrow new Error('b')`,
    status: 1,
  },
  {
    title: 'its file is killed',
    code: `test('a', async () => {${start}; process.kill(process.pid, 'SIGKILL')})`,
    status: null,
  },
]
for (const { title, code, status } of files) {
  test(`a process ends when ${title}`, async () => {
    const file = join(folder, `${title.replaceAll(' ', '-')}.mjs`)
    const head = `import { test } from 'node:test'\nimport { ownProcess } from '${helper}'\n`
    writeFileSync(file, head + code)
    const { NODE_TEST_CONTEXT: _context, ...env } = process.env
    const command = [process.execPath, '--test-timeout=5000', file] as const
    const { printed, ended } = ownProcess(command, { cwd: folder, env })
    const [, pid] = /started (\d+)/.exec(await printed(/started \d+\D/)) ?? []
    assert.equal((await ended())[0], status)
    await until('its end', () => !isRunning(Number(pid)))
  })
}

test('a process that does not end in time is killed and reported', async () => {
  const command = ['sh', '-c', "trap '' TERM; while :; do sleep 1; done"] as const
  const { child, ended } = ownProcess(command, { cwd: folder, env: process.env })
  await assert.rejects(ended(100), /did not end within 100 ms/)
  assert.equal(child.signalCode, 'SIGKILL')
})

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
