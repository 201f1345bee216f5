/** More connections than there are file descriptors for. */

import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { cli, needsOwnService, startService } from '../conformance/service.js'
import { freePort } from '../support/process.js'
import { until } from '../support/until.js'

const skip =
  needsOwnService || (process.platform !== 'linux' && 'ulimit and /proc are those of Linux')

for (const limit of [128, 512, 1024]) {
  test(`${limit} descriptors and more connections: the service goes on, and serves when they are gone`, {
    skip,
  }, async () => {
    const metricsPort = await freePort()
    const limited = ['-c', `ulimit -n ${limit}; exec "$0" "$@"`, process.execPath, cli, 'serve']
    const own = await startService({ METRICS_PORT: String(metricsPort) }, ['bash', ...limited])
    after(() => own.stop())
    const { status } = await own.call('POST', '/items', { data: { kept: 1 } })
    assert.equal(status, 201)
    const warning = await until('a warning', () =>
      own.log.find(({ msg }) => /ulimit -n.*leaves room for \d+/.test(String(msg))),
    )
    const room = Number(/leaves room for (\d+)/.exec(String(warning.msg))?.[1])
    assert.ok(room > limit - 80 && room < limit, String(warning.msg))

    const open = new Set<Socket>()
    for (let count = 0; count < limit + 100; count += 1) {
      const socket = connect(Number(own.baseUrl.port), own.baseUrl.hostname)
      open.add(socket.resume())
      socket.on('error', () => undefined).on('close', () => open.delete(socket))
    }
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
  })
}
