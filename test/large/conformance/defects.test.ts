/** Tests that the conformance tests find all defects in `defects.ts`. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { before, describe, test } from 'node:test'
import { send } from '../../conformance/client.js'
import { type Conformance, clauseOf, conformanceOf } from '../../support/conformance.js'
import { listen } from '../../support/process.js'
import { defects } from './defects.js'
import { smallService } from './small-service.js'

const clausesIn = (title: string): string[] => title.match(/§\d+(\.\d+)?/g) ?? []

test('item-store conformance passes a service that makes other choices where the interface leaves them open', async () => {
  const { status, passed, failed } = await conformanceOf(await smallService())
  assert.deepEqual({ status, failed }, { status: 0, failed: [] })
  const clauses = new Set(defects.map(({ clause }) => clause))
  assert.deepEqual(clauses, new Set(passed.flatMap(clausesIn)))
})

test('a response that never ends counts as no response', async (t) => {
  const server = createServer((_request, response) => {
    const writing = setInterval(() => response.write(' '), 100)
    response.once('close', () => clearInterval(writing))
  })
  t.after(() => server.close())
  const port = await listen(server)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const answered = send(new URL(`http://127.0.0.1:${port}`), 'GET', '/')
  await once(server, 'request')
  t.mock.timers.tick(120_000)
  await assert.rejects(answered, /no answer to GET \//)
})

describe('the conformance tests fail for', { concurrency: 4 }, () => {
  for (const clause of new Set(defects.map(({ clause }) => clause))) {
    describe(clause, () => findsDefectsOf(clause))
  }
})

function findsDefectsOf(clause: string): void {
  const all = defects.filter((defect) => defect.clause === clause)
  let found: Conformance[] = []
  before(async () => {
    const services = all.map(({ defect }) => smallService(defect))
    found = await clauseOf(await Promise.all(services), clause)
  })
  for (const [n, { title }] of all.entries()) {
    test(title, () => {
      const { status, passed = [], failed = [] } = found[n] ?? {}
      assert.ok(failed.length > 0, `all pass: ${passed.join('\n')}`)
      assert.ok(failed.every((each) => clausesIn(each).includes(clause)))
      assert.equal(status, 1)
    })
  }
}
