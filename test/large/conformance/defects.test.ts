/** The conformance command finds a defect, and nothing wrong in what is left open. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { conformanceOf } from '../../support/conformance.js'
import { defects } from './defects.js'
import { type Behavior, bodies, faultyService, replies } from './faulty-service.js'
import { clausesIn } from './find-defects.js'

/** Everything that another implementation may do in another way, at once. */
const open: Behavior[] = [
  // No header but those of the interface, as another server would send.
  replies(undefined, ({ status, headers, text }) => {
    const names = ['content-type', 'www-authenticate']
    const kept = Object.entries(headers).filter(
      ([name]) => names.includes(name) || name.startsWith('access-control-allow-'),
    )
    return { status, headers: Object.fromEntries(kept), text }
  }),
  // A list without an envelope, in another order.
  replies(['GET /items'], (reply) => {
    if (reply.status !== 200) return reply
    const all = reply.text.slice(reply.text.indexOf('"data":[') + '"data":['.length, -2)
    const reversed = all.split(/,(?=\{"id":"[^"]{36}","project_id":)/).reverse()
    return { ...reply, text: `[${reversed.join(',')}]` }
  }),
  // Items without a project_id.
  replies(undefined, (reply) => ({
    ...reply,
    text: reply.text.replaceAll(/(?<="id":"[^"]{36}"),"project_id":null/g, ''),
  })),
  // Texts that are not given.
  replies(['PUT /items/{id}'], (reply) => ({
    ...reply,
    text: reply.text.replace('Item updated successfully', 'Replaced'),
  })),
  // Other members of the 404 of an item.
  bodies(undefined, 404, ({ detail }, { path }) => ({
    detail: `there is no ${path}`,
    session_id: (detail as { session_id: string }).session_id, // as this service has it
  })),
  bodies(['GET /health'], 200, (body) => ({
    ...body,
    service_name: 'other',
    version: '2.0.0-rc.1+build.5',
    services_summary: { total: 0, healthy: 0, unhealthy: 0 },
    uptime: 1,
  })),
]

test('item-store conformance ends with exit code 1, and names the clause, for a defect', async () => {
  const [first] = defects
  assert.ok(first !== undefined)
  const { status, failed } = await conformanceOf(await faultyService(first.behavior))
  assert.equal(status, 1)
  assert.ok(failed.flatMap(clausesIn).includes(first.clause), failed.join('\n'))
})

test('item-store conformance passes a service that differs in what is left open', async () => {
  const all: Behavior = (request, pass, service) =>
    open.reduce<typeof pass>((next, behave) => (each) => behave(each, next, service), pass)(request)
  const { status, passed, failed } = await conformanceOf(await faultyService(all))
  assert.deepEqual({ status, failed }, { status: 0, failed: [] })
  // Each clause that is tested has an implementation that breaks it.
  const tested = new Set(passed.flatMap(clausesIn))
  assert.ok(tested.size > 30, `only ${tested.size} clauses`)
  assert.deepEqual(new Set(defects.map(({ clause }) => clause)), tested)
})
