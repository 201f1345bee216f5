/** More connections than there are file descriptors for. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { cli, ownService, ownTest } from '../../support/own-service.js'
import { freePort } from '../../support/process.js'
import { openSockets } from '../../support/socket.js'
import { until } from '../../support/until.js'

/** The limit and what it is read from are those of Linux. */
const linuxTest = process.platform === 'linux' ? ownTest : test.skip

for (const limit of [128, 512, 1024]) {
  linuxTest(
    `${limit} descriptors, more connections: it goes on, and serves when they go`,
    async () => {
      const metricsPort = await freePort()
      const limited = `ulimit -n ${limit}; exec "$0" "$@"`
      const command = ['bash', '-c', limited, process.execPath, cli, 'serve'] as const
      const own = await ownService({ METRICS_PORT: String(metricsPort) }, command)
      const { status } = await own.call('POST', '/items', { data: { kept: 1 } })
      assert.equal(status, 201)
      const warning = await until('a warning', () =>
        own.log.find(({ msg }) => /ulimit -n.*leaves room for \d+/.test(String(msg))),
      )
      const room = Number(/leaves room for (\d+)/.exec(String(warning.msg))?.[1])
      assert.ok(room > limit - 80 && room < limit, String(warning.msg))

      const open = new Set<Socket>(openSockets(own.baseUrl, limit + 100))
      for (const socket of open) socket.resume().on('close', () => open.delete(socket))
      await until('those that are too many are closed', () => open.size <= room)
      // Descriptors are left for the metrics, and for what is read from /proc.
      const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
      assert.match(metrics, /^item_store_items 1$/m)

      for (const socket of open) socket.destroy()
      const items = await until('the item', () =>
        own.call('GET', '/items').then(
          ({ text }) => text,
          () => undefined,
        ),
      )
      assert.match(items, /"kept":1/)
      assert.equal(own.child.exitCode, null)
    },
  )
}

linuxTest('too few descriptors to load a command: exit code 2 and one line', () => {
  const run = (limit: number) => {
    const args = ['-c', `ulimit -n ${limit}; exec "$0" "$@"`, process.execPath, cli, 'openapi']
    const { status, stderr } = spawnSync('bash', args, { encoding: 'utf8' })
    return { status, stderr }
  }
  // Far fewer, and Node.js itself does not start.
  let limit = 40
  while (run(limit).status === 0) limit -= 1
  const stderr = 'item-store: too many open files; raise the limit (ulimit -n)\n'
  assert.deepEqual(run(limit), { status: 2, stderr })
  assert.ok(limit < 40)
})
