/** Tests of a service with too few file descriptors to start, or to accept all connections. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import type { Socket } from 'node:net'
import { create } from '../../conformance/expect.js'
import { measuredService } from '../../support/measured-service.js'
import { cli, linuxTest } from '../../support/own-service.js'
import { openSockets } from '../../support/socket.js'
import { until } from '../../support/until.js'

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
  // The limit is lowered by one at a time, because with a much lower limit, Node.js itself cannot start.
  let limit = 40
  while (run(limit).status === 0) limit -= 1
  const stderr = 'item-store: too many open files; raise the limit (ulimit -n)\n'
  assert.deepEqual(run(limit), { status: 2, stderr })
  assert.ok(limit < 40)
})
