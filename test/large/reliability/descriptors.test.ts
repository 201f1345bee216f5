/** Tests of a service with too few file descriptors, or too little address space. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { create } from '../../conformance/expect.js'
import { cli, linuxTest, measuredService, ownService } from '../../support/own-service.js'
import { until } from '../../support/process.js'
import { randomNumbers } from '../../support/random.js'
import { openSockets } from '../../support/socket.js'

for (const limit of [128, 512, 1024]) {
  linuxTest(`the service survives more connections than its ${limit} descriptors`, async () => {
    const limited = `ulimit -n ${limit}; exec "$0" "$@"`
    const command = ['bash', '-c', limited, process.execPath, cli, 'serve'] as const
    const own = await measuredService({}, command)
    await create(own, { kept: 1 })
    const warning = await until('a warning', () =>
      own.log.find(({ msg }) => /ulimit -n.*leaves room for \d+/.test(String(msg))),
    )
    const room = Number(/leaves room for (\d+)/.exec(String(warning.msg))?.[1])
    assert.ok(room > limit - 80 && room < limit, String(warning.msg))

    const open = new Set<Socket>(openSockets(own.baseUrl, limit + 100))
    for (const socket of open) socket.resume().on('close', () => open.delete(socket))
    await until('the end of excess connections', () => open.size <= room)
    // The service reserves some descriptors for metrics and for files in /proc.
    assert.match(await own.metrics(), /^item_store_items 1$/m)

    for (const socket of open) socket.destroy()
    const list = () => own.call('GET', '/items').catch(() => undefined)
    assert.match((await until('the item', list)).text, /"kept":1/)
    assert.equal(own.child.exitCode, null)
  })
}

linuxTest('a command with too few descriptors to load prints one line, with exit code 2', () => {
  const run = (limit: number) => {
    const args = ['-c', `ulimit -n ${limit}; exec "$0" "$@"`, process.execPath, cli, 'openapi']
    const { status, stderr } = spawnSync('bash', args, { encoding: 'utf8' })
    return { status, stderr }
  }
  let limit = 40 // lowered step by step, because Node.js cannot start with a much lower limit
  while (run(limit).status === 0) limit -= 1
  const stderr = 'item-store: too many open files; raise the limit (ulimit -n)\n'
  assert.deepEqual(run(limit), { status: 2, stderr })
  assert.ok(limit < 40)
})

linuxTest(
  'items that use up the address space are refused before V8 finds none and ends',
  async () => {
    const { child } = await ownService()
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
    const limit = Number(/VmSize:\s+(\d+)/.exec(status)?.[1]) + 300 * 1024
    const limited = `ulimit -v ${limit}; exec "$0" "$@"`
    const own = await ownService({}, ['bash', '-c', limited, process.execPath, cli, 'serve'])
    const below = randomNumbers(11)
    const ids: string[] = []
    let refusals = 0
    const work = async () => {
      while (refusals < 200) {
        const data = { a: 'x'.repeat(33_000 + below(567_000)) }
        const { status, headers } = await own.call('POST', '/items', { data })
        if (status === 201) ids.push(String(headers.location).slice(-36))
        else refusals += 1
        assert.ok([201, 503, 507].includes(status), `${status}`)
        const path = `/items/${ids[below(ids.length)]}`
        assert.ok([200, 503].includes((await own.call('GET', path)).status))
      }
    }
    await Promise.all([work(), work(), work(), work()])
    assert.ok(ids.length > 100, `${ids.length} items`)
    for (const id of ids) assert.equal((await own.call('DELETE', `/items/${id}`)).status, 204)
    await until('space for an item', async () => {
      const { status } = await own.call('POST', '/items', { data: { a: 'x'.repeat(100_000) } })
      return status === 201
    })
  },
)
